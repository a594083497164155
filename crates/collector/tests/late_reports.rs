//! Reports that are late, lost or without an order do not cause wrong conclusions.

mod support;

use inband_collector::{
    CollectorSettings, EdgeInterface, EventSettings, GivenLink, NumberSettings, PathRule, PathSettings,
    Verdict,
};
use inband_model::{EventDetail, EventKind, Nanos, PathChangeKind, Phase};
use inband_wire::Words;
use inband_wire::int::shim::Shim;
use inband_wire::int::{HopMetadata, Instructions, MxHeader};
use inband_wire::report::Drop;
use zerocopy::IntoBytes;

use support::{
    INSTRUCTIONS, Lab, MdPacket, datagram, dropped, flow, hop, hops, node_report, packet, plain_packet,
    sink_report,
};

const EPOCH: Nanos = Nanos(1 << 30);

#[test]
fn a_report_that_another_flows_report_overtakes_counts_for_the_path_of_its_own() {
    let mut lab = Lab::new();
    for round in 1..5 {
        for (node_id, ttl) in [(1, 64), (11, 63), (2, 62)] {
            let [a, b] = [1, 2].map(|number| plain_packet(&flow(number), ttl));
            let [a, b] = [&a, &b].map(|packet| node_report(packet, hop(node_id, 900, 0)));
            // Node 11 reports the second flow after the first, and that report arrives earlier.
            let order = if node_id == 11 { [1, 0] } else { [0, 1] };
            for which in order {
                let sequence = 2 * round + which;
                lab.datagram(&datagram(node_id, sequence, &[if which == 0 { &a } else { &b }]));
            }
        }
        lab.wait(EPOCH);
    }

    assert_eq!(lab.paths(), [[1, 11, 2], [1, 11, 2]]);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn a_node_that_restarts_while_reports_overtake_each_other_stays_on_its_paths() {
    // Three nodes report 30 flows every 60 ms; reports are up to 8 ms late, and node 3 restarts after 12 s.
    const MS: u64 = 1_000_000;
    let mut sent: Vec<(u64, u32, u32)> = Vec::new();
    for number in 0..30_u32 {
        for round in 0..400_u64 {
            let at = u64::from(number) * MS + round * 60 * MS;
            sent.extend((1..=3).map(|node_id| (at + u64::from(node_id) * MS / 10, node_id, number)));
        }
    }
    sent.sort_unstable();
    let (mut sequences, mut has_restarted, mut random) = ([0_u32; 4], false, 1_u32);
    let mut arrivals = Vec::new();
    for (at, node_id, number) in sent {
        if node_id == 3 && at >= 12_000 * MS && !has_restarted {
            (sequences[3], has_restarted) = (0, true);
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let sequence = &mut sequences[node_id as usize];
        arrivals.push((at + u64::from(random >> 9) % (8 * MS), node_id, number, *sequence));
        *sequence += 1;
    }
    arrivals.sort_unstable();

    let mut lab = Lab::new();
    let start = lab.now;
    for (at, node_id, number, sequence) in arrivals {
        lab.wait((start + Nanos(at)).since(lab.now));
        let packet = plain_packet(&flow(number), 65 - u8::try_from(node_id).expect("one of three"));
        lab.datagram(&datagram(node_id, sequence, &[&node_report(&packet, hop(node_id, 900, 0))]));
    }

    assert_eq!(lab.events(EventKind::SequenceReset).len(), 1);
    assert_eq!((lab.events(EventKind::SilentLoss), lab.events(EventKind::PathChange)), (vec![], vec![]));
    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.lost, ledger.duplicate), (36_000, 0, 0));
    assert!(ledger.late < 32, "{}", ledger.late);
}

#[test]
fn a_stack_that_another_flows_report_overtakes_tells_the_path_of_its_flow() {
    let mut lab = Lab::new();
    let stack = |number| MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 11, 2])) }.bytes();
    lab.overtake(2, &sink_report(&stack(1)), &sink_report(&stack(2)));

    assert_eq!(lab.paths(), [[1, 11, 2], [1, 11, 2]]);
    assert_eq!(lab.collector.overflows().late_reports, 0);
}

