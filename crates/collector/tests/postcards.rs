//! Conclusions from the reports of single nodes, in INT-MX and INT-XD mode.

mod support;

use inband_collector::{CollectorSettings, PathSettings};
use inband_model::{Confidence, EventDetail, EventKind, Nanos, Origin};
use inband_wire::int::HopMetadata;
use inband_wire::report::Draft;

use support::{Lab, MdPacket, flow, hop, hop_via, mx_packet, node_report, nodes, plain_packet, sink_report};

/// `settle_ms` and 1.1 s.
const SETTLE: Nanos = Nanos::from_millis(1_600);
const EPOCH: Nanos = Nanos(1 << 30);

#[test]
fn reports_of_several_nodes_make_a_path_after_they_have_settled() {
    let mut lab = Lab::new();
    // They arrive in any order; the TTL of the reported packet falls along the path.
    pass(&mut lab, &[(2, 62), (1, 64), (11, 63)]);
    lab.wait(Nanos(1_599_000_000));
    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());

    lab.wait(Nanos::from_millis(2));

    let paths = lab.path_observations();
    assert_eq!(paths.len(), 1);
    assert_eq!(nodes(&paths[0]), [1, 11, 2]);
    assert_eq!(paths[0].hop_latency, [Some(900); 3]);
    assert_eq!((paths[0].origin, paths[0].hops_expected), (Origin::XdReport, Some(3)));
    assert!(lab.only_flow().path_is_complete());
}

#[test]
fn reports_on_packets_with_an_mx_header_say_so() {
    let mut lab = Lab::new();
    for (node_id, ttl) in [(1, 64), (2, 63)] {
        lab.report(node_id, &node_report(&mx_packet(&flow(1), ttl), hop(node_id, 900, 0)));
    }

    lab.wait(SETTLE);

    let paths = lab.path_observations();
    assert_eq!(nodes(&paths[0]), [1, 2]);
    assert_eq!(paths[0].origin, Origin::MxReport);
}

#[test]
fn a_node_the_ttl_tells_of_and_that_does_not_report_is_expected() {
    let mut lab = Lab::new();
    pass(&mut lab, &[(1, 64), (2, 62)]);

    lab.wait(SETTLE);
    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    // Its report may have been lost, and the next one as well.
    lab.wait(SETTLE);

    assert_eq!(lab.path_observations()[0].hops_expected, Some(3));
    assert!(!lab.only_flow().path_is_complete());
}

#[test]
fn a_node_that_reports_nothing_but_itself_is_on_the_path() {
    let mut lab = Lab::new();
    lab.report(1, &sink_report(&plain_packet(&flow(1), 64)));
    lab.report(2, &sink_report(&plain_packet(&flow(1), 63)));

    lab.wait(SETTLE);

    assert_eq!(lab.paths(), [[1, 2]]);
}

#[test]
fn a_detour_is_one_change_of_path_after_it_has_settled() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (11, 63), (2, 62)], 4);
    assert_eq!(lab.paths(), [[1, 11, 2]]);

    run_for(&mut lab, &[(1, 64), (12, 63), (2, 62)], 8);

    assert_eq!(lab.paths(), [[1, 12, 2]]);
    let events = lab.events(EventKind::PathChange);
    assert_eq!(events[0].confidence, Confidence::Probable);
    let changes: Vec<String> = events
        .iter()
        .map(|event| match &event.detail {
            EventDetail::PathChange(change) => format!("{} to {}", change.old, change.new),
            other => panic!("not a change of path: {other:?}"),
        })
        .collect();
    // The second announcement reports that it was a reroute.
    assert_eq!(changes, ["1:1:2 > 1:11:2 > 1:2:2 to 1:1:2 > 1:12:2 > 1:2:2"; 2]);
}

