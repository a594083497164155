//! Congestion of queues, and their depth.

mod support;

use inband_collector::{CollectorSettings, CongestionSettings, EventSettings, PortSettings};
use inband_model::{
    Confidence, CongestionPhase, Event, EventDetail, EventKind, Nanos, Phase, QueueCongestion, Severity,
};
use inband_wire::int::{HopMetadata, Queue};
use inband_wire::report::Draft;

use support::{Lab, MdPacket, flow, hop, hop_via, node_report, plain_packet, sink_report};

#[test]
fn latency_at_the_trigger_is_calm_and_above_it_begins_an_episode() {
    let mut lab = Lab::new();
    postcard(&mut lab, 100_000, 0);
    assert_eq!(lab.events(EventKind::QueueCongestion), []);

    postcard(&mut lab, 100_001, 40);

    let events = lab.events(EventKind::QueueCongestion);
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].severity, events[0].confidence), (Severity::Warning, Confidence::Probable));
    assert_eq!(events[0].key, "node 5 egress 2 queue 0");
    let begin = congestion(&events[0]);
    assert_eq!((begin.node_id.0, begin.egress_interface, begin.queue_id), (5, Some(2), Some(0)));
    assert_eq!(begin.phase, CongestionPhase::Begin);
    assert_eq!((begin.peak_latency, begin.peak_occupancy), (Some(Nanos(100_001)), Some(40)));
}

#[test]
fn an_episode_goes_on_at_the_reset_and_ends_below_it() {
    let mut lab = Lab::new();
    postcard(&mut lab, 150_000, 10);
    postcard(&mut lab, 300_000, 70);
    postcard(&mut lab, 50_000, 5);
    assert_eq!(phases(&mut lab), [CongestionPhase::Begin]);

    postcard(&mut lab, 49_999, 0);

    let events = lab.events(EventKind::QueueCongestion);
    let end = congestion(&events[0]);
    assert_eq!(end.phase, CongestionPhase::End);
    assert_eq!((end.peak_latency, end.peak_occupancy), (Some(Nanos(300_000)), Some(70)));
    assert_eq!(events[0].count, 3);
    assert_eq!(events[0].severity, Severity::Info);
    assert_eq!(events[0].evidence.len(), 2);
    assert_eq!(events[0].last.since(events[0].first), Nanos(3_000));
}

#[test]
fn an_episode_without_a_report_ends_after_ten_milliseconds() {
    let mut lab = Lab::new();
    postcard(&mut lab, 150_000, 10);
    lab.wait(Nanos::from_millis(8));
    postcard(&mut lab, 150_000, 10);
    lab.wait(Nanos(9_999_999));
    assert_eq!(phases(&mut lab), [CongestionPhase::Begin]);

    lab.wait(Nanos(1));

    assert_eq!(phases(&mut lab), [CongestionPhase::End]);
    assert_eq!(lab.collector.poll_timeout().map(|due| due > lab.now), Some(true));
}

#[test]
fn a_queue_report_begins_an_episode_that_only_silence_ends() {
    let mut lab = Lab::new();
    queue_report(&mut lab);
    // The node's threshold is not the collector's: a report below ours does not mean that the queue has
    // drained.
    postcard(&mut lab, 900, 1);

    let events = lab.events(EventKind::QueueCongestion);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].confidence, Confidence::Certain);
    lab.wait(Nanos::from_millis(10));
    assert_eq!(phases(&mut lab), [CongestionPhase::End]);
}

#[test]
fn a_q_bit_is_about_the_reporting_node_and_not_about_the_others_on_the_stack() {
    let mut lab = Lab::new();
    let packet = MdPacket::new(&[hop(1, 900, 0), hop(5, 900, 0)]).bytes();

    lab.report(5, &Draft { congested_queue: true, ..sink_report(&packet) });

    let events = lab.events(EventKind::QueueCongestion);
    assert_eq!(events.iter().map(|event| congestion(event).node_id.0).collect::<Vec<_>>(), [5]);
}

#[test]
fn every_hop_on_a_stack_can_be_congested() {
    let mut lab = Lab::new();
    for _ in 0..2 {
        // The first packet makes the path known, the second takes the short one.
        let packet = MdPacket::new(&[hop(1, 900, 0), hop(11, 400_000, 99), hop(5, 900, 0)]).bytes();
        lab.report(5, &sink_report(&packet));
        lab.wait(Nanos::from_millis(20));
    }

    assert_eq!(
        phases(&mut lab),
        [CongestionPhase::Begin, CongestionPhase::End, CongestionPhase::Begin, CongestionPhase::End]
    );
}