#[test]
fn a_report_of_the_path_before_that_was_late_before_it_was_numbered_changes_nothing() {
    let mut lab = Lab::new();
    let stack = |spine| MdPacket::new(&hops(&[1, spine, 2])).bytes();
    for spine in [11, 12, 11, 12] {
        lab.report(2, &sink_report(&stack(spine)));
        lab.wait(Nanos::from_millis(100));
    }
    assert_eq!(changes(&mut lab), [PathChangeKind::EcmpMove]);
    assert_eq!(lab.collector.overflows().late_reports, 1);

    // Later than any late report may be, it is another change.
    lab.wait(Nanos::from_millis(400));
    lab.report(2, &sink_report(&stack(11)));
    assert_eq!(changes(&mut lab).len(), 1);
}

#[test]
fn a_path_that_a_flow_returns_to_at_once_is_known_by_the_nodes_clock() {
    let mut lab = Lab::new();
    for (spine, at) in [(11, 100), (12, 200), (11, 300), (12, 210)] {
        lab.report(2, &sink_report(&stamped_stack(spine, at)));
        lab.wait(Nanos::from_millis(100));
    }

    // The last one is older than the one before it.
    assert_eq!(changes(&mut lab).len(), 2);
    assert_eq!(lab.only_flow().path.unwrap().hops()[1].node_id.0, 11);
}

#[test]
fn a_clock_that_is_set_back_holds_one_report_back() {
    let mut lab = Lab::new();
    for (spine, at) in [(11, 60_000), (11, 60_100), (12, 200), (12, 300)] {
        lab.report(2, &sink_report(&stamped_stack(spine, at)));
        lab.wait(Nanos::from_millis(100));
    }

    assert_eq!(changes(&mut lab).len(), 1);
    assert_eq!(lab.only_flow().path.unwrap().hops()[1].node_id.0, 12);
}

#[test]
fn a_node_that_restarts_is_believed_at_once() {
    let mut lab = Lab::new();
    lab.numbered(2, 500_000, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    lab.wait(Nanos::from_secs(6));

    lab.numbered(2, 1, &sink_report(&MdPacket::new(&hops(&[1, 12, 2])).bytes()));

    assert_eq!(changes(&mut lab).len(), 1);
}

#[test]
fn hops_of_bridges_are_ordered_by_given_links_and_complete_between_hosts() {
    let mut lab = given(&[(1, 2, 11, 1), (11, 2, 2, 1)]);
    for node_id in [11, 2, 1] {
        lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), hop(node_id, 900, 0)));
    }
    lab.wait(Nanos::from_secs(2));

    assert_eq!(lab.paths(), [[1, 11, 2]]);
    assert!(lab.only_flow().complete);
}

#[test]
fn a_path_that_given_links_continue_is_not_complete() {
    let mut lab = given(&[(1, 2, 11, 1), (11, 2, 2, 1), (2, 2, 3, 1)]);
    for node_id in [11, 2, 1] {
        lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), hop(node_id, 900, 0)));
    }
    lab.wait(Nanos::from_secs(2));
    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    lab.wait(Nanos::from_secs(2));

    assert_eq!(lab.paths(), [[1, 11, 2]]);
    assert!(!lab.only_flow().complete);
}

#[test]
fn hops_that_nothing_orders_make_no_path() {
    let mut lab = Lab::new();
    for _ in 0..6 {
        for node_id in [11, 2, 1] {
            lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), hop(node_id, 900, 0)));
        }
        lab.wait(EPOCH);
    }

    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    assert!(lab.only_flow().path.is_none());
}

#[test]
fn links_that_other_flows_show_order_hops_that_nothing_ordered_before() {
    let mut lab = Lab::new();
    for round in 0..8 {
        for node_id in [11, 2, 1] {
            lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), hop(node_id, 900, 0)));
        }
        if round == 3 {
            lab.report(
                2,
                &sink_report(&MdPacket { flow: flow(2), ..MdPacket::new(&hops(&[1, 11, 2])) }.bytes()),
            );
        }
        lab.wait(EPOCH);
    }

    assert_eq!(lab.paths(), [[1, 11, 2], [1, 11, 2]]);
}