#[test]
fn a_detour_before_the_path_has_settled_leaves_no_mixture_of_both() {
    let mut lab = Lab::new();
    pass(&mut lab, &[(1, 64), (11, 63), (2, 62)]);
    lab.wait(Nanos::from_millis(600));
    // Node 1 sends to another neighbour, as it must when the next node is another one.
    lab.report(1, &node_report(&plain_packet(&flow(1), 64), hop_via(1, 1, 3, 900, 0)));
    pass(&mut lab, &[(12, 63), (2, 62)]);

    lab.wait(SETTLE);

    assert_eq!(lab.paths(), [[1, 12, 2]]);
}

#[test]
fn one_lost_report_of_a_node_is_no_change_of_path() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (11, 63), (2, 62)], 4);
    lab.outputs();

    run_for(&mut lab, &[(1, 64), (2, 62)], 1);
    run_for(&mut lab, &[(1, 64), (11, 63), (2, 62)], 4);

    assert_eq!(lab.outputs(), []);
}

#[test]
fn a_node_that_falls_silent_while_others_report_leaves_the_path() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (11, 63), (2, 62)], 4);
    lab.outputs();

    // Packets that reach the nodes around it as before more likely pass it than not.
    run_for(&mut lab, &[(1, 64), (2, 62)], 7);
    assert_eq!(lab.paths(), [[1, 2]; 0]);
    run_for(&mut lab, &[(1, 64), (2, 62)], 2);

    assert_eq!(lab.paths(), [[1, 2]]);
    assert_eq!(lab.only_flow().hops_expected, Some(3));
}

#[test]
fn a_flow_that_ends_changes_no_path() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (11, 63), (2, 62)], 4);
    lab.outputs();

    lab.wait(Nanos::from_secs(30));

    assert_eq!(lab.outputs(), []);
    assert_eq!(lab.only_flow().path.unwrap().hops().len(), 3);
}

#[test]
fn another_interface_of_a_node_is_a_change_and_a_report_without_interfaces_is_none() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (2, 63)], 3);
    lab.outputs();
    let packet = plain_packet(&flow(1), 64);

    lab.report(1, &node_report(&packet, HopMetadata { interfaces: None, ..hop(1, 900, 0) }));
    lab.wait(SETTLE);
    assert_eq!(lab.outputs(), []);

    lab.report(1, &node_report(&packet, hop_via(1, 1, 7, 900, 0)));
    // Node 2 is still entered where the other interface led to; its second report was sent after the change.
    for _ in 0..2 {
        lab.report(2, &node_report(&plain_packet(&flow(1), 63), hop(2, 900, 0)));
        lab.wait(EPOCH);
    }
    assert_eq!(lab.events(EventKind::PathChange).len(), 1);
}

#[test]
fn reports_of_drops_and_of_queues_alone_are_no_hops_of_the_path() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (2, 63)], 3);
    lab.outputs();
    let packet = plain_packet(&flow(1), 63);

    let report = node_report(&packet, hop(7, 900, 0));
    lab.report(7, &Draft { dropped: true, ..report });
    lab.report(8, &Draft { tracked_flow: false, ..report });
    lab.wait(SETTLE);

    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn the_latest_latency_of_each_node_is_kept() {
    let mut lab = Lab::new();
    run_for(&mut lab, &[(1, 64), (2, 63)], 3);

    lab.report(2, &node_report(&plain_packet(&flow(1), 63), hop(2, 77, 0)));

    assert_eq!(lab.only_flow().hop_latency, [Some(Nanos(900)), Some(Nanos(77))]);
}

#[test]
fn single_reports_do_not_change_what_stacks_tell_as_long_as_stacks_come() {
    let mut lab = Lab::new();
    let stack = MdPacket::new(&[hop(1, 900, 0), hop(11, 900, 0), hop(2, 900, 0)]).bytes();
    pass(&mut lab, &[(7, 63)]);
    for _ in 0..4 {
        lab.report(11, &node_report(&plain_packet(&flow(1), 63), hop(11, 77, 0)));
        lab.report(2, &sink_report(&stack));
        lab.wait(EPOCH);
        lab.report(7, &node_report(&plain_packet(&flow(1), 63), hop(7, 900, 0)));
    }
    lab.report(11, &node_report(&plain_packet(&flow(1), 63), hop(11, 77, 0)));
    assert_eq!(lab.paths(), [[1, 11, 2]]);
    assert_eq!(lab.only_flow().hop_latency, [Some(Nanos(900)); 3]);

    for _ in 0..5 {
        lab.wait(EPOCH);
        lab.report(7, &node_report(&plain_packet(&flow(1), 63), hop(7, 900, 0)));
    }

    assert_eq!(lab.paths(), [[7]]);
}

