//! What do events say beyond that something happened, and when do they end?

mod support;

use inband_collector::{
    CollectorSettings, CulpritSettings, EdgeInterface, EventSettings, NumberSettings, PathSettings,
};
use inband_model::{
    CulpritPattern, Culprits, Drop as DropDetail, DropClass, Event, EventDetail, EventKind, Loop,
    LoopSupport, Nanos, NodeId, Phase, SequenceGap, Severity,
};
use inband_wire::int::{HopMetadata, Instructions};
use inband_wire::report::earlier::DropSummary;
use inband_wire::report::earlier::host_int::Gap;
use inband_wire::report::{Draft, Drop};
use zerocopy::IntoBytes;

use support::{Lab, MdPacket, flow, hop, hop_via, hops, node_report, plain_packet, sink_report};

// --- drops

#[test]
fn drops_of_a_second_are_one_event_with_their_flows() {
    let mut lab = Lab::new();
    for number in [1, 2, 1] {
        drop_report(&mut lab, number, 80);
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
    // No interface was chosen for this one.
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
    drop_report(&mut lab, 1, 80);
    drop_report(&mut lab, 1, 26);
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
        // The nodes before the hole go on.
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

// --- queues

#[test]
fn many_sources_to_one_destination_are_an_incast_and_one_fewer_is_none() {
    for (sources, pattern) in [(8, CulpritPattern::Incast), (7, CulpritPattern::Mixed)] {
        let mut lab = Lab::new();
        for round in 0..3 {
            for number in 0..sources {
                delayed(&mut lab, number, 150_000 + round);
            }
        }
        delayed(&mut lab, 99, 400_000);
        delayed(&mut lab, 99, 900);

        let events = lab.events(EventKind::Culprits);

        let culprits = culprits(&events[0]);
        assert_eq!((culprits.pattern, culprits.flows), (pattern, u64::from(sources)));
        assert_eq!(culprits.reported_packets, u64::from(sources) * 3);
    }
}

#[test]
fn culprits_are_listed_to_their_share_and_who_hardly_sends_is_a_victim() {
    let mut lab = Lab::new();
    for _ in 0..60 {
        delayed(&mut lab, 1, 150_000);
        delayed(&mut lab, 2, 150_000);
    }
    delayed(&mut lab, 3, 400_000);
    delayed(&mut lab, 1, 900);

    let events = lab.events(EventKind::Culprits);

    let culprits = culprits(&events[0]);
    let named: Vec<_> = culprits.culprits.iter().map(|culprit| culprit.flow).collect();
    assert_eq!(named, [flow(1), flow(2)]);
    assert_eq!(culprits.victims.iter().map(|victim| victim.flow).collect::<Vec<_>>(), [flow(3)]);
    assert_eq!((culprits.residence, culprits.coverage_permille), (Nanos(400_000), None));
}

#[test]
fn coverage_is_stated_where_the_rate_of_the_link_is_known() {
    // A packet is 36 bytes; ten of them are 2,880 bits, and a link of 14.4 Mbit/s carries 5,760 in 400 microseconds.
    let culprit_settings =
        CulpritSettings { link_bits_per_second: Some(14_400_000), ..CulpritSettings::default() };
    let events = EventSettings { culprits: culprit_settings, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    for _ in 0..10 {
        delayed(&mut lab, 1, 150_000);
    }
    delayed(&mut lab, 2, 400_000);
    delayed(&mut lab, 1, 900);

    assert_eq!(culprits(&lab.events(EventKind::Culprits)[0]).coverage_permille, Some(500));
}

#[test]
fn a_storm_is_one_event_in_place_of_its_bursts() {
    let mut lab = Lab::new();
    for _ in 0..30 {
        delayed(&mut lab, 1, 200_000);
        delayed(&mut lab, 1, 900);
        lab.wait(Nanos::from_millis(20));
    }
    lab.wait(Nanos::from_secs(2));

    assert_eq!(lab.events(EventKind::Microburst).len(), 9);
    assert_eq!(phases(&lab.events(EventKind::MicroburstStorm)), [Phase::Begin, Phase::End]);
}

#[test]
fn bursts_close_to_one_another_are_one() {
    let mut lab = Lab::new();
    for gap in [100, 5_000] {
        delayed(&mut lab, 1, 200_000);
        lab.wait(Nanos::from_micros(gap));
        delayed(&mut lab, 1, 200_000);
        lab.wait(Nanos::from_millis(20));
    }

    let bursts = lab.events(EventKind::Microburst);

    assert_eq!(bursts.iter().map(|event| event.count).collect::<Vec<_>>(), [2, 1, 1]);
}

// --- latencies

#[test]
fn a_spike_is_over_with_five_calm_packets_and_told_so_after_a_second_of_calm() {
    let mut lab = Lab::new();
    spike(&mut lab, &[&[900; 100][..], &[42_000; 4], &[900; 5]].concat());
    let begins = lab.events(EventKind::LatencySpike);
    let over_at = lab.now;
    lab.wait(Nanos::from_secs(1));

    let ends = lab.events(EventKind::LatencySpike);

    assert_eq!((phases(&begins), phases(&ends)), (vec![Phase::Begin], vec![Phase::End]));
    assert_eq!((begins[0].count, ends[0].count), (3, 4));
    assert_eq!(begins[0].id(), ends[0].id());
    assert!(ends[0].last <= over_at);
}

#[test]
fn spikes_that_follow_each_other_are_told_as_one() {
    let mut lab = Lab::new();
    spike(&mut lab, &[900; 100]);
    for peak in [42_000, 90_000, 50_000] {
        spike(&mut lab, &[peak; 4]);
        spike(&mut lab, &[900; 9]);
        lab.wait(Nanos::from_millis(900));
    }
    assert_eq!(phases(&lab.events(EventKind::LatencySpike)), [Phase::Begin]);
    lab.wait(Nanos::from_millis(200));

    let ends = lab.events(EventKind::LatencySpike);
    assert_eq!((phases(&ends), ends[0].count), (vec![Phase::End], 12));
    let EventDetail::LatencySpike(detail) = &ends[0].detail else { panic!("a spike") };
    assert_eq!((detail.episodes, detail.latency), (3, Nanos(90_000)));

    spike(&mut lab, &[42_000; 4]);
    let begins = lab.events(EventKind::LatencySpike);
    assert_eq!((phases(&begins), begins[0].count), (vec![Phase::Begin], 3));
}

#[test]
fn a_spike_goes_on_until_nothing_is_reported_for_a_minute() {
    let mut lab = Lab::new();
    spike(&mut lab, &[900; 100]);
    for _ in 0..20 {
        spike(&mut lab, &[42_000; 4]);
        lab.wait(Nanos::from_secs(2));
    }
    assert_eq!(phases(&lab.events(EventKind::LatencySpike)), [Phase::Begin]);
    lab.wait(Nanos::from_secs(60));

    let ends = lab.events(EventKind::LatencySpike);
    assert_eq!((phases(&ends), ends[0].count), (vec![Phase::End], 77));
}

#[test]
fn changes_of_latency_are_one_event_of_the_interface_until_they_stop() {
    let mut lab = Lab::new();
    for round in 0..20 {
        delayed(&mut lab, 1, 900 + round % 2 * 1_000);
        lab.wait(Nanos::from_secs(2));
    }
    assert_eq!(phases(&lab.events(EventKind::LatencyChange)), [Phase::Begin]);

    lab.wait(Nanos::from_secs(60));

    let ends = lab.events(EventKind::LatencyChange);
    assert_eq!((phases(&ends), ends[0].count), (vec![Phase::End], 19));
}

#[test]
fn buckets_replace_the_quantum() {
    let latency_change = inband_collector::LatencyChangeSettings {
        buckets_ns: vec![5_000, 10_000],
        ..inband_collector::LatencyChangeSettings::default()
    };
    let events = EventSettings { latency_change, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    delayed(&mut lab, 1, 900);
    lab.wait(Nanos::from_secs(2));
    delayed(&mut lab, 1, 4_999);
    assert_eq!(lab.events(EventKind::LatencyChange), []);

    delayed(&mut lab, 1, 5_000);

    assert_eq!(lab.events(EventKind::LatencyChange).len(), 1);
}

// --- paths and links

#[test]
fn the_same_packet_at_a_node_again_with_a_smaller_ttl_is_a_loop() {
    let mut lab = Lab::new();
    for (node_id, ttl, checksum) in [(1, 64, 7), (5, 63, 7), (5, 61, 7)] {
        identified(&mut lab, node_id, ttl, checksum, hop(node_id, 900, 0));
    }

    let events = lab.events(EventKind::Loop);

    let EventDetail::Loop(Loop { node_id, support, .. }) = &events[0].detail else { panic!("a loop") };
    assert_eq!((node_id.0, support.as_slice()), (5, &[LoopSupport::SmallerTtl][..]));
    assert_eq!(phases(&events), [Phase::Begin]);
}

#[test]
fn another_packet_or_the_same_ttl_is_no_loop() {
    let mut lab = Lab::new();
    // Another checksum, the same TTL again, and no checksum at all.
    for (ttl, checksum) in [(63, 7), (61, 8), (61, 8), (60, 0), (59, 0)] {
        identified(&mut lab, 5, ttl, checksum, hop(5, 900, 0));
    }

    assert_eq!(lab.events(EventKind::Loop), []);
}

#[test]
fn a_packet_whose_ttl_ran_out_supports_a_loop() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    // Reason 26: the TTL is zero.
    drop_report(&mut lab, 1, 26);
    let hairpin =
        MdPacket::new(&[hop(1, 9, 0), hop_via(5, 3, 4, 9, 0), hop(6, 9, 0), hop_via(5, 7, 8, 9, 0)]);
    lab.report(2, &sink_report(&hairpin.bytes()));

    let events = lab.events(EventKind::Loop);

    let EventDetail::Loop(detail) = &events[0].detail else { panic!("a loop") };
    assert_eq!(
        (detail.support.as_slice(), events[0].severity),
        (&[LoopSupport::TtlZeroDrop][..], Severity::Critical)
    );
}

#[test]
fn a_link_latency_says_how_wrong_its_clocks_may_make_it() {
    let mut lab = Lab::new();
    // The clock of node 2 is 300 ns ahead: what takes 500 ns each way looks like 800 and 200.
    for (from, to, link_ns) in [(1, 2, 800), (2, 1, 200), (1, 2, 900), (2, 1, 250)] {
        timed(&mut lab, (from, to), link_ns);
        timed(&mut lab, (from, to), link_ns);
    }

    let links: Vec<_> = lab.collector.topology().links;

    let forth = links.iter().find(|link| link.from.0 == 1).expect("a link");
    let latency = forth.latency.expect("timestamps");
    assert_eq!((latency.min, forth.clock_uncertainty), (Nanos(800), Some(Nanos(500))));
    assert!(latency.min.0 - 500 <= forth.clock_uncertainty.map_or(0, |span| span.0), "the truth is within");
}

#[test]
fn a_link_of_one_direction_may_be_wrong_by_any_amount() {
    let mut lab = Lab::new();
    for _ in 0..3 {
        timed(&mut lab, (1, 2), 800);
    }

    let link = lab.collector.links().next().expect("a link");

    assert_eq!((link.latency.map(|latency| latency.count), link.clock_uncertainty), (Some(2), None));
}

#[test]
fn reports_of_single_nodes_time_a_link_only_when_they_are_about_the_same_packet() {
    let mut lab = Lab::new();
    let at = |node_id, came_at| HopMetadata {
        ingress_timestamp: Some(came_at),
        egress_timestamp: Some(came_at + 100),
        ..hop(node_id, 100, 0)
    };
    for (checksum, came_at) in [(7, 1_000), (8, 5_000)] {
        identified(&mut lab, 1, 64, checksum, at(1, came_at));
        identified(&mut lab, 5, 63, checksum, at(5, came_at + 700));
        lab.wait(Nanos::from_secs(2));
    }
    // Another packet than the last of node 1.
    identified(&mut lab, 5, 63, 9, at(5, 99_000));

    let link = lab.collector.links().next().expect("a link");

    let latency = link.latency.expect("one packet");
    assert_eq!((latency.count, latency.last), (1, Nanos(600)));
}

#[test]
fn a_path_is_complete_between_edges_where_edges_are_named() {
    let complete = |edges: &[(u32, u16)]| {
        let edges =
            edges.iter().map(|(node, interface)| EdgeInterface { node: *node, interface: *interface });
        let paths = PathSettings { edges: edges.collect(), ..PathSettings::default() };
        let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
        lab.only_flow().complete
    };

    assert!(complete(&[]));
    assert!(complete(&[(1, 1), (2, 2)]));
    assert!(!complete(&[(1, 1)]) && !complete(&[(2, 2), (1, 2)]));
}

// --- helpers

fn postcards(lab: &mut Lab, nodes: &[(u32, u8)]) {
    for (node_id, ttl) in nodes {
        lab.report(*node_id, &node_report(&plain_packet(&flow(1), *ttl), hop(*node_id, 900, 0)));
    }
}

fn drop_report(lab: &mut Lab, number: u32, reason: u8) {
    drop_of_queue(lab, number, reason, 3);
}

fn drop_of_queue(lab: &mut Lab, number: u32, reason: u8, queue_id: u8) {
    let packet = plain_packet(&flow(number), 64);
    let drop = Some(Drop { queue_id, reason });
    lab.report(5, &dropped(&node_report(&packet, HopMetadata { queue: None, ..hop(5, 900, 0) }), drop));
}

/// A route is missing at node 5 for a packet with this TTL.
fn drop_report_at(lab: &mut Lab, ttl: u8) {
    let packet = plain_packet(&flow(1), ttl);
    lab.report(5, &dropped(&node_report(&packet, hop(5, 900, 0)), Some(Drop { queue_id: 0, reason: 29 })));
}

/// The drop summary of packets between source and sink, by these interfaces of theirs.
fn drop_summary([source, sink]: [u32; 2], [ingress, egress]: [u16; 2], count: u32) -> Vec<u8> {
    let gap = Gap { seen_at_s: 1_700_000_000, sequence: 41, count };
    DropSummary::new(source, sink, ingress, egress, gap).as_bytes().to_vec()
}

/// A report of node 5 with domain-specific metadata, as it tells of packets it did not see or does not show.
fn summary(lab: &mut Lab, domain: u16, metadata: &[u8]) {
    let packet = plain_packet(&flow(1), 0);
    let report = node_report(&packet, HopMetadata::default());
    let instructions = Instructions::default();
    let domain = Some((domain, 0x8000, metadata));
    lab.report(5, &Draft { dropped: true, tracked_flow: true, instructions, domain, ..report });
}

fn dropped<'a>(draft: &Draft<'a>, drop: Option<Drop>) -> Draft<'a> {
    Draft { dropped: true, tracked_flow: false, instructions: Instructions(0xfc01), drop, ..*draft }
}

/// A report of node 5 on a packet that was so long in queue 0.
fn delayed(lab: &mut Lab, number: u32, latency: u32) {
    lab.report(5, &node_report(&plain_packet(&flow(number), 64), hop(5, latency, 9)));
}

/// Packets that each stayed so long.
fn spike(lab: &mut Lab, latencies: &[u32]) {
    for latency in latencies {
        delayed(lab, 1, *latency);
    }
}

/// A report on a packet that can be told from others by its checksum, unless that is 0.
fn identified(lab: &mut Lab, node_id: u32, ttl: u8, checksum: u8, metadata: HopMetadata) {
    let mut packet = plain_packet(&flow(1), ttl);
    packet[27] = checksum;
    lab.report(node_id, &node_report(&packet, metadata));
}

/// A packet from one node to the other, which took so long by their clocks.
fn timed(lab: &mut Lab, (from, to): (u32, u32), link_ns: u64) {
    let stamped = |metadata, came_at| HopMetadata {
        ingress_timestamp: Some(came_at),
        egress_timestamp: Some(came_at + 100),
        ..metadata
    };
    let hops =
        [stamped(hop_via(from, 9, 2, 100, 0), 10_000), stamped(hop_via(to, 2, 9, 100, 0), 10_100 + link_ns)];
    let packet =
        MdPacket { flow: flow(from), instructions: Instructions(0xfc00), ..MdPacket::new(&hops) }.bytes();
    lab.report(to, &sink_report(&packet));
}

fn phases(events: &[Event]) -> Vec<Phase> {
    events.iter().map(|event| event.phase).collect()
}

fn drops(events: &[Event]) -> Vec<&DropDetail> {
    let details = events.iter().map(|event| match &event.detail {
        EventDetail::Drop(drop) => drop,
        other => panic!("not a drop: {other:?}"),
    });
    details.collect()
}

fn culprits(event: &Event) -> &Culprits {
    match &event.detail {
        EventDetail::Culprits(culprits) => culprits,
        other => panic!("no culprits: {other:?}"),
    }
}
