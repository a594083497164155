//! Reports of dropped packets: which, with what metadata, and how often.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::net::IpAddr;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig, ReportFilter, ReportVersion, WatchEntry};
use inband_node::{FlowDrops, Node, Outcome, Passage};
use inband_testkit::packet;
use inband_wire::FiveTuple;
use inband_wire::layers::Link;
use inband_wire::report::Drop;

use support::{node_config, passage, reports, tcp_frame, through, with_report};

const ACL_DENY: u8 = 80;
const TAIL_DROP: u8 = 71;

fn config(mode: Mode) -> NodeConfig {
    node_config(9, (false, false), EncapsulationKind::Dscp, mode)
}

fn smart(text: &str) -> Node {
    let mut config = config(Mode::Xd);
    config.report.filter = ReportFilter::Smart;
    config.smart = toml::from_str(text).unwrap();
    Node::new(&config).unwrap()
}

fn drop(node: &mut Node, frame: &[u8], reason: u8) -> usize {
    node.handle_drop(Link::Ethernet, frame, &passage(), reason);
    reports(node).len()
}

#[test]
fn a_dropped_packet_of_the_watchlist_is_reported_in_every_mode() {
    // sd-fabric-1.0/drop-01
    // report-2.0/individual-08
    for mode in [Mode::Md, Mode::Mx, Mode::Xd] {
        let mut node = Node::new(&config(mode)).unwrap();
        node.handle_drop(Link::Ethernet, &tcp_frame(b""), &passage(), ACL_DENY);
        with_report(&mut node, |report| {
            assert!(report.dropped() && !report.tracked_flow() && !report.congested_queue());
            assert_eq!(report.drop(), Some(Drop { queue_id: 3, reason: ACL_DENY }));
            assert_eq!(report.metadata().interfaces.map(|ids| (ids.ingress, ids.egress)), Some((1, 2)));
            assert_eq!(report.packet().unwrap().1[..tcp_frame(b"").len()], tcp_frame(b""));
        });
        assert_eq!(node.counters().get(Outcome::Dropped), 1);
        assert_eq!(node.counters().packets(), 1);
    }
}

#[test]
fn a_drop_before_the_egress_was_chosen_says_so() {
    let mut node = Node::new(&config(Mode::Xd)).unwrap();
    let mut at_ingress = Passage { egress: 0, ..passage() };
    at_ingress.metadata.queue = None;
    at_ingress.metadata.egress_timestamp = None;
    at_ingress.metadata.hop_latency = None;
    node.handle_drop(Link::Ethernet, &tcp_frame(b""), &at_ingress, 55);
    with_report(&mut node, |report| {
        assert_eq!(report.drop(), Some(Drop { queue_id: 0, reason: 55 }));
        assert_eq!(report.metadata().interfaces.map(|ids| ids.egress), Some(0));
    });
}

#[test]
fn what_nobody_watches_is_dropped_silently() {
    // sd-fabric-1.0/watch-02
    for entry in ["action = \"report-flow\"", "action = \"none\"", "protocol = \"udp\""] {
        let mut config = config(Mode::Xd);
        config.watchlist = vec![toml::from_str(entry).unwrap()];
        let mut node = Node::new(&config).unwrap();
        assert_eq!(drop(&mut node, &tcp_frame(b""), ACL_DENY), 0, "{entry}");
        assert_eq!(node.counters().get(Outcome::Dropped), 1);
    }
    let mut node = Node::new(&config(Mode::Xd)).unwrap();
    assert_eq!(drop(&mut node, &support::ethernet(0x0806, &[0; 28]), ACL_DENY), 0, "not IP");
    assert_eq!(drop(&mut node, &tcp_frame(b"")[..20], ACL_DENY), 0, "cut");
}

#[test]
fn a_packet_that_carries_int_is_of_a_tracked_flow() {
    let mut source = Node::new(&node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md)).unwrap();
    let started = through(&mut source, &tcp_frame(b"")).unwrap();
    let mut config = config(Mode::Md);
    config.watchlist = vec![];
    let mut node = Node::new(&config).unwrap();
    node.handle_drop(Link::Ethernet, &started, &passage(), ACL_DENY);
    with_report(&mut node, |report| {
        assert!(report.dropped() && report.tracked_flow());
        assert_eq!(report.packet().unwrap().1[..started.len()], started);
    });
}