#[test]
fn an_order_that_is_a_guess_teaches_no_links() {
    let mut lab = Lab::new();
    // Only clocks order the first flow, and they are wrong.
    for (node_id, timestamp) in [(1, 200), (3, 100)] {
        let metadata = HopMetadata { ingress_timestamp: Some(timestamp), ..hop(node_id, 900, 0) };
        lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), metadata));
    }
    lab.wait(SETTLE);
    assert_eq!(lab.paths(), [[3, 1]]);

    for (node_id, ttl) in [(1, 64), (3, 63)] {
        lab.report(node_id, &node_report(&plain_packet(&flow(2), ttl), hop(node_id, 900, 0)));
    }
    lab.wait(SETTLE);

    assert_eq!(lab.paths(), [[1, 3]]);
}

#[test]
fn links_learned_for_certain_order_the_hops_of_flows_whose_ttl_tells_nothing() {
    let mut lab = Lab::new();
    pass(&mut lab, &[(11, 63), (2, 62), (1, 64)]);
    lab.wait(SETTLE);
    assert_eq!(lab.paths(), [[1, 11, 2]]);

    for node_id in [2, 1, 11] {
        lab.report(node_id, &node_report(&plain_packet(&flow(2), 64), hop(node_id, 900, 0)));
    }
    lab.wait(SETTLE);

    assert_eq!(lab.paths(), [[1, 11, 2]]);
}

#[test]
fn a_flow_that_took_anothers_place_in_the_table_has_its_own_time_to_settle() {
    let paths = PathSettings { max_flows: 1, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
    lab.report(1, &node_report(&plain_packet(&flow(1), 64), hop(1, 900, 0)));
    lab.wait(Nanos::from_millis(600));
    lab.report(1, &node_report(&plain_packet(&flow(2), 64), hop(1, 900, 0)));

    lab.wait(Nanos::from_millis(1_100));
    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    lab.wait(Nanos::from_millis(600));

    assert_eq!(lab.path_observations().iter().map(|path| path.flow).collect::<Vec<_>>(), [flow(2)]);
}

#[test]
fn reports_of_every_combination_of_categories_are_accepted() {
    // report-2.0/transport-05
    let mut lab = Lab::new();
    let packet = plain_packet(&flow(1), 64);
    for bits in 0..8 {
        let (dropped, congested_queue, tracked_flow) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
        let report = Draft { dropped, congested_queue, tracked_flow, ..node_report(&packet, hop(1, 900, 0)) };
        lab.report(1, &report);
    }

    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.accepted_reports, ledger.malformed), (8, 8, 0));
    assert_eq!(lab.only_flow().reports, 8);
    lab.wait(SETTLE);
    assert_eq!(lab.paths(), [[1]]);
    assert_eq!(lab.events(EventKind::QueueCongestion).len(), 2);
}

/// One packet of the flow, reported by each node with the TTL it sees.
fn pass(lab: &mut Lab, nodes: &[(u32, u8)]) {
    for (node_id, ttl) in nodes {
        let packet = plain_packet(&flow(1), *ttl);
        lab.report(*node_id, &node_report(&packet, hop(*node_id, 900, 0)));
    }
}

/// A packet at the end of each of `epochs` epochs.
fn run_for(lab: &mut Lab, nodes: &[(u32, u8)], epochs: usize) {
    for _ in 0..epochs {
        lab.wait(EPOCH);
        pass(lab, nodes);
    }
}
