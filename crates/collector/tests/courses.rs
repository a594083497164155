//! The course of every kind of event: even with the smallest settings, a persistent cause is one active
//! event.

mod support;

use inband_collector::{
    BalanceSettings, ClockSettings, CollectorSettings, CongestionSettings, CulpritSettings, DropSettings,
    EgressUtilizationSettings, EventSettings, HealthSettings, LatencyChangeSettings,
    LatencyObjectiveSettings, LoopSettings, LossSettings, MicroburstSettings, NewFlowSettings,
    NumberSettings, PathRule, PathSettings, SilentLossSettings, SpikeSettings,
};
use inband_model::{EndReason, Event, EventKind, Nanos, Phase};
use inband_wire::Words;
use inband_wire::int::shim::Shim;
use inband_wire::int::{HopMetadata, Instructions, MxHeader};
use inband_wire::report::{Draft, Drop};
use zerocopy::IntoBytes;

use support::{
    INSTRUCTIONS, Lab, MdPacket, datagram, dropped, flow, hop, hop_via, hops, node_report, packet,
    plain_packet, sender, session, sink_report,
};

/// The input of one step of 200 ms.
type Cause = fn(&mut Lab, u32);

/// The kinds with a course, and their cause in each step.
const COURSES: &[(EventKind, Cause)] = &[
    (EventKind::ReportLoss, every_third_report_is_lost),
    (EventKind::SequenceGap, every_third_number_is_missing),
    (EventKind::Loop, a_packet_loops),
    (EventKind::PathPolicy, a_flow_takes_a_forbidden_path_now_and_then),
    (EventKind::LatencyChange, the_latency_jumps),
    (EventKind::LatencySpike, the_latency_spikes),
    (EventKind::LatencyObjective, packets_are_late),
    (EventKind::MicroburstStorm, a_queue_fills_for_a_moment),
    (EventKind::Drop, a_packet_is_dropped),
    (EventKind::SilentLoss, flows_stop_at_a_link),
    (EventKind::EgressUtilization, a_link_is_nearly_full),
    (EventKind::EcmpImbalance, one_of_two_links_carries_all),
    (EventKind::NegativeLinkLatency, a_packet_arrives_before_it_is_sent),
    (EventKind::ClockDrift, a_clock_runs_fast),
    (EventKind::DuplicateNodeId, two_senders_take_turns),
    (EventKind::UnknownNode, a_stranger_reports),
    (EventKind::ReportAboutReport, a_report_is_reported),
];

/// The kinds without a course, or whose course is ended by their own state; their tests are elsewhere.
const OTHERS: &[EventKind] = &[
    EventKind::SequenceReset,
    EventKind::NewFlow,
    EventKind::PathChange,
    EventKind::Microburst,
    EventKind::Culprits,
    EventKind::QueueCongestion,
    EventKind::HistoryTrouble,
];

/// The kinds of [`OTHERS`] with settings, and their cause, or the lack of it, in each step. With the smallest
/// settings every microburst is part of a storm.
const MOMENTS: &[(EventKind, Cause)] = &[
    (EventKind::NewFlow, flows_appear),
    (EventKind::PathChange, a_flow_takes_turns_between_paths),
    (EventKind::Culprits, flows_share_a_queue),
    (EventKind::QueueCongestion, flows_share_a_queue),
];

#[test]
fn every_kind_is_in_one_of_the_lists() {
    let listed = COURSES.iter().map(|(kind, _)| kind).chain(OTHERS);
    let missing: Vec<_> =
        EventKind::ALL.iter().filter(|kind| !listed.clone().any(|listed| listed == *kind)).collect();

    assert_eq!(missing, Vec::<&EventKind>::new());
}

#[test]
fn a_cause_that_goes_on_is_one_event_with_the_smallest_settings() {
    for (kind, cause) in COURSES {
        let events = course(smallest(), *kind, *cause);

        assert_eq!(phases(&events), [Phase::Begin, Phase::End], "{kind}: {events:#?}");
        let end = &events[1];
        assert!(end.last.since(events[0].first) >= Nanos::from_secs(15), "{kind}: {events:#?}");
        assert!(end.count > 1, "{kind}: {end:#?}");
        assert_ne!(end.end_reason, Some(EndReason::RunEnded), "{kind}");
    }
}

#[test]
fn what_happens_now_and_then_is_announced_with_the_smallest_settings_and_ends() {
    for (kind, cause) in MOMENTS {
        let events = course(smallest(), *kind, *cause);

        let of = |phase: Phase| events.iter().filter(|event| event.phase == phase).count();
        assert!((1..=400).contains(&events.len()), "{kind}: {} events", events.len());
        assert_eq!(of(Phase::Begin), of(Phase::End), "{kind}: {events:#?}");
    }
}

