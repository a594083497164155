//! Paths of which reports show a part, or leave out fields.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_collector::{CollectorSettings, EdgeInterface, EventSettings, PathRule, PathSettings};
use inband_model::{EventKind, Nanos};
use inband_wire::int::HopMetadata;

use support::{Lab, MdPacket, flow, hop, hop_via, hops, node_report, plain_packet, sink_report};

const EPOCH: Nanos = Nanos(1 << 30);
/// An interface that is not available.
const NONE: u16 = u16::MAX;
/// A hop that gives none of its metadata.
const NOTHING: HopMetadata = HopMetadata::NONE;

#[test]
fn a_path_that_ends_in_front_of_a_known_link_is_not_complete() {
    let mut lab = Lab::with(through(2, PathSettings::default()));
    for round in 0..30 {
        for number in 1..=4 {
            for (node_id, ttl) in [(1, 64), (11, 63), (2, 62)] {
                // All flows but one end at the link from 11 to 2.
                if node_id != 2 || number == 4 || round < 8 {
                    let packet = plain_packet(&flow(number), ttl);
                    lab.report(node_id, &node_report(&packet, hop(node_id, 900, 0)));
                }
            }
        }
        lab.wait(EPOCH);
    }

    assert_eq!(lab.events(EventKind::PathPolicy), []);
    assert_eq!(lab.events(EventKind::SilentLoss).len(), 1);
    let path = lab.path_observations().pop().unwrap();
    assert_eq!((support::nodes(&path), path.hops_expected), (vec![1, 11], None));
    for view in lab.collector.flows() {
        assert_eq!(view.path_is_complete(), view.flow == flow(4), "{}", view.flow);
    }
}

#[test]
fn a_path_that_begins_behind_a_known_link_is_not_complete() {
    let mut lab = Lab::with(through(1, PathSettings::default()));
    run(&mut lab, 1, &[(1, 64), (11, 63), (2, 62)]);
    run(&mut lab, 2, &[(11, 63), (2, 62)]);

    assert_eq!(lab.events(EventKind::PathPolicy), []);
    assert!(!lab.collector.flow(&flow(2)).unwrap().path_is_complete());
}

#[test]
fn a_path_that_ends_at_an_edge_is_complete_although_a_link_begins_there() {
    let edges = [(1, 1), (11, 2)].map(|(node, interface)| EdgeInterface { node, interface });
    let mut lab = Lab::with(through(2, PathSettings { edges: edges.to_vec(), ..PathSettings::default() }));
    run(&mut lab, 1, &[(1, 64), (11, 63), (2, 62)]);
    run(&mut lab, 2, &[(1, 64), (11, 63)]);

    assert_eq!(lab.events(EventKind::PathPolicy).len(), 1);
}

#[test]
fn a_hop_that_leaves_out_fields_now_and_then_changes_no_path() {
    // int-2.1/md-24
    let unnamed = HopMetadata { node_id: None, ..hop(0, 700, 0) };
    let lacking = [hop_via(11, NONE, NONE, 700, 0), hop_via(11, NONE, 2, 700, 0), unnamed, NOTHING];
    for lacking in lacking {
        let mut lab = Lab::new();
        for number in 0..40 {
            let middle = if number % 10 == 5 { lacking } else { hop(11, 900, 0) };
            stack(&mut lab, &[hop(1, 900, 0), middle, hop(2, 900, 0)]);
        }

        assert_eq!(lab.paths(), [[1, 11, 2]]);
        assert_eq!(lab.events(EventKind::PathChange), []);
        assert_eq!(lab.only_flow().path.unwrap().to_string(), "1:1:2 > 1:11:2 > 1:2:2");
        assert_eq!(lab.only_flow().path_seen_at, lab.only_flow().last_seen);
    }
}

#[test]
fn later_packets_complete_a_path_whose_first_one_left_out_fields() {
    let mut lab = Lab::new();
    stack(&mut lab, &[hop_via(1, NONE, 2, 900, 0), NOTHING, hop_via(2, 1, NONE, 900, 0)]);
    stack(&mut lab, &[hop(1, 900, 0), NOTHING, hop_via(2, 1, NONE, 900, 0)]);
    stack(&mut lab, &[hop_via(1, NONE, 2, 900, 0), hop(11, 900, 0), hop(2, 900, 0)]);

    let paths: Vec<_> = lab.path_observations().iter().map(|seen| seen.path.to_string()).collect();
    assert_eq!(paths, ["?:1:2 > ? > 1:2:?", "1:1:2 > ? > 1:2:?", "1:1:2 > 1:11:2 > 1:2:2"]);
    assert_eq!(lab.events(EventKind::PathChange), []);
    assert_eq!(lab.events(EventKind::NewFlow).len(), 1);
}

#[test]
fn a_hop_that_leaves_out_fields_and_differs_in_another_is_another_path() {
    let mut lab = Lab::new();
    stack(&mut lab, &hops(&[1, 11, 2]));
    stack(&mut lab, &[hop(1, 900, 0), hop_via(11, NONE, 3, 900, 0), hop(2, 900, 0)]);
    assert_eq!(lab.events(EventKind::PathChange).len(), 1);

    // Back, as the known fields show.
    lab.wait(EPOCH);
    lab.events(EventKind::PathChange);
    stack(&mut lab, &[hop(1, 900, 0), hop_via(11, NONE, 2, 900, 0), hop(2, 900, 0)]);
    assert_eq!(lab.only_flow().path.unwrap().to_string(), "1:1:2 > 1:11:2 > 1:2:2");
}

/// The report of a sink on a packet with these hops, 100 ms after the one before.
fn stack(lab: &mut Lab, hops: &[HopMetadata]) {
    lab.wait(Nanos::from_millis(100));
    lab.report(2, &sink_report(&MdPacket::new(hops).bytes()));
}

/// Reports of these nodes on a flow, once an epoch, until its path has settled.
fn run(lab: &mut Lab, number: u32, nodes: &[(u32, u8)]) {
    for _ in 0..6 {
        for (node_id, ttl) in nodes {
            lab.report(*node_id, &node_report(&plain_packet(&flow(number), *ttl), hop(*node_id, 900, 0)));
        }
        lab.wait(EPOCH);
    }
}

/// Settings with a rule that every path passes a node.
fn through(node_id: u32, paths: PathSettings) -> CollectorSettings {
    let rule = PathRule { name: "through".to_owned(), require_nodes: vec![node_id], ..PathRule::default() };
    let events = EventSettings { path_policy: vec![rule], ..EventSettings::default() };
    CollectorSettings { events, paths, ..CollectorSettings::default() }
}