#[test]
fn reports_that_are_dropped_are_not_reported() {
    let mut node = Node::new(&config(Mode::Xd)).unwrap();
    let report = packet().addresses(&[10, 0, 0, 9], &[127, 0, 0, 1]).udp(0, 32766).build();
    assert_eq!(drop(&mut node, &report, ACL_DENY), 0);
}

#[test]
fn the_filter_lets_one_drop_per_flow_and_reason_pass() {
    // sd-fabric-1.0/drop-02
    let mut node = smart("");
    let other = packet().tcp(1, 2).build();
    let sent: Vec<_> =
        [(&tcp_frame(b""), 80), (&tcp_frame(b""), 80), (&tcp_frame(b""), 26), (&other, 80), (&other, 80)]
            .map(|(frame, reason)| drop(&mut node, frame, reason))
            .into();
    assert_eq!(sent, [1, 0, 1, 1, 0]);
    assert_eq!(node.counters().get(Outcome::ReportWithheld), 2);
    let mut later = passage();
    later.metadata.egress_timestamp = later.metadata.egress_timestamp.map(|at| at + 1_000_000_000);
    node.handle_drop(Link::Ethernet, &tcp_frame(b""), &later, 80);
    assert_eq!(reports(&mut node).len(), 1, "an interval later");
}

#[test]
fn drops_and_flow_reports_do_not_hold_each_other_back() {
    let mut node = smart("");
    assert_eq!(drop(&mut node, &tcp_frame(b""), 80), 1);
    through(&mut node, &tcp_frame(b""));
    assert_eq!(reports(&mut node).len(), 1);
}

#[test]
fn a_tail_drop_in_a_watched_queue_is_a_queue_report_within_its_quota() {
    // sd-fabric-1.0/report-03
    let mut node = smart("queue.3 = { trigger_ns = 5000, quota = 2 }");
    for _ in 0..2 {
        node.handle_drop(Link::Ethernet, &tcp_frame(b""), &passage(), TAIL_DROP);
        with_report(&mut node, |report| {
            assert!(report.dropped() && report.congested_queue());
            assert_eq!(report.drop(), Some(Drop { queue_id: 3, reason: TAIL_DROP }));
        });
    }
    // The quota is exhausted: it counts as a drop of a watched flow, once per interval.
    node.handle_drop(Link::Ethernet, &tcp_frame(b""), &passage(), TAIL_DROP);
    with_report(&mut node, |report| assert!(report.dropped() && !report.congested_queue()));
    assert_eq!(drop(&mut node, &tcp_frame(b""), TAIL_DROP), 0);
    assert_eq!(node.counters().get(Outcome::QueueOverQuota), 2);
}

#[test]
fn a_tail_drop_is_reported_by_its_queue_whoever_is_watched() {
    let mut node = smart("queue.3 = { trigger_ns = 5000 }");
    node.set_watchlist(&[]);
    assert_eq!(drop(&mut node, &tcp_frame(b""), TAIL_DROP), 1);
    assert_eq!(drop(&mut node, &tcp_frame(b""), ACL_DENY), 0, "no queue was full");
}

#[test]
fn the_table_says_which_reason_is_a_tail_drop() {
    let with_table = |table: &str| {
        let mut config = config(Mode::Xd);
        config.report.filter = ReportFilter::Smart;
        config.smart = toml::from_str("queue.3 = { trigger_ns = 5000 }").unwrap();
        config.watchlist = Vec::<WatchEntry>::new();
        config.drop_reasons = toml::from_str(table).unwrap();
        Node::new(&config).unwrap()
    };
    let cases = [
        ("", 71, 51),
        ("table = \"switch-p4-16\"", 71, 51),
        ("table = \"p4lang-switch\"", 51, 71),
        ("reason = [{ code = 200, name = \"full\", tail_drop = true }]", 200, 201),
        ("reason = [{ code = 71, name = \"policed\" }]", 200, 71),
    ];
    for (table, tail_drop, other) in cases {
        let expected = usize::from(tail_drop != 200 || table.contains("200"));
        assert_eq!(drop(&mut with_table(table), &tcp_frame(b""), tail_drop), expected, "{table}");
        assert_eq!(drop(&mut with_table(table), &tcp_frame(b""), other), 0, "{table}");
    }
}