#[test]
fn occupancy_counts_where_a_threshold_is_set() {
    let congestion = CongestionSettings { trigger_occupancy: Some(100), ..CongestionSettings::default() };
    let events = EventSettings { queue_congestion: congestion, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    postcard(&mut lab, 900, 100);
    assert_eq!(phases(&mut lab), []);

    postcard(&mut lab, 900, 101);
    postcard(&mut lab, 900, 50);
    assert_eq!(phases(&mut lab), [CongestionPhase::Begin]);
    postcard(&mut lab, 900, 49);

    assert_eq!(phases(&mut lab), [CongestionPhase::End]);
}

#[test]
fn an_episode_that_used_up_the_nodes_quota_is_truncated() {
    let congestion_settings = CongestionSettings { quota: 3, ..CongestionSettings::default() };
    for (reports, truncated) in [(2, false), (3, true)] {
        let events =
            EventSettings { queue_congestion: congestion_settings.clone(), ..EventSettings::default() };
        let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
        for _ in 0..reports {
            queue_report(&mut lab);
        }

        lab.wait(Nanos::from_millis(10));

        let events = lab.events(EventKind::QueueCongestion);
        assert_eq!(congestion(&events[1]).truncated, truncated);
    }
}

#[test]
fn congestion_for_which_there_is_no_room_is_told_once_and_has_no_end() {
    let events = EventSettings { max_active: 1, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    let packet = plain_packet(&flow(1), 64);
    for latency in [500_000, 900] {
        for egress in [2, 3] {
            lab.report(5, &node_report(&packet, hop_via(5, 1, egress, latency, 9)));
        }
    }

    let told: Vec<_> =
        lab.events(EventKind::QueueCongestion).into_iter().map(|event| (event.key, event.phase)).collect();
    let [with_room, without] = ["node 5 egress 2 queue 0", "node 5 egress 3 queue 0"].map(str::to_owned);
    assert_eq!(told, [(with_room.clone(), Phase::Begin), (without, Phase::Once), (with_room, Phase::End)]);
}

#[test]
fn queues_are_kept_apart_and_listed_deepest_first() {
    let mut lab = Lab::new();
    let deep = HopMetadata { queue: Some(Queue { id: 3, occupancy: 70 }), ..hop(1, 900, 0) };
    let packet = MdPacket::new(&[deep, hop_via(1, 1, 9, 900, 20), hop(5, 900, 50)]).bytes();
    lab.report(5, &sink_report(&packet));
    lab.report(5, &sink_report(&MdPacket { flow: flow(2), ..MdPacket::new(&[hop(5, 900, 10)]) }.bytes()));

    let queues = lab.collector.deepest_queues(2);

    let found: Vec<_> = queues
        .iter()
        .map(|queue| (queue.node_id.0, queue.egress_interface, queue.queue_id, queue.last, queue.recent))
        .collect();
    assert_eq!(found, [(1, Some(2), 3, 70, 70), (5, Some(2), 0, 10, 50)]);
}

#[test]
fn the_recent_depth_fades_in_two_seconds_and_the_highest_stays() {
    let mut lab = Lab::new();
    postcard(&mut lab, 900, 80);
    lab.wait(Nanos::from_millis(1_500));
    postcard(&mut lab, 900, 5);
    let depths = |lab: &Lab| {
        let queue = lab.collector.deepest_queues(1)[0];
        (queue.last, queue.recent, queue.max)
    };
    assert_eq!(depths(&lab), (5, 80, 80));

    lab.wait(Nanos::from_millis(1_000));
    lab.collector.handle_timeout(lab.now);
    assert_eq!(depths(&lab), (5, 5, 80));
    lab.wait(Nanos::from_millis(1_000));
    lab.collector.handle_timeout(lab.now);
    assert_eq!(depths(&lab), (5, 0, 80));
}

#[test]
fn latency_is_summed_up_by_node_and_egress_interface() {
    let mut lab = Lab::new();
    for latency in [10, 12, 11] {
        postcard(&mut lab, latency, 0);
    }
    let no_latency = HopMetadata { hop_latency: None, ..hop(6, 0, 0) };
    lab.report(6, &node_report(&plain_packet(&flow(1), 64), no_latency));

    let ports: Vec<_> = lab.collector.ports().filter(|port| port.latency.is_some()).collect();

    assert_eq!(ports.len(), 1);
    assert_eq!((ports[0].node_id.0, ports[0].egress_interface), (5, Some(2)));
    let latency = ports[0].latency.unwrap();
    assert_eq!((latency.count, latency.last), (3, Nanos(11)));
    assert_eq!((latency.min, latency.p50, latency.max), (Nanos(10), Nanos(11), Nanos(12)));
}

#[test]
fn more_ports_and_queues_than_there_is_room_for_are_counted() {
    let ports = PortSettings { max_ports: 1, max_queues: 1 };
    let mut lab = Lab::with(CollectorSettings { ports, ..CollectorSettings::default() });
    let packet = plain_packet(&flow(1), 64);
    lab.report(1, &node_report(&packet, hop(1, 900, 0)));
    lab.report(2, &node_report(&packet, hop(2, 900, 0)));
    let other_queue = HopMetadata { queue: Some(Queue { id: 7, occupancy: 1 }), ..hop(1, 900, 0) };

    lab.report(1, &node_report(&packet, other_queue));

    assert_eq!(lab.collector.overflows().unfollowed_ports, 2);
    assert_eq!(lab.collector.ports().count(), 1);
    assert_eq!(lab.collector.deepest_queues(9).len(), 1);
}

#[test]
fn a_node_that_holds_packets_much_longer_than_it_did_is_announced() {
    let mut lab = Lab::new();
    for _ in 0..100 {
        postcard(&mut lab, 900, 0);
    }

    for _ in 0..4 {
        postcard(&mut lab, 42_000, 0);
    }

    let events = lab.events(EventKind::LatencySpike);
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].key.as_str(), events[0].count), ("node 5 egress 2", 3));
    let EventDetail::LatencySpike(spike) = &events[0].detail else { panic!("a spike") };
    assert_eq!((spike.latency, spike.median), (Nanos(42_000), Nanos(900)));
}

