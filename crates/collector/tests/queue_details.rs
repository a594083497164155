//! Details of events of queues and latencies, and when they end.

mod support;

use inband_collector::{CollectorSettings, CongestionSettings, CulpritSettings, EventSettings};
use inband_model::{
    Confidence, CulpritPattern, Culprits, EndReason, Event, EventDetail, EventKind, Nanos, Phase,
};
use inband_wire::int::{HopMetadata, Instructions};
use inband_wire::report::Draft;

use support::{Lab, datagram, flow, hop, node_report, phases, plain_packet};

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
    // A packet is 36 bytes; ten of them are 2,880 bits, and a link of 14.4 Mbit/s carries 5,760 in 400
    // microseconds.
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
        queue_report(&mut lab, 200_000);
        lab.wait(Nanos::from_micros(gap));
        queue_report(&mut lab, 200_000);
        lab.wait(Nanos::from_millis(20));
    }

    let bursts = lab.events(EventKind::Microburst);

    assert_eq!(bursts.iter().map(|event| event.count).collect::<Vec<_>>(), [2, 1, 1]);
}

#[test]
fn congestion_in_every_report_of_a_sample_is_no_microburst() {
    for utilization in [None, Some(1_000)] {
        // The reports are closer than the quiet time of an episode, or further apart.
        for gap_ms in [5, 20] {
            let mut lab = Lab::new();
            for _ in 0..200 {
                delayed_with(&mut lab, 500_000, utilization);
                lab.wait(Nanos::from_millis(gap_ms));
            }
            delayed_with(&mut lab, 900, utilization);
            lab.wait(Nanos::from_secs(3));

            assert!(!lab.events(EventKind::QueueCongestion).is_empty());
            assert_eq!(lab.events(EventKind::Microburst), [], "{gap_ms} ms");
            assert_eq!(lab.events(EventKind::MicroburstStorm), [], "{gap_ms} ms");
        }
    }
}

#[test]
fn a_storm_is_probable_with_the_utilization_of_its_interface_and_possible_without() {
    for (utilization, confidence) in [(None, Confidence::Possible), (Some(1_000), Confidence::Probable)] {
        let mut lab = Lab::new();
        for _ in 0..12 {
            delayed_with(&mut lab, 200_000, utilization);
            delayed_with(&mut lab, 900, utilization);
            lab.wait(Nanos::from_millis(20));
        }

        assert_eq!(lab.events(EventKind::MicroburstStorm)[0].confidence, confidence);
    }
}

#[test]
fn a_latency_objective_is_judged_by_the_reports_of_its_window_alone() {
    let mut lab = Lab::new();
    let late = |lab: &mut Lab| {
        for _ in 0..10 {
            delayed(lab, 1, 6_000_000);
        }
    };
    late(&mut lab);
    for _ in 0..4 {
        lab.wait(Nanos::from_secs(15));
        delayed(&mut lab, 1, 900);
    }
    lab.wait(Nanos::from_secs(15));
    late(&mut lab);

    // The window has 14 reports, fewer than are judged; those before it were as many.
    assert_eq!(lab.events(EventKind::LatencyObjective), []);
    late(&mut lab);
    assert_eq!(lab.events(EventKind::LatencyObjective).len(), 1);
}

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
    assert_eq!((phases(&ends), ends[0].count), (vec![Phase::End], 80));
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

#[test]
fn a_latency_has_changed_when_it_differs_by_more_than_the_least_change() {
    for (latencies, changes) in [(&[1_023, 1_024, 1_023][..], 0), (&[1_000, 1_256], 0), (&[1_000, 1_257], 1)]
    {
        let mut lab = Lab::new();
        delayed(&mut lab, 1, latencies[0]);
        lab.wait(Nanos::from_secs(2));
        for latency in latencies {
            delayed(&mut lab, 1, *latency);
        }
        assert_eq!(lab.events(EventKind::LatencyChange).len(), changes, "{latencies:?}");
    }
}

