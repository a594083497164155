//! Details of events of dropped and missing packets.

mod support;

use inband_collector::{CollectorSettings, EventSettings, NumberSettings};
use inband_model::{
    Drop as DropDetail, DropClass, Event, EventDetail, EventKind, Nanos, NodeId, Phase, SequenceGap, Severity,
};
use inband_wire::int::{HopMetadata, Instructions};
use inband_wire::report::earlier::DropSummary;
use inband_wire::report::earlier::host_int::Gap;
use inband_wire::report::{Draft, Drop, InnerType};
use zerocopy::IntoBytes;

use support::{Lab, drop_of_queue, dropped, flow, hop, node_report, phases, plain_packet};

#[test]
fn drops_of_a_second_are_one_event_with_their_flows() {
    let mut lab = Lab::new();
    for number in [1, 2, 1] {
        drop_of_queue(&mut lab, number, 80, 3);
    }
    lab.wait(Nanos::from_millis(990));
    assert_eq!(lab.events(EventKind::Drop), []);
    lab.wait(Nanos::from_millis(10));

    let events = lab.events(EventKind::Drop);

    let drop = drops(&events)[0];
    assert_eq!((drop.reports, drop.flow_count, drop.flows.as_slice()), (3, 2, &[flow(1), flow(2)][..]));
    assert_eq!(drop.packets, 3);
    assert_eq!((drop.reason, drop.reason_name.as_str()), (Some(80), "acl-deny"));
    assert!(drop.check.contains("access list"), "{}", drop.check);
    lab.wait(Nanos::from_secs(3));
    assert_eq!(phases(&lab.events(EventKind::Drop)), [Phase::End]);
}

#[test]
fn packets_that_a_node_only_counts_are_dropped_where_it_says() {
    let mut lab = Lab::new();
    for count in [40, 2] {
        summary(&mut lab, 0x4849, &drop_summary([5, 5], [1, 2], count));
    }
    // No interface was selected for this one.
    summary(&mut lab, 0x4849, &drop_summary([5, 5], [1, 0], 7));
    lab.wait(Nanos::from_secs(1));

    let events = lab.events(EventKind::Drop);

    let told: Vec<_> = drops(&events)
        .iter()
        .map(|drop| (drop.ingress_interface, drop.egress_interface, drop.reason, drop.reports, drop.packets))
        .collect();
    assert_eq!(told, [(Some(1), Some(2), None, 2, 42), (Some(1), None, None, 1, 7)]);
    assert_eq!(drops(&events)[0].flows, [flow(1)]);
    assert_eq!(lab.events(EventKind::SequenceGap), [], "no number of the flow is missing");
}

#[test]
fn packets_lost_between_two_nodes_are_a_gap_of_that_many_and_dropped_nowhere() {
    let mut lab = Lab::new();
    summary(&mut lab, 0x4849, &drop_summary([7, 5], [1, 2], 3));
    summary(&mut lab, 0x4849, &drop_summary([7, 5], [1, 2], 0));
    lab.wait(Nanos::from_secs(1));

    let events = lab.events(EventKind::SequenceGap);

    assert_eq!(events.len(), 1);
    let expected = SequenceGap { flow: flow(1), node_id: NodeId(5), lost: 3 };
    assert_eq!(events[0].detail, EventDetail::SequenceGap(expected));
    assert_eq!(lab.events(EventKind::Drop), []);
    assert!(lab.paths().is_empty(), "nobody knows their way");
    assert_eq!(lab.collector.ledger().accepted_reports, 2);
}

#[test]
fn a_gap_that_goes_on_ends_with_all_packets_that_are_missing() {
    let mut lab = Lab::new();
    for count in [3, 1, 108] {
        summary(&mut lab, 0x4849, &drop_summary([7, 5], [1, 2], count));
        lab.wait(Nanos::from_secs(1));
    }
    lab.wait(Nanos::from_secs(60));

    let events = lab.events(EventKind::SequenceGap);

    let lost = |event: &Event| match &event.detail {
        EventDetail::SequenceGap(gap) => (event.phase, event.count, gap.lost),
        other => panic!("not a gap: {other:?}"),
    };
    assert_eq!(events.iter().map(lost).collect::<Vec<_>>(), [(Phase::Begin, 3, 3), (Phase::End, 112, 112)]);
    // The next event counts anew.
    summary(&mut lab, 0x4849, &drop_summary([7, 5], [1, 2], 2));
    assert_eq!(
        lab.events(EventKind::SequenceGap).iter().map(lost).collect::<Vec<_>>(),
        [(Phase::Begin, 2, 2)]
    );
}

#[test]
fn metadata_that_is_no_drop_summary_counts_one_packet() {
    let whole = drop_summary([7, 5], [1, 2], 3);
    let off = EventSettings {
        sequence_gap: NumberSettings { summary_domain: 0, ..NumberSettings::default() },
        ..EventSettings::default()
    };
    for (domain, metadata, events) in [
        (0x4850, &whole[..], EventSettings::default()),
        (0x4849, &whole[..20], EventSettings::default()),
        (0x4849, &whole[..], off),
    ] {
        let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
        summary(&mut lab, domain, metadata);
        lab.wait(Nanos::from_secs(1));
        let events = lab.events(EventKind::Drop);
        assert_eq!((drops(&events)[0].reports, drops(&events)[0].packets), (1, 1));
        assert_eq!(lab.events(EventKind::SequenceGap), []);
    }
}

