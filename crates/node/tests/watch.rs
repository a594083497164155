//! Flow watchlist selection: inner headers of tunnels, other keys, and never reports.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{Actions, EncapsulationKind, Mode, NodeConfig, WatchEntry};
use inband_node::{Node, Outcome};
use inband_testkit::{Packet, packet};
use inband_wire::layers::Link;

use support::{node_config, passage, reports, tcp_frame, through};

const GTPU: [u8; 8] = [0x30, 255, 0, 0, 0, 0, 0, 1];
const VXLAN: [u8; 8] = [0x08, 0, 0, 0, 0, 0, 7, 0];

/// A mobile phone's packet.
fn user() -> Packet {
    packet().without_ethernet().addresses(&[172, 16, 0, 5], &[8, 8, 8, 8]).udp(5000, 53).dscp(46)
}

fn in_gtpu() -> Vec<u8> {
    packet().udp(2152, 2152).payload(&[&GTPU[..], &user().build()].concat()).build()
}

fn in_vxlan(port: u16) -> Vec<u8> {
    let inner = [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0][..], &user().build()].concat();
    packet().udp(40000, port).payload(&[&VXLAN[..], &inner].concat()).build()
}

fn behind_labels() -> Vec<u8> {
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0x47];
    [&ethernet[..], &[0, 6, 0x51, 64], &user().build()].concat()
}

fn xd(entry: &str) -> Node {
    Node::new(&config(Mode::Xd, entry)).unwrap()
}

fn config(mode: Mode, entry: &str) -> NodeConfig {
    let mut config = node_config(1, (true, false), EncapsulationKind::Dscp, mode);
    config.watchlist = vec![toml::from_str(entry).unwrap()];
    config
}

/// Whether a node with one watchlist entry reports the frame.
fn is_reported(entry: &str, frame: &[u8]) -> bool {
    let mut node = xd(entry);
    assert_eq!(through(&mut node, frame).unwrap(), frame);
    !reports(&mut node).is_empty()
}