#[test]
fn a_quantum_takes_the_place_of_the_least_change() {
    let latency_change = inband_collector::LatencyChangeSettings {
        quantum_ns: Some(300),
        ..inband_collector::LatencyChangeSettings::default()
    };
    let events = EventSettings { latency_change, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    delayed(&mut lab, 1, 1_023);
    lab.wait(Nanos::from_secs(2));

    delayed(&mut lab, 1, 1_024);

    assert_eq!(lab.events(EventKind::LatencyChange).len(), 1);
}

#[test]
fn a_burst_whose_reports_are_cut_short_by_the_quota_is_no_microburst() {
    for (quota, bursts) in [(3, 0), (4, 1)] {
        let congestion = CongestionSettings { quota, ..CongestionSettings::default() };
        let mut lab = congested(congestion, 3);
        lab.wait(Nanos::from_millis(20));
        assert_eq!(lab.events(EventKind::Microburst).len(), bursts, "{quota}");
    }
}

#[test]
fn a_queue_that_bursts_again_and_again_has_its_quota_anew_each_time() {
    let congestion = CongestionSettings { quota: 5, ..CongestionSettings::default() };
    let mut lab = congested(congestion, 3);
    let packet = plain_packet(&flow(1), 64);
    for _ in 0..30 {
        lab.wait(Nanos::from_millis(60));
        for _ in 0..3 {
            lab.report(5, &Draft { congested_queue: true, ..node_report(&packet, hop(5, 900, 9)) });
        }
    }
    assert_eq!(phases(&lab.events(EventKind::MicroburstStorm)), [Phase::Begin]);
    let storms = lab.collector.active_events().filter(|view| view.event.kind() == EventKind::MicroburstStorm);
    assert_eq!(storms.count(), 1);
}

#[test]
fn an_episode_that_ends_by_silence_says_so() {
    let mut lab = congested(CongestionSettings::default(), 3);
    lab.wait(Nanos::from_millis(20));
    let ends = lab.events(EventKind::QueueCongestion);
    assert_eq!(ends.last().and_then(|event| event.end_reason), Some(EndReason::Quiet));

    delayed(&mut lab, 1, 200_000);
    delayed(&mut lab, 1, 900);

    let ends = lab.events(EventKind::QueueCongestion);
    assert_eq!(ends.last().and_then(|event| event.end_reason), Some(EndReason::Over));
}

#[test]
fn reports_after_the_quiet_time_begin_another_episode_although_nothing_was_due_in_between() {
    let mut lab = congested(CongestionSettings::default(), 1);
    // As in a capture, no timer runs between two packets.
    lab.now = lab.now + Nanos::from_millis(15);
    let packet = plain_packet(&flow(1), 64);
    lab.report(5, &Draft { congested_queue: true, ..node_report(&packet, hop(5, 900, 9)) });

    let events = lab.events(EventKind::QueueCongestion);
    assert_eq!(phases(&events), [Phase::Begin, Phase::End, Phase::Begin]);
}

#[test]
fn packets_of_one_datagram_are_culprits_and_dropped_ones_are_not() {
    let mut lab = Lab::new();
    let packets: Vec<_> = (1..=3).map(|number| plain_packet(&flow(number), 64)).collect();
    let first = node_report(&packets[0], hop(5, 150_000, 9));
    let worst = node_report(&packets[1], hop(5, 400_000, 9));
    let dropped = Draft { dropped: true, congested_queue: true, ..node_report(&packets[2], hop(5, 0, 9)) };
    let mut drafts = vec![&first; 5];
    drafts.extend([&dropped; 20]);
    drafts.push(&worst);
    lab.datagram(&datagram(5, 1, &drafts));
    lab.wait(Nanos::from_millis(20));

    let events = lab.events(EventKind::Culprits);

    let culprits = culprits(&events[0]);
    assert_eq!(culprits.culprits.iter().map(|culprit| culprit.flow).collect::<Vec<_>>(), [flow(1)]);
    assert_eq!(culprits.reported_packets, 5);
}

/// Queue reports of node 5 that follow each other within microseconds.
fn congested(queue_congestion: CongestionSettings, reports: usize) -> Lab {
    let events = EventSettings { queue_congestion, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    let packet = plain_packet(&flow(1), 64);
    for _ in 0..reports {
        lab.report(5, &Draft { congested_queue: true, ..node_report(&packet, hop(5, 900, 9)) });
    }
    lab
}

fn delayed(lab: &mut Lab, number: u32, latency: u32) {
    lab.report(5, &node_report(&plain_packet(&flow(number), 64), hop(5, latency, 9)));
}

/// A report of node 5 with Q set.
fn queue_report(lab: &mut Lab, latency: u32) {
    let packet = plain_packet(&flow(1), 64);
    lab.report(5, &Draft { congested_queue: true, ..node_report(&packet, hop(5, latency, 9)) });
}

/// A report of node 5 with the utilization of its link, if given.
fn delayed_with(lab: &mut Lab, latency: u32, utilization: Option<u32>) {
    let packet = plain_packet(&flow(1), 64);
    let metadata = HopMetadata { egress_utilization: utilization, ..hop(5, latency, 9) };
    let instructions = Instructions(if utilization.is_some() { 0xfd00 } else { 0xfc00 });
    lab.report(5, &Draft { instructions, ..node_report(&packet, metadata) });
}

fn spike(lab: &mut Lab, latencies: &[u32]) {
    for latency in latencies {
        delayed(lab, 1, *latency);
    }
}

fn culprits(event: &Event) -> &Culprits {
    match &event.detail {
        EventDetail::Culprits(culprits) => culprits,
        other => panic!("no culprits: {other:?}"),
    }
}