#[test]
fn places_and_reasons_are_events_of_their_own() {
    let mut lab = Lab::new();
    drop_of_queue(&mut lab, 1, 80, 3);
    drop_of_queue(&mut lab, 1, 26, 3);
    lab.wait(Nanos::from_secs(1));

    let events = lab.events(EventKind::Drop);

    let names: Vec<_> = drops(&events).iter().map(|drop| drop.reason_name.clone()).collect();
    assert_eq!(names, ["acl-deny", "ttl-zero"]);
}

#[test]
fn what_a_node_cannot_forward_is_a_blackhole_when_nothing_comes_past_it() {
    let mut lab = Lab::new();
    postcards(&mut lab, &[(1, 64), (5, 63), (9, 62)]);
    drop_report_at(&mut lab, 63);
    for _ in 0..3 {
        lab.wait(Nanos::from_secs(1));
        // The nodes before the hole continue to report.
        postcards(&mut lab, &[(1, 64)]);
    }

    let mut events = lab.events(EventKind::Drop);

    events.retain(|event| event.phase == Phase::Begin);
    let classes: Vec<_> = drops(&events).iter().map(|drop| drop.class).collect();
    assert_eq!(classes, [DropClass::Other, DropClass::Blackhole]);
    assert_eq!(events[1].severity, Severity::Critical);
    assert!(events[1].key.ends_with(" blackhole"));
}

#[test]
fn what_comes_past_the_node_is_in_no_blackhole() {
    let mut lab = Lab::new();
    postcards(&mut lab, &[(1, 64), (5, 63), (9, 62)]);
    drop_report_at(&mut lab, 63);
    for _ in 0..3 {
        lab.wait(Nanos::from_secs(1));
        postcards(&mut lab, &[(1, 64), (9, 62)]);
    }

    let events = lab.events(EventKind::Drop);

    assert!(drops(&events).iter().all(|drop| drop.class == DropClass::Other), "{events:?}");
}

#[test]
fn a_full_queue_loses_packets_to_congestion_only_while_it_is_congested() {
    for (latency, class) in [(500_000, DropClass::CongestionLoss), (900, DropClass::Other)] {
        let mut lab = Lab::new();
        lab.report(5, &node_report(&plain_packet(&flow(1), 64), hop(5, latency, 9)));
        // Reason 71: the traffic manager.
        drop_of_queue(&mut lab, 1, 71, 0);
        lab.wait(Nanos::from_secs(1));

        assert_eq!(drops(&lab.events(EventKind::Drop))[0].class, class);
    }
}

fn postcards(lab: &mut Lab, nodes: &[(u32, u8)]) {
    for (node_id, ttl) in nodes {
        lab.report(*node_id, &node_report(&plain_packet(&flow(1), *ttl), hop(*node_id, 900, 0)));
    }
}

fn drop_report_at(lab: &mut Lab, ttl: u8) {
    let packet = plain_packet(&flow(1), ttl);
    lab.report(5, &dropped(&node_report(&packet, hop(5, 900, 0)), Some(Drop { queue_id: 0, reason: 29 })));
}

fn drop_summary([source, sink]: [u32; 2], [ingress, egress]: [u16; 2], count: u32) -> Vec<u8> {
    let gap = Gap { seen_at_s: 1_700_000_000, sequence: 41, count };
    DropSummary::new(source, sink, ingress, egress, gap).as_bytes().to_vec()
}

fn summary(lab: &mut Lab, domain: u16, metadata: &[u8]) {
    let packet = plain_packet(&flow(1), 0);
    let report = node_report(&packet, HopMetadata::default());
    let instructions = Instructions::default();
    let domain = Some((domain, 0x8000, metadata));
    lab.report(5, &Draft { dropped: true, tracked_flow: true, instructions, domain, ..report });
}

fn drops(events: &[Event]) -> Vec<&DropDetail> {
    let details = events.iter().map(|event| match &event.detail {
        EventDetail::Drop(drop) => drop,
        other => panic!("not a drop: {other:?}"),
    });
    details.collect()
}

#[test]
fn a_missing_route_for_packets_without_a_known_flow_is_no_blackhole() {
    let mut lab = Lab::new();
    let unknown = Draft { inner_type: InnerType::None, inner: &[], ..node_report(&[], hop(5, 900, 0)) };
    // Reason 89: the bridge has no entry.
    lab.report(5, &dropped(&unknown, Some(Drop { queue_id: 0, reason: 89 })));
    lab.wait(Nanos::from_secs(5));

    let events = lab.events(EventKind::Drop);
    assert!(events.iter().all(|event| event.severity < Severity::Critical), "{events:#?}");
    assert!(!events.is_empty());
}