#[test]
fn a_cause_that_goes_on_is_one_event_with_the_settings_as_they_are() {
    for (kind, cause) in COURSES {
        let events = course(defaults(), *kind, *cause);

        // Some need more than these forty seconds to begin, or to end.
        assert!(phases(&events).len() <= 2, "{kind}: {events:#?}");
    }
}

#[test]
fn the_end_of_an_event_counts_all_its_signs_up_to_the_last() {
    // A hundred reports in a tenth of a second, of which only the first is announced. The first packet over a
    // link makes it known. A stranger is seen as the sender and as a hop. From the fourth change of address
    // on, there are two senders, and not one that moves.
    let bursts: [(EventKind, Cause, u64); 6] = [
        (EventKind::Loop, a_packet_loops, 100),
        (EventKind::LatencyChange, one_latency_jumps, 100),
        (EventKind::NegativeLinkLatency, a_packet_arrives_before_it_is_sent, 99),
        (EventKind::DuplicateNodeId, two_senders_take_turns, 97),
        (EventKind::UnknownNode, a_stranger_reports, 200),
        (EventKind::ReportAboutReport, a_report_is_reported, 100),
    ];
    for (kind, cause, count) in bursts {
        for is_cut_short in [false, true] {
            let mut lab = Lab::with(CollectorSettings { events: defaults(), ..CollectorSettings::default() });
            report_of(&mut lab, 900);
            lab.wait(Nanos::from_secs(2));
            for step in 0..100 {
                cause(&mut lab, step);
                lab.wait(Nanos::from_millis(1));
            }
            let last = Nanos(lab.now.0 - 1_000_000);
            if is_cut_short {
                lab.collector.finish(lab.now);
                lab.drain();
            } else {
                lab.wait(Nanos::from_secs(100));
            }

            let events = lab.events(kind);
            assert_eq!(phases(&events), [Phase::Begin, Phase::End], "{kind}: {events:#?}");
            assert_eq!(events[1].count, count, "{kind}");
            assert_eq!(events[1].last, if is_cut_short { lab.now } else { last }, "{kind}");
        }
    }
}

#[test]
fn an_active_event_is_shown_with_its_latest_signs_within_a_second() {
    let mut lab = Lab::new();
    for step in 0..50 {
        a_packet_loops(&mut lab, step);
    }
    let last = lab.now;
    lab.wait(Nanos::from_secs(3));

    let active = lab.collector.active_events().find(|view| view.event.kind() == EventKind::Loop);
    let event = &active.expect("it goes on").event;
    assert_eq!((event.count, event.last), (50, last));
}

#[test]
fn a_queue_that_is_congested_all_the_time_is_told_as_one_from_the_fourth_episode_on() {
    let events = course(smallest(), EventKind::QueueCongestion, packets_are_late);

    let begins = events.iter().filter(|event| event.phase == Phase::Begin).count();
    assert!(begins <= 4, "{begins}: {events:#?}");
    assert!(events.last().is_some_and(|event| event.phase == Phase::End), "{events:#?}");
}

#[test]
fn a_loop_goes_on_while_the_packets_of_the_flow_loop() {
    let mut lab = Lab::new();
    let looping = MdPacket::new(&hops(&[5, 6, 7, 6, 7])).bytes();
    for _ in 0..500 {
        lab.report(7, &sink_report(&looping));
        lab.wait(Nanos::from_millis(200));
    }
    let begun = lab.events(EventKind::Loop);
    assert_eq!(phases(&begun), [Phase::Begin]);
    let view =
        lab.collector.active_events().find(|view| view.event.kind() == EventKind::Loop).expect("it goes on");
    assert!((490..=500).contains(&view.event.count), "{}", view.event.count);
    assert!(lab.now.since(view.event.last) < Nanos::from_secs(2));

    // The packets go straight on.
    let straight = MdPacket::new(&hops(&[5, 6, 7])).bytes();
    for _ in 0..310 {
        lab.report(7, &sink_report(&straight));
        lab.wait(Nanos::from_millis(200));
    }

    let ended = lab.events(EventKind::Loop);
    assert_eq!(phases(&ended), [Phase::End]);
    assert_eq!((ended[0].id(), ended[0].end_reason), (begun[0].id(), Some(EndReason::Quiet)));
}