#[test]
fn the_inner_headers_of_tunnels_are_matched() {
    // sd-fabric-1.0/watch-03
    for frame in [in_gtpu(), in_vxlan(4789), behind_labels()] {
        assert!(is_reported(r#"source = "172.16.0.0/16""#, &frame));
        assert!(is_reported(r#"protocol = "udp""#, &frame));
        assert!(is_reported("destination_port = 53", &frame));
        assert!(is_reported("dscp = 46", &frame));
    }
    assert!(!is_reported("destination_port = 2152", &in_gtpu()));
    assert!(!is_reported("dscp = 0", &in_gtpu()));
    assert!(is_reported("destination_port = 4789", &in_vxlan(4789)), "no entry is about the inner packet");
    assert!(is_reported("vni = 7", &in_vxlan(4789)));
    assert!(!is_reported("vni = 8", &in_vxlan(4789)));
    assert!(!is_reported("vni = 7", &in_gtpu()));
}

#[test]
fn the_ingress_interface_is_a_key() {
    assert!(is_reported("ingress = 1", &tcp_frame(b"")));
    assert!(!is_reported("ingress = 2", &tcp_frame(b"")));
}

#[test]
fn all_traffic_a_subnet_or_one_flow_can_be_watched() {
    // sd-fabric-1.0/watch-01
    let flow = r#"source = "10.1.1.1/32"
        destination = "10.2.2.2/32"
        protocol = "tcp"
        source_port = 40000
        destination_port = 80"#;
    for entry in ["", r#"either = "10.1.0.0/16""#, r#"either = "10.2.0.0/16""#, flow] {
        assert!(is_reported(entry, &tcp_frame(b"")), "{entry}");
    }
    assert!(!is_reported(&flow.replace("= 80", "= 81"), &tcp_frame(b"")));
    assert!(!is_reported(r#"either = "10.3.0.0/16""#, &tcp_frame(b"")));
}

#[test]
fn with_an_empty_watchlist_neither_flows_nor_drops_are_reported() {
    // sd-fabric-1.0/watch-05
    let mut node = xd("");
    node.set_watchlist(&[]);
    through(&mut node, &tcp_frame(b""));
    node.handle_drop(Link::Ethernet, &tcp_frame(b""), &passage(), 80);
    assert!(reports(&mut node).is_empty());
    assert_eq!(node.counters().get(Outcome::Dropped), 1);
}

#[test]
fn int_starts_in_a_tunnel_whose_inner_packet_is_watched() {
    let mut node = Node::new(&config(Mode::Md, r#"source = "172.16.0.0/16""#)).unwrap();
    assert_eq!(through(&mut node, &in_gtpu()).unwrap().len(), in_gtpu().len() + 4 + 12 + 8);
    assert_eq!(through(&mut node, &tcp_frame(b"")).unwrap(), tcp_frame(b""));
}

#[test]
fn reports_are_never_watched_on_their_own_or_in_a_tunnel() {
    // sd-fabric-1.0/watch-04
    let report = |port| packet().without_ethernet().addresses(&[10, 0, 0, 9], &[127, 0, 0, 1]).udp(0, port);
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let frame = |port| [&ethernet[..], &report(port).build()].concat();
    let tunnel = |port| packet().protocol(4).payload(&report(port).build()).build();
    for (port, expected) in [(32766, false), (32767, true)] {
        assert_eq!(is_reported("", &frame(port)), expected);
        assert_eq!(is_reported("", &tunnel(port)), expected);
    }
}

#[test]
fn actions_say_what_an_entry_is_for() {
    let frame = tcp_frame(b"");
    for (action, flow, int) in [
        (r#"action = "all""#, true, true),
        (r#"action = "start-int""#, false, true),
        (r#"action = ["start-int", "report-drops"]"#, false, true),
        (r#"action = "report-flow""#, true, false),
        (r#"action = "none""#, false, false),
    ] {
        assert_eq!(is_reported(action, &frame), flow, "{action}");
        let mut node = Node::new(&config(Mode::Md, action)).unwrap();
        assert_eq!(through(&mut node, &frame).unwrap() != frame, int, "{action}");
    }
    let unknown = toml::from_str::<WatchEntry>(r#"action = "al""#).unwrap_err();
    assert!(unknown.to_string().contains("unknown action `al`"), "{unknown}");
}

#[test]
fn one_of_three_packets_starts_int() {
    let mut node = Node::new(&config(Mode::Md, "sample = 3")).unwrap();
    for _ in 0..9 {
        through(&mut node, &tcp_frame(b"")).unwrap();
    }
    assert_eq!(node.counters().get(Outcome::Started), 3);
    assert_eq!(node.counters().get(Outcome::NoInt), 6);
}

#[test]
fn the_entry_with_the_highest_priority_decides() {
    let entry = |text: &str| toml::from_str::<WatchEntry>(text).unwrap();
    let mut config = config(Mode::Xd, "");
    config.watchlist.push(entry("protocol = 6\naction = \"none\"\npriority = 1"));
    let mut node = Node::new(&config).unwrap();
    through(&mut node, &tcp_frame(b""));
    assert!(reports(&mut node).is_empty());
}

#[test]
fn an_entry_about_the_inner_packet_decides_against_one_about_the_tunnel() {
    let entry = |text: &str| toml::from_str::<WatchEntry>(text).unwrap();
    let mut config = config(Mode::Xd, "destination_port = 4789\npriority = 1");
    config.watchlist.push(entry("destination_port = 53\naction = \"none\""));
    let mut node = Node::new(&config).unwrap();
    through(&mut node, &in_vxlan(4789));
    assert!(reports(&mut node).is_empty());
}

#[test]
fn a_watchlist_is_replaced_without_losing_count() {
    let mut node = xd(r#"source = "192.0.2.0/24""#);
    through(&mut node, &tcp_frame(b""));
    assert!(reports(&mut node).is_empty());

    node.set_watchlist(&[WatchEntry { action: Actions::REPORT_FLOW, ..WatchEntry::default() }]);
    through(&mut node, &tcp_frame(b""));

    assert_eq!(reports(&mut node).len(), 1);
    assert_eq!(node.counters().packets(), 2);
}

#[test]
fn keys_out_of_range_are_refused() {
    for entry in ["dscp = 64", "vni = 16777216", "sample = 0", "ingress = 65536"] {
        assert!(toml::from_str::<WatchEntry>(entry).is_err(), "{entry}");
    }
}