#[test]
fn a_rule_says_nothing_of_a_single_node_unless_edges_are_on_both_sides_of_it() {
    let verdict = |edges: &[(u32, u16)]| {
        let edges =
            edges.iter().map(|(node, interface)| EdgeInterface { node: *node, interface: *interface });
        let paths = PathSettings { edges: edges.collect(), ..PathSettings::default() };
        let rule = PathRule { name: "through 7".to_owned(), require_nodes: vec![7], ..PathRule::default() };
        let events = EventSettings { path_policy: vec![rule], ..EventSettings::default() };
        let mut lab = Lab::with(CollectorSettings { paths, events, ..CollectorSettings::default() });
        for _ in 0..5 {
            lab.report(1, &node_report(&plain_packet(&flow(1), 64), hop(1, 900, 0)));
            lab.wait(EPOCH);
        }
        assert_eq!(lab.paths(), [[1]]);
        let announced = lab.events(EventKind::PathPolicy).len();
        (lab.collector.verdicts(&flow(1))[0].1 == Verdict::Unverifiable, announced)
    };

    assert_eq!(verdict(&[]), (true, 0));
    assert_eq!(verdict(&[(1, 1)]), (true, 0));
    assert_eq!(verdict(&[(1, 1), (1, 2)]), (false, 1));
}

#[test]
fn a_link_is_no_suspect_where_the_node_behind_it_reports_the_drops_of_the_flows() {
    let suspects = |reason: Option<u8>| {
        let mut lab = Lab::new();
        for round in 0..16 {
            for number in 1..=3 {
                for (node_id, ttl) in [(1, 64), (11, 63), (2, 62)] {
                    let packet = plain_packet(&flow(number), ttl);
                    let report = node_report(&packet, hop(node_id, 900, 0));
                    match reason {
                        _ if node_id != 2 || round < 5 => lab.report(node_id, &report),
                        Some(reason) => lab.report(2, &dropped(&report, Some(Drop { queue_id: 0, reason }))),
                        None => {}
                    }
                }
            }
            lab.wait(EPOCH);
        }
        lab.events(EventKind::SilentLoss).len()
    };

    assert_eq!((suspects(None), suspects(Some(80))), (1, 0));
}

#[test]
fn a_change_that_turns_out_a_reroute_is_one_event() {
    let mut lab = Lab::new();
    for spine in [11, 12] {
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, spine, 2])).bytes()));
        lab.wait(Nanos::from_millis(100));
    }
    lab.wait(Nanos::from_secs(4));

    let events = lab.events(EventKind::PathChange);

    let told: Vec<_> = events.iter().map(|event| (event.phase, kind(&event.detail))).collect();
    assert_eq!(told, [(Phase::Begin, PathChangeKind::EcmpMove), (Phase::End, PathChangeKind::Reroute)]);
    assert_eq!(events[0].id(), events[1].id());
    assert_eq!(
        lab.collector.past_events().filter(|view| view.event.kind() == EventKind::PathChange).count(),
        1
    );
    assert_eq!(lab.collector.active_events().count(), 0);
}

#[test]
fn the_change_of_a_flow_that_is_forgotten_ends() {
    let paths = PathSettings { max_flows: 1, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
    for spine in [11, 12] {
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, spine, 2])).bytes()));
    }
    lab.report(2, &sink_report(&MdPacket { flow: flow(2), ..MdPacket::new(&hops(&[1, 2])) }.bytes()));
    lab.wait(Nanos::from_secs(5));

    let phases: Vec<_> = lab.events(EventKind::PathChange).iter().map(|event| event.phase).collect();
    assert_eq!(phases, [Phase::Begin, Phase::End]);
}

#[test]
fn equal_packets_that_their_source_does_not_number_are_no_loop() {
    for (number, loops) in [(0, 0), (9, 1)] {
        let mut lab = Lab::new();
        for ttl in [61, 60] {
            let mut packet = plain_packet(&flow(1), ttl);
            (packet[5], packet[27]) = (number, 7);
            lab.report(5, &node_report(&packet, hop(5, 900, 0)));
            lab.wait(Nanos::from_millis(20));
        }
        assert_eq!(lab.events(EventKind::Loop).len(), loops);
    }
}

