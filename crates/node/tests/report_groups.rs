//! Grouping of reports in datagrams, and when a datagram is sent.

mod support;

use std::num::NonZeroU8;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig};
use inband_node::{Node, Outcome};
use inband_wire::report::ReportGroup;

use support::{node_config, reports, tcp_frame, through};

/// A node that reports every packet, with up to `group` reports a datagram.
fn node(group: u8, truncate: u16) -> Node {
    let mut config: NodeConfig = node_config(7, (false, false), EncapsulationKind::Dscp, Mode::Xd);
    config.report.group = NonZeroU8::new(group).unwrap_or(NonZeroU8::MIN);
    config.report.truncate = truncate;
    Node::new(&config).expect("the configuration is right")
}

fn pass(node: &mut Node, packets: usize) {
    for _ in 0..packets {
        through(node, &tcp_frame(&[0x55; 600]));
    }
}

/// The sequence number of each datagram, and its number of reports.
fn shape(node: &mut Node) -> Vec<(u32, usize)> {
    let shape = |datagram: &Vec<u8>| {
        let group = ReportGroup::parse(datagram).expect("a node writes right groups");
        let reports = group.reports().inspect(|report| assert!(report.is_ok())).count();
        (group.header.sequence(), reports)
    };
    reports(node).iter().map(shape).collect()
}

#[test]
fn so_many_reports_share_a_datagram_as_configured() {
    // report-2.0/group-05, report-2.0/group-03
    let mut node = node(4, 64);
    pass(&mut node, 10);
    assert_eq!(shape(&mut node), [(1, 4), (2, 4)]);
    node.flush_reports();
    assert_eq!(shape(&mut node), [(3, 2)]);
    node.flush_reports();
    assert_eq!(shape(&mut node), []);
    assert_eq!(node.counters().get(Outcome::Reported), 10);
}

#[test]
fn a_report_waits_for_others_no_longer_than_configured() {
    let mut node = node(4, 64);
    pass(&mut node, 1);
    // The test packets leave at this time; 100 ms is the default.
    let made_at = 1_700_000_000_000_001_000;
    node.handle_timeout(made_at + 99_999_999);
    assert_eq!(shape(&mut node), []);
    node.handle_timeout(made_at + 100_000_000);
    assert_eq!(shape(&mut node), [(1, 1)]);
}

#[test]
fn a_datagram_of_several_reports_fits_a_usual_network() {
    let mut node = node(255, 128);
    pass(&mut node, 30);
    node.flush_reports();
    let datagrams = reports(&mut node);
    assert!(datagrams.iter().all(|datagram| datagram.len() <= 1400));
    // 8 bytes of group header and 144 of each report: 9 to a datagram.
    assert_eq!(datagrams.len(), 4);
}

#[test]
fn a_report_to_the_end_of_its_datagram_is_its_last() {
    // report-2.0/individual-05
    let mut node = node(4, 9000);
    let long = tcp_frame(&[0x55; 1100]);
    through(&mut node, &long);
    through(&mut node, &tcp_frame(b""));
    node.flush_reports();
    assert_eq!(shape(&mut node), [(1, 1), (2, 1)]);
}

#[test]
fn reports_nobody_takes_are_shed_and_counted_and_the_numbers_have_no_gap() {
    let mut node = node(1, 128);
    pass(&mut node, 8_000);
    let (reported, shed) = (node.counters().get(Outcome::Reported), node.counters().get(Outcome::ReportShed));
    assert_eq!(reported + shed, 8_000);
    assert!(shed > 0 && reported > 6_000, "{reported} reported, {shed} shed");
    let queued = shape(&mut node);
    assert_eq!(queued.len() as u64, reported);
    pass(&mut node, 1);
    let next = u32::try_from(reported).expect("fewer than 8,000") + 1;
    assert_eq!(shape(&mut node), [(next, 1)]);
}
