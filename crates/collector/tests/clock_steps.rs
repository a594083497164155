//! Setting the time of day changes the times in outputs, and nothing else.

mod support;

use inband_collector::{Collector, CollectorSettings, Output};
use inband_model::{Event, EventKind, HopColumns, Nanos, Observation, Phase, Silence};

use support::{Lab, MdPacket, flow, hop, hops, node_report, plain_packet, sink_report};

const HOUR: i64 = 3_600_000_000_000;

#[test]
fn a_clock_that_is_set_makes_no_event_no_loss_and_no_change_of_a_path() {
    let quiet = life(0);
    assert!(!quiet.is_empty());

    for ahead in [HOUR, -HOUR, 1_000_000, i64::MAX, i64::MIN] {
        let set = life(ahead);

        assert_eq!(without_times(&set), without_times(&quiet), "{ahead}");
    }
}

#[test]
fn what_comes_behind_a_step_carries_the_new_time_of_day() {
    let mut lab = lab();
    let packet = MdPacket::new(&hops(&[1, 2, 3])).bytes();
    lab.report(3, &sink_report(&packet));
    let before = lab.now;
    lab.wait(Nanos::from_secs(1));
    lab.collector.handle_clock_step(lab.now, -HOUR);
    let changed = MdPacket::new(&hops(&[1, 4, 3])).bytes();
    lab.report(3, &sink_report(&changed));
    let after = Nanos(lab.now.0 - HOUR.unsigned_abs());

    let mut rows = HopColumns::default();
    assert_eq!(lab.collector.take_records(&mut rows), 2);
    assert_eq!(rows.reports().iter().map(|report| report.received_at).collect::<Vec<_>>(), [before, after]);
    let told: Vec<Nanos> = lab.path_observations().iter().map(|path| path.received_at).collect();
    assert_eq!(told, [before, after]);
    let changes = lab.events(EventKind::PathChange);
    assert_eq!((changes[0].first, changes[0].last), (after, after));
    assert_eq!(changes[0].evidence.last().unwrap().received_at, after);
    let flow = lab.only_flow();
    assert_eq!((flow.first_seen, flow.last_seen, flow.path_since), (before, after, after));
    let node = &lab.collector.nodes()[2];
    assert_eq!((node.first_seen, node.last_seen), (before, after));
    assert!(lab.collector.ports().all(|port| port.last_seen == after || port.last_seen == before));
    let queues = lab.collector.deepest_queues(9);
    assert!(queues.iter().any(|queue| queue.last_at == after), "{queues:?}");
    assert!(lab.collector.links().any(|link| link.first_seen == after));
    assert_eq!(lab.collector.flow_paths(&support::flow(1))[0].since, after);
}

#[test]
fn an_event_keeps_its_id_and_its_beginning_when_the_clock_is_set_and_ends_in_its_time() {
    for ahead in [HOUR, -HOUR] {
        let mut lab = lab();
        congest(&mut lab);
        let begin = only(lab.events(EventKind::QueueCongestion));
        lab.collector.handle_clock_step(lab.now + Nanos(1), ahead);
        congest(&mut lab);
        let last = Nanos(lab.now.0.saturating_add_signed(ahead));
        lab.wait(Nanos::from_millis(5));
        assert_eq!(lab.collector.active_events().count(), 1);
        assert_eq!(lab.collector.active_events().next().unwrap().id, begin.id());
        lab.wait(Nanos::from_secs(2));
        let end = only(lab.events(EventKind::QueueCongestion));

        assert_eq!((begin.phase, end.phase, end.id()), (Phase::Begin, Phase::End, begin.id()));
        assert_eq!((end.first, end.last), (begin.first, last));
        assert!(lab.collector.past_events().any(|view| view.id == begin.id() && view.event == end));
        assert!(end.evidence.starts_with(&begin.evidence));
    }
}

#[test]
fn a_silence_ends_by_the_time_of_day() {
    let mut lab = lab();
    lab.collector.handle_timeout(lab.now);
    let until = Some(lab.now + Nanos::from_secs(60));
    lab.collector.silence(Silence { until, ..Silence::default() }).unwrap();
    congest(&mut lab);
    assert!(only(lab.events(EventKind::QueueCongestion)).silenced);

    lab.collector.handle_clock_step(lab.now, HOUR);
    lab.wait(Nanos::from_secs(3));

    assert!(!only(lab.events(EventKind::QueueCongestion)).silenced);
}

/// Half a minute of four flows, a sequence gap, drops of paths and a congestion, with the clock set by
/// `ahead` in the middle.
fn life(ahead: i64) -> Vec<Output> {
    let mut lab = lab();
    for step in 0..150_u32 {
        let md = MdPacket { flow: flow(1), ..MdPacket::new(&hops(&[1, 2, 3])) }.bytes();
        lab.report(3, &sink_report(&md));
        let plain = plain_packet(&flow(2), 64);
        for node in [5, 6, 7] {
            lab.report(node, &node_report(&plain, hop(node, 900, 0)));
        }
        if ahead != 0 && step % 50 == 25 {
            lab.collector.handle_clock_step(lab.now, if step == 75 { 0 } else { ahead });
        }
        if step == 80 {
            lab.numbered(9, 100, &sink_report(&md));
            lab.numbered(9, 105, &sink_report(&md));
        }
        if (60..100).contains(&step) {
            congest(&mut lab);
        }
        lab.wait(Nanos::from_millis(200));
    }
    assert!(lab.collector.ledger().balances());
    lab.collector.finish(lab.now);
    lab.drain();
    lab.outputs()
}

/// The outputs, without times and what is named after times.
fn without_times(outputs: &[Output]) -> Vec<Output> {
    let timeless = |output: &Output| match output.clone() {
        Output::Observation(Observation::Path(mut path)) => {
            path.received_at = Nanos::ZERO;
            Output::Observation(Observation::Path(path))
        }
        Output::Observation(Observation::HopLatency(mut latency)) => {
            latency.received_at = Nanos::ZERO;
            Output::Observation(Observation::HopLatency(latency))
        }
        Output::Observation(Observation::QueueDepth(mut depth)) => {
            depth.received_at = Nanos::ZERO;
            Output::Observation(Observation::QueueDepth(depth))
        }
        Output::Event(mut event) => {
            (event.first, event.last) = (Nanos::ZERO, Nanos::ZERO);
            event.evidence.iter_mut().for_each(|report| report.received_at = Nanos::ZERO);
            Output::Event(event)
        }
    };
    outputs.iter().map(timeless).collect()
}

fn congest(lab: &mut Lab) {
    let packet = plain_packet(&flow(3), 64);
    let mut draft = node_report(&packet, hop(8, 5_000_000, 900));
    draft.congested_queue = true;
    lab.report(8, &draft);
}

fn only(mut events: Vec<Event>) -> Event {
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.collector = Collector::new(CollectorSettings::default()).with_records();
    lab
}