#[test]
fn a_link_that_stays_dead_is_suspected_until_flows_pass_it_again() {
    let mut lab = Lab::new();
    let pass = |lab: &mut Lab, is_dead: bool| {
        for (node, ttl) in [(1, 64), (11, 63), (2, 62)] {
            for number in 1..=4 {
                if node != 2 || !is_dead {
                    lab.report(node, &node_report(&plain_packet(&flow(number), ttl), hop(node, 900, 0)));
                }
            }
        }
        lab.wait(Nanos(1 << 29));
    };
    for _ in 0..20 {
        pass(&mut lab, false);
    }
    // Five minutes: five times the window after which the event of a flow that has gone ends.
    for _ in 0..560 {
        pass(&mut lab, true);
    }
    assert_eq!(phases(&lab.events(EventKind::SilentLoss)), [Phase::Begin]);
    let active = lab.collector.active_events().find(|view| view.event.kind() == EventKind::SilentLoss);
    let event = &active.expect("the link is dead").event;
    assert!(lab.now.since(event.last) < Nanos::from_secs(2), "{event:#?}");
    assert_eq!(event.count, 4, "{event:#?}");

    for _ in 0..20 {
        pass(&mut lab, false);
    }

    let ended = lab.events(EventKind::SilentLoss);
    assert_eq!(phases(&ended), [Phase::End]);
    assert_eq!(ended[0].end_reason, Some(EndReason::Over));
}

#[test]
fn a_dead_link_that_flows_no_longer_use_ends_by_silence() {
    let mut lab = Lab::new();
    let pass = |lab: &mut Lab, nodes: &[(u32, u8)]| {
        for &(node, ttl) in nodes {
            for number in 1..=4 {
                lab.report(node, &node_report(&plain_packet(&flow(number), ttl), hop(node, 900, 0)));
            }
        }
        lab.wait(Nanos(1 << 29));
    };
    for _ in 0..20 {
        pass(&mut lab, &[(1, 64), (11, 63), (2, 62)]);
    }
    for _ in 0..20 {
        pass(&mut lab, &[(1, 64), (11, 63)]);
    }
    // Routing has noticed it.
    for _ in 0..200 {
        pass(&mut lab, &[(1, 64), (12, 63), (2, 62)]);
    }

    let events = lab.events(EventKind::SilentLoss);
    assert_eq!(phases(&events), [Phase::Begin, Phase::End]);
    assert_eq!(events[1].end_reason, Some(EndReason::Quiet));
}

#[test]
fn events_that_go_on_when_the_collector_ends_get_an_end() {
    let mut lab = Lab::new();
    a_packet_loops(&mut lab, 0);
    assert_eq!(phases(&lab.events(EventKind::Loop)), [Phase::Begin]);

    lab.now = lab.now + Nanos::from_secs(1);
    lab.collector.finish(lab.now);
    lab.drain();

    let ended = lab.events(EventKind::Loop);
    assert_eq!(phases(&ended), [Phase::End]);
    assert_eq!((ended[0].end_reason, ended[0].last), (Some(EndReason::RunEnded), lab.now));
    assert_eq!(lab.collector.active_events().count(), 0);
}

/// The events of a kind while its cause persists for forty seconds, and until long after.
fn course(events: EventSettings, kind: EventKind, cause: Cause) -> Vec<Event> {
    let paths = PathSettings { flow_idle_s: 600, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, paths, ..CollectorSettings::default() });
    for step in 0..200 {
        let begun = lab.now;
        cause(&mut lab, step);
        let passed = lab.now.since(begun);
        lab.wait(Nanos(Nanos::from_millis(200).0.saturating_sub(passed.0)));
    }
    lab.wait(Nanos::from_secs(200));
    // A rule counts as complied with when a report shows it.
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    lab.wait(Nanos::from_secs(200));
    let mut events = lab.events(kind);
    let key = events.first().map(|event| event.key.clone());
    // That last report may be a sign of something else.
    events.retain(|event| Some(&event.key) == key.as_ref());
    events
}

fn defaults() -> EventSettings {
    EventSettings {
        path_policy: vec![PathRule {
            name: "not by 12".into(),
            forbid_nodes: vec![12],
            ..PathRule::default()
        }],
        sequence_gap: NumberSettings { domain: Some(0x5453), ..NumberSettings::default() },
        health: HealthSettings { known_nodes: vec![1, 2, 3, 5, 11, 12], ..HealthSettings::default() },
        ..EventSettings::default()
    }
}