#[test]
fn the_fourth_episode_in_a_second_goes_on_until_the_queue_was_calm_for_a_second() {
    let mut lab = Lab::new();
    for _ in 0..3 {
        episode(&mut lab);
        assert_eq!(phases(&mut lab), [CongestionPhase::Begin, CongestionPhase::End]);
    }
    for _ in 0..6 {
        episode(&mut lab);
    }
    let calm_at = lab.now;
    assert_eq!(phases(&mut lab), [CongestionPhase::Begin]);
    assert!(lab.collector.deepest_queues(1).iter().all(|queue| !queue.congested));

    lab.wait(Nanos(999_990_000));
    assert_eq!(phases(&mut lab), []);
    lab.wait(Nanos(10_000));

    let events = lab.events(EventKind::QueueCongestion);
    assert_eq!((events[0].count, congestion(&events[0]).episodes), (6, 6));
    assert_eq!(congestion(&events[0]).phase, CongestionPhase::End);
    assert!(events[0].last <= calm_at);
    // From here on each is announced separately.
    episode(&mut lab);
    assert_eq!(phases(&mut lab), [CongestionPhase::Begin, CongestionPhase::End]);
}

#[test]
fn episodes_that_recur_by_silence_are_one_as_well() {
    let mut lab = Lab::new();
    for _ in 0..10 {
        queue_report(&mut lab);
        lab.wait(Nanos::from_millis(20));
    }
    lab.wait(Nanos::from_millis(1_000));

    let told: Vec<_> = lab.events(EventKind::QueueCongestion);
    let episodes: Vec<u64> = told.iter().map(|event| congestion(event).episodes).collect();

    assert_eq!(episodes, [1, 1, 1, 1, 1, 1, 1, 7]);
}

/// One packet that is queued, and one that is not.
fn episode(lab: &mut Lab) {
    postcard(lab, 150_000, 10);
    postcard(lab, 900, 0);
}

/// A report of node 5 with this hop latency and depth of queue 0.
fn postcard(lab: &mut Lab, latency: u32, occupancy: u32) {
    lab.report(5, &node_report(&plain_packet(&flow(1), 64), hop(5, latency, occupancy)));
}

/// A report of node 5 with Q set.
fn queue_report(lab: &mut Lab) {
    let packet = plain_packet(&flow(1), 64);
    lab.report(5, &Draft { congested_queue: true, ..node_report(&packet, hop(5, 900, 1)) });
}

fn phases(lab: &mut Lab) -> Vec<CongestionPhase> {
    lab.events(EventKind::QueueCongestion).iter().map(|event| congestion(event).phase).collect()
}

fn congestion(event: &Event) -> &QueueCongestion {
    match &event.detail {
        EventDetail::QueueCongestion(congestion) => congestion,
        other => panic!("not congestion: {other:?}"),
    }
}
