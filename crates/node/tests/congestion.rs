//! INT on traffic that is, or is not, known to be congestion controlled.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig, PortRange};
use inband_node::{Node, Outcome, Output};

use support::{ethernet, frame, ipv4, node_config, tcp, through, udp};

/// INT behind new UDP headers, so that every protocol can carry it.
fn config(only: bool) -> NodeConfig {
    let mut config = node_config(1, (true, false), EncapsulationKind::Udp, Mode::Md);
    config.source.congestion_controlled_only = only;
    config
}

fn is_started(config: &NodeConfig, packet: &[u8]) -> bool {
    let mut node = Node::new(config).unwrap();
    let sent = through(&mut node, packet).unwrap();
    let counts =
        [Outcome::Started, Outcome::NotStartedCongestion].map(|outcome| node.counters().get(outcome));
    assert!(counts == [1, 0] || counts == [0, 1] && sent == packet, "{counts:?}");
    counts[0] == 1
}

fn vxlan(inner: &[u8]) -> Vec<u8> {
    let inner = ethernet(0x0800, inner);
    frame(false, 17, &udp(false, 4789, &[&[8, 0, 0, 0, 0, 0, 7, 0], &inner[..]].concat()))
}

/// A packet of each kind, and whether it is known to be congestion controlled.
fn traffic() -> Vec<(&'static str, Vec<u8>, bool)> {
    vec![
        ("tcp", frame(false, 6, &tcp(false, &[], b"x")), true),
        ("tcp over ipv6", frame(true, 6, &tcp(true, &[], b"x")), true),
        ("sctp", frame(false, 132, &[0; 12]), true),
        ("dccp", frame(false, 33, &[0; 16]), true),
        ("quic", frame(false, 17, &udp(false, 443, b"x")), true),
        ("udp", frame(false, 17, &udp(false, 53, b"x")), false),
        ("icmp", frame(false, 1, &[8, 0, 0, 0, 0, 0, 0, 0]), false),
        ("esp", frame(false, 50, &[0; 16]), false),
        ("tcp in vxlan", vxlan(&ipv4(6, &tcp(false, &[], b"x"))), true),
        ("udp in vxlan", vxlan(&ipv4(17, &udp(false, 53, b"x"))), false),
        ("tcp in ip in ip", frame(false, 4, &ipv4(6, &tcp(false, &[], b"x"))), true),
    ]
}

#[test]
fn int_starts_in_all_watched_traffic_unless_it_is_kept_to_controlled_one() {
    // int-2.1/congestion-02, int-2.1/congestion-04
    for (name, packet, is_controlled) in traffic() {
        assert!(is_started(&config(false), &packet), "{name}");
        assert_eq!(is_started(&config(true), &packet), is_controlled, "{name}");
    }
}

#[test]
fn udp_ports_can_be_listed_as_controlled_whichever_side_has_them() {
    // int-2.1/congestion-03
    let mut config = config(true);
    for (ports, expected) in [(0xabcd..=0xabcd, true), (5000..=5010, true), (5004..=5010, false)] {
        config.source.congestion_controlled_ports = vec![PortRange(ports.clone())];
        let packet = frame(false, 17, &udp(false, 5003, b"x"));
        assert_eq!(is_started(&config, &packet), expected, "{ports:?}");
    }
}

#[test]
fn copies_are_made_of_controlled_traffic_only() {
    // int-2.1/congestion-01
    let mut config = config(true);
    config.source.clone = 1;
    let mut node = Node::new(&config).unwrap();
    through(&mut node, &frame(false, 17, &udp(false, 53, b"x"))).unwrap();
    assert_eq!(node.poll_output(), None);
    through(&mut node, &frame(false, 6, &tcp(false, &[], b"x"))).unwrap();
    assert!(matches!(node.poll_output(), Some(Output::Clone(_))));
}