/// Every time and every bound at its minimum.
fn smallest() -> EventSettings {
    let EventSettings { path_policy, sequence_gap, health, .. } = defaults();
    EventSettings {
        report_loss: LossSettings { share_ppm: 0, window_s: 0 },
        sequence_gap: NumberSettings { confirm_after_ms: 0, quiet_s: 0, ..sequence_gap },
        loops: LoopSettings { quiet_s: 0, ..LoopSettings::default() },
        path_policy,
        latency_change: LatencyChangeSettings {
            min_change_ns: 0,
            quiet_s: 0,
            ..LatencyChangeSettings::default()
        },
        latency_spike: SpikeSettings { least_ns: 0, quiet_ms: 0 },
        latency_objective: LatencyObjectiveSettings {
            bound_ns: 0,
            share_permille: 0,
            window_s: 0,
            least_reports: 0,
        },
        queue_congestion: CongestionSettings {
            quiet_ms: 0,
            recurring: 0,
            recurring_quiet_ms: 0,
            quota: 0,
            ..CongestionSettings::default()
        },
        new_flow: NewFlowSettings { per_second: 1 },
        culprits: CulpritSettings {
            least_permille: 0,
            list_permille: 1,
            incast_sources: 0,
            incast_permille: 0,
            elephant_permille: 0,
            victim_permille: 0,
            link_bits_per_second: Some(0),
            max_queues: 1,
        },
        microburst: MicroburstSettings { storm: 0, join_ns: 0, ..MicroburstSettings::default() },
        drop: DropSettings { window_ms: 0, blackhole_after_ns: 0, ..DropSettings::default() },
        silent_loss: SilentLossSettings { flows: 0, window_s: 0, ..SilentLossSettings::default() },
        ecmp_imbalance: BalanceSettings {
            highest_to_mean_permille: 0,
            for_s: 0,
            jain_permille: 0,
            window_s: 0,
            least_packets: 0,
            ..BalanceSettings::default()
        },
        egress_utilization: EgressUtilizationSettings {
            above_permille: 0,
            for_s: 0,
            below_permille: 0,
            full_utilization: 0,
            ..EgressUtilizationSettings::default()
        },
        clock: ClockSettings { drift_ns_per_s: 0, quiet_s: 0, ..ClockSettings::default() },
        health: HealthSettings { address_changes: 0, window_s: 0, ..health },
        ..EventSettings::default()
    }
}

fn phases(events: &[Event]) -> Vec<Phase> {
    events.iter().map(|event| event.phase).collect()
}

fn report_of(lab: &mut Lab, latency: u32) {
    lab.report(5, &node_report(&plain_packet(&flow(1), 64), hop(5, latency, 0)));
}

fn flows_appear(lab: &mut Lab, step: u32) {
    let packet = MdPacket { flow: flow(step), ..MdPacket::new(&hops(&[1, 11, 2])) };
    lab.report(2, &sink_report(&packet.bytes()));
}

fn a_flow_takes_turns_between_paths(lab: &mut Lab, step: u32) {
    // Ten steps are longer than the time that distinguishes a reroute from a move.
    let middle = if step % 40 < 20 { 11 } else { 12 };
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, middle, 2])).bytes()));
}

fn flows_share_a_queue(lab: &mut Lab, _: u32) {
    for (number, latency) in [(1, 150_000), (1, 150_000), (2, 400_000), (1, 900)] {
        let packet = plain_packet(&flow(number), 64);
        lab.report(5, &node_report(&packet, hop(5, latency, 9)));
    }
}

fn flows_stop_at_a_link(lab: &mut Lab, step: u32) {
    let nodes: &[u32] = if step < 50 { &[1, 11, 2] } else { &[1, 11] };
    for (node_id, ttl) in nodes.iter().zip((60..=64).rev()) {
        for number in 1..=3 {
            lab.report(*node_id, &node_report(&plain_packet(&flow(number), ttl), hop(*node_id, 900, 0)));
        }
    }
}

fn every_third_report_is_lost(lab: &mut Lab, step: u32) {
    let packet = plain_packet(&flow(1), 64);
    for number in [1, 2] {
        lab.numbered(5, step * 3 + number, &node_report(&packet, hop(5, 900, 0)));
    }
}

fn every_third_number_is_missing(lab: &mut Lab, step: u32) {
    for number in [1, 2] {
        let mut int = Shim::payload(3, Words::new(4), 0).as_bytes().to_vec();
        let mut header = MxHeader::new(INSTRUCTIONS);
        header.set_domain(0x5453, 0x8000, 0);
        int.extend_from_slice(header.as_bytes());
        int.extend((step * 3 + number).to_be_bytes());
        lab.report(5, &node_report(&packet(&flow(1), 64, 0x17, &int), hop(5, 900, 0)));
    }
}

fn a_packet_loops(lab: &mut Lab, _: u32) {
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 12, 11, 2])).bytes()));
}