#[test]
fn reasons_of_the_devices_own_replace_those_of_the_table() {
    let config =
        toml::from_str("reason = [{ code = 80, name = \"policed\", check = \"the policy\" }]").unwrap();
    let reasons = inband_node::DropReasons::new(&config).unwrap();
    assert_eq!(reasons.get(80).map(|reason| (reason.name, reason.check)), Some(("policed", "the policy")));
    assert_eq!(reasons.get(26).map(|reason| reason.name), Some("ttl-zero"));
    assert_eq!(reasons.get(220), None);
    let twice = toml::from_str("reason = [{ code = 1, name = \"a\" }, { code = 1, name = \"b\" }]").unwrap();
    assert_eq!(inband_node::DropReasons::new(&twice).unwrap_err().key(), "drop_reasons.reason");
    assert!(toml::from_str::<inband_node::config::DropReasonsConfig>("table = \"sd\"").is_err());
}

fn flow_drops(flow: FiveTuple) -> FlowDrops {
    FlowDrops { flow, packets: 41, since: 1_700_000_000_000_000_000, ingress: 1, egress: 2 }
}

fn udp_flow(destination_port: u16) -> FiveTuple {
    let [source, destination] = [[10, 0, 0, 1], [127, 0, 0, 1]].map(IpAddr::from);
    FiveTuple { source, destination, protocol: 17, source_port: 5, destination_port }
}

#[test]
fn drops_that_are_only_counted_are_a_loss_between_the_node_and_itself() {
    let mut node = Node::new(&config(Mode::Xd)).unwrap();
    node.handle_flow_drops(&flow_drops(udp_flow(9)), 1_700_000_001_000_000_000);
    with_report(&mut node, |report| {
        assert!(report.dropped() && report.domain_specific_id() == 0x4849);
        let words: Vec<_> = report.domain_metadata().chunks(4).map(<[u8]>::to_vec).collect();
        let [from, to, ports, since, after, count] = <[Vec<u8>; 6]>::try_from(words).unwrap();
        assert_eq!((from, to, ports), (vec![0, 0, 0, 9], vec![0, 0, 0, 9], vec![0, 1, 0, 2]));
        assert_eq!(since, 1_700_000_000_u32.to_be_bytes());
        assert_eq!((after, count), (vec![0; 4], vec![0, 0, 0, 41]));
    });
    assert_eq!(node.counters().get(Outcome::Dropped), 41);
}

#[test]
fn drops_of_reports_are_counted_and_no_more() {
    let mut node = Node::new(&config(Mode::Xd)).unwrap();
    node.handle_flow_drops(&flow_drops(udp_flow(32766)), 0);
    assert_eq!(reports(&mut node).len(), 0);
    assert_eq!(node.counters().get(Outcome::Dropped), 41);
}

#[test]
fn a_report_without_a_place_for_the_number_is_not_sent() {
    for (version, sent) in [(ReportVersion::V0_5, 1), (ReportVersion::V1_0, 0), (ReportVersion::V2_0, 1)] {
        let mut config = config(Mode::Xd);
        config.report.version = version;
        let mut node = Node::new(&config).unwrap();
        node.handle_flow_drops(&flow_drops(udp_flow(9)), 0);
        assert_eq!(reports(&mut node).len(), sent, "{version:?}");
        assert_eq!(node.counters().get(Outcome::ReportWithheld), 1 - u64::try_from(sent).unwrap());
    }
}

#[test]
fn what_is_matched_is_the_packet_in_the_tunnel() {
    let user = packet().without_ethernet().addresses(&[172, 16, 0, 5], &[8, 8, 8, 8]).udp(5000, 53).build();
    let in_gtpu =
        packet().udp(2152, 2152).payload(&[&[0x30, 255, 0, 0, 0, 0, 0, 1], &user[..]].concat()).build();
    let labels = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0x47, 0, 6, 0x51, 64];
    let labelled = [&labels[..], &user].concat();
    let mut config = config(Mode::Md);
    config.watchlist = vec![toml::from_str("source = \"172.16.0.0/16\"").unwrap()];
    let mut node = Node::new(&config).unwrap();
    assert_eq!(drop(&mut node, &in_gtpu, 133), 1);
    assert_eq!(drop(&mut node, &labelled, 129), 1);
    assert_eq!(drop(&mut node, &tcp_frame(b""), 29), 0);
}