#[test]
fn what_a_silence_in_a_capture_ends_is_settled_by_what_was_before_it() {
    let mut lab = Lab::new();
    // The reader of a capture makes no calls between two packets.
    for round in 0..6 {
        for (node_id, ttl) in [(1, 64), (11, 63), (2, 62)] {
            lab.report(node_id, &node_report(&plain_packet(&flow(1), ttl), hop(node_id, 900, 0)));
        }
        lab.now = lab.now + Nanos::from_millis(2_800 + 1_000 * round);
    }
    lab.report(1, &node_report(&plain_packet(&flow(2), 64), hop(1, 900, 0)));

    assert_eq!(lab.paths(), [[1, 11, 2]]);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn numbered_packets_whose_reports_are_late_are_no_gap() {
    let sequence_gap = NumberSettings { domain: Some(0x5453), ..NumberSettings::default() };
    let events = EventSettings { sequence_gap, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    // 300 numbers, of which the third arrives 450 ms late.
    for number in (0..300).filter(|number| *number != 3).chain([3]) {
        lab.report(5, &node_report(&numbered_packet(number), hop(5, 900, 0)));
        lab.wait(Nanos::from_micros(1_500));
    }
    lab.wait(Nanos::from_secs(1));
    assert_eq!(lab.events(EventKind::SequenceGap), []);

    lab.report(5, &node_report(&numbered_packet(303), hop(5, 900, 0)));
    lab.wait(Nanos::from_secs(1));
    assert_eq!(lab.events(EventKind::SequenceGap).len(), 1);
}

#[test]
fn nodes_beyond_those_that_a_flow_is_followed_through_are_counted() {
    let mut lab = Lab::new();
    for node_id in 1..=17 {
        let packet = plain_packet(&flow(1), 64 - u8::try_from(node_id).unwrap());
        lab.report(node_id, &node_report(&packet, hop(node_id, 900, 0)));
    }

    assert_eq!(lab.collector.overflows().unplaced_nodes, 1);
}

#[test]
fn one_lost_report_of_every_kind_is_no_other_path() {
    // Postcards of a node are lost alternately, one in four; the path stays unchanged.
    let mut lab = Lab::new();
    for round in 0..40_u32 {
        for (place, node_id) in [1, 11, 21, 2].into_iter().enumerate() {
            if (round + u32::try_from(place).unwrap()) % 4 != 0 {
                let packet = plain_packet(&flow(1), 64 - u8::try_from(place).unwrap());
                lab.report(node_id, &node_report(&packet, hop(node_id, 900, 0)));
            }
        }
        lab.wait(EPOCH);
    }

    assert_eq!(lab.paths(), [[1, 11, 21, 2]]);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

fn given(links: &[(u32, u16, u32, u16)]) -> Lab {
    let links = links.iter().map(|(node, interface, to, to_interface)| GivenLink {
        node: *node,
        interface: *interface,
        to: *to,
        to_interface: Some(*to_interface),
    });
    let paths = PathSettings { links: links.collect(), ..PathSettings::default() };
    Lab::with(CollectorSettings { paths, ..CollectorSettings::default() })
}

/// A packet numbered by its source.
fn numbered_packet(number: u32) -> Vec<u8> {
    let mut header = MxHeader::new(INSTRUCTIONS);
    header.set_domain(0x5453, 0x8000, 0);
    let mut int = Shim::payload(3, Words::new(4), 0).as_bytes().to_vec();
    int.extend_from_slice(header.as_bytes());
    int.extend_from_slice(&number.to_be_bytes());
    packet(&flow(1), 64, 0x17, &int)
}

/// The stack of a packet that reached node 1 at a time in milliseconds.
fn stamped_stack(spine: u32, at: u64) -> Vec<u8> {
    let stamped = |node_id| HopMetadata {
        ingress_timestamp: Some(at * 1_000_000),
        egress_timestamp: Some(at * 1_000_000 + 900),
        ..hop(node_id, 900, 0)
    };
    let hops = [1, spine, 2].map(stamped);
    MdPacket { instructions: Instructions(0xfc00), ..MdPacket::new(&hops) }.bytes()
}

fn kind(detail: &EventDetail) -> PathChangeKind {
    match detail {
        EventDetail::PathChange(change) => change.change,
        other => panic!("not a change of path: {other:?}"),
    }
}

/// The changes that began.
fn changes(lab: &mut Lab) -> Vec<PathChangeKind> {
    let events = lab.events(EventKind::PathChange);
    events.iter().filter(|event| event.phase != Phase::End).map(|event| kind(&event.detail)).collect()
}