fn a_flow_takes_a_forbidden_path_now_and_then(lab: &mut Lab, _: u32) {
    for middle in [12, 11, 12] {
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, middle, 2])).bytes()));
    }
}

fn the_latency_jumps(lab: &mut Lab, step: u32) {
    report_of(lab, 900 + step % 2 * 1_000);
    let stack = [hop(1, 900, 0), hop(5, 900 + step % 2 * 1_000, 0)];
    lab.report(5, &sink_report(&MdPacket::new(&stack).bytes()));
}

fn one_latency_jumps(lab: &mut Lab, step: u32) {
    report_of(lab, 1_900 - step % 2 * 1_000);
}

fn the_latency_spikes(lab: &mut Lab, step: u32) {
    if step == 0 {
        (0..600).for_each(|_| report_of(lab, 900));
    }
    for latency in [90_000, 90_000, 90_000, 900, 900, 900, 900, 900] {
        report_of(lab, latency);
    }
    (0..30).for_each(|_| report_of(lab, 900));
}

fn packets_are_late(lab: &mut Lab, _: u32) {
    (0..5).for_each(|_| report_of(lab, 6_000_000));
}

fn a_queue_fills_for_a_moment(lab: &mut Lab, _: u32) {
    for _ in 0..3 {
        report_of(lab, 150_000);
        report_of(lab, 900);
        lab.wait(Nanos::from_millis(30));
    }
}

fn a_packet_is_dropped(lab: &mut Lab, step: u32) {
    let packet = plain_packet(&flow(step % 3), 64);
    let drop = Some(Drop { queue_id: 0, reason: 80 });
    lab.report(5, &dropped(&node_report(&packet, hop(5, 900, 0)), drop));
}

fn a_link_is_nearly_full(lab: &mut Lab, _: u32) {
    let metadata = HopMetadata { egress_utilization: Some(9_500), ..hop(5, 900, 0) };
    let report = Draft { instructions: Instructions(0xfd00), ..node_report(&[], metadata) };
    let packet = plain_packet(&flow(1), 64);
    lab.report(5, &Draft { inner: &packet, ..report });
}

fn one_of_two_links_carries_all(lab: &mut Lab, step: u32) {
    for packet in 0..40 {
        let egress = if packet == 0 && step.is_multiple_of(2) { 3 } else { 2 };
        let first = hop_via(1, 1, egress, 900, 0);
        let packet = MdPacket {
            flow: flow(u32::from(egress)),
            ..MdPacket::new(&[first, hop(u32::from(egress) + 9, 900, 0), hop(2, 900, 0)])
        };
        lab.report(2, &sink_report(&packet.bytes()));
    }
}

/// A packet over the link from node 1 to node 2, with this latency by their clocks.
fn timed(lab: &mut Lab, link_latency_ns: i64) {
    let sent_at = lab.now.0;
    let came_at = sent_at.saturating_add_signed(link_latency_ns);
    let stamped = |node_id, ingress, egress| HopMetadata {
        ingress_timestamp: Some(ingress),
        egress_timestamp: Some(egress),
        ..hop(node_id, 100, 0)
    };
    let hops = [stamped(1, sent_at - 100, sent_at), stamped(2, came_at, came_at + 100)];
    let packet = MdPacket { instructions: Instructions(0xfc00), ..MdPacket::new(&hops) };
    lab.report(2, &sink_report(&packet.bytes()));
}

fn a_packet_arrives_before_it_is_sent(lab: &mut Lab, step: u32) {
    timed(lab, -400 - i64::from(step) * 400);
}

/// Below zero and drifting: both are announced.
fn a_clock_runs_fast(lab: &mut Lab, step: u32) {
    timed(lab, i64::from(step) * 900 - 90_000);
}

fn two_senders_take_turns(lab: &mut Lab, step: u32) {
    let packet = plain_packet(&flow(1), 64);
    let from =
        std::net::SocketAddr::new([10, 0, 0, u8::try_from(step % 2).expect("0 or 1") + 7].into(), 6_000);
    lab.datagram_from(from, &datagram(5, step, &[&node_report(&packet, hop(5, 900, 0))]));
}

fn a_stranger_reports(lab: &mut Lab, _: u32) {
    lab.report(6, &node_report(&plain_packet(&flow(1), 64), hop(6, 900, 0)));
}

fn a_report_is_reported(lab: &mut Lab, _: u32) {
    let watched = inband_model::Flow {
        source: sender().ip(),
        destination: session().ip(),
        destination_port: session().port(),
        ..flow(1)
    };
    let packet = plain_packet(&watched, 64);
    lab.report(5, &node_report(&packet, hop(5, 900, 0)));
}
