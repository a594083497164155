//! A collector in parts: the streams of nodes in several ledgers and the flows in several shards, with
//! serialized reports between them, produces what a single collector produces.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fabric.rs"]
mod fabric;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use inband_collector::{
    Collector, CollectorSettings, EventSettings, FlowShard, Handover, LossSettings, Output, Share,
    StreamShard,
};
use inband_model::{Event, EventKind, Ledger, Nanos};
use inband_node::config::Mode;
use inband_sim::{Action, MILLISECOND, SECOND};

use fabric::{CLOCK_NS, add_flows, add_incast, address_of, fabric, session};

/// Interval at which due work is done.
const TICK_NS: u64 = 10 * MILLISECOND;

/// Events that depend on several flows and nodes, of which a shard sees only a part.
const OF_LINKS: [EventKind; 6] = [
    EventKind::PathChange,
    EventKind::LatencyChange,
    EventKind::SilentLoss,
    EventKind::NegativeLinkLatency,
    EventKind::ClockDrift,
    EventKind::EcmpImbalance,
];

#[test]
fn two_ledgers_and_one_correlator_say_what_one_collector_says() {
    for mode in [Mode::Md, Mode::Xd] {
        let datagrams = datagrams(mode);

        let (whole, parts) = (whole(&datagrams), in_parts(&datagrams, 2, 1));

        assert_eq!(parts.ledger, whole.ledger, "{mode:?}");
        assert_eq!(parts.answers, whole.answers, "{mode:?}");
        assert_eq!(parts.events(&[]), whole.events(&[]), "{mode:?}");
    }
}

#[test]
fn correlators_that_share_flows_and_nodes_say_what_one_collector_says() {
    for mode in [Mode::Md, Mode::Xd] {
        let datagrams = datagrams(mode);

        let (whole, parts) = (whole(&datagrams), in_parts(&datagrams, 2, 3));

        assert_eq!(parts.answers, whole.answers, "{mode:?}");
        assert_eq!(parts.events(&OF_LINKS), whole.events(&OF_LINKS), "{mode:?}");
        let kinds: BTreeSet<EventKind> = whole.events.iter().map(Event::kind).collect();
        assert!(kinds.contains(&EventKind::NewFlow), "{mode:?}: {kinds:?}");
        assert!(kinds.contains(&EventKind::ReportLoss), "{mode:?}: {kinds:?}");
        assert!(kinds.contains(&EventKind::QueueCongestion), "{mode:?}: {kinds:?}");
    }
}

#[test]
fn every_shard_has_a_part_of_the_work() {
    let datagrams = datagrams(Mode::Md);

    let parts = in_parts(&datagrams, 2, 3);

    assert!(parts.flows_of_shards.iter().all(|flows| *flows > 0), "{:?}", parts.flows_of_shards);
    let all: usize = parts.flows_of_shards.iter().sum();
    assert_eq!(all, parts.answers.iter().filter(|answer| answer.starts_with("flow ")).count());
}

/// The results of a collector, or of its parts together, for a run.
struct Said {
    ledger: Ledger,
    events: Vec<Event>,
    /// Flows with their paths, interfaces and queues, sorted.
    answers: Vec<String>,
    flows_of_shards: Vec<usize>,
}

impl Said {
    /// The events of all kinds but these, as text, sorted.
    fn events(&self, without: &[EventKind]) -> Vec<String> {
        let events = self.events.iter().filter(|event| !without.contains(&event.kind()));
        let mut events: Vec<String> = events.map(|event| serde_json::to_string(event).unwrap()).collect();
        events.sort();
        events
    }
}

/// A datagram of a node, and when it is received.
struct Datagram {
    node_id: u32,
    at: u64,
    payload: Vec<u8>,
}

impl Datagram {
    fn from(&self) -> SocketAddr {
        address_of(self.node_id)
    }
}

fn whole(datagrams: &[Datagram]) -> Said {
    let mut collector = Collector::new(settings());
    let mut events = Vec::new();
    for_each_tick(datagrams, |now, batch| {
        for datagram in batch {
            collector.handle_datagram(Nanos(datagram.at), datagram.from(), session(), &datagram.payload);
        }
        collector.handle_timeout(now);
        events.extend(std::iter::from_fn(|| collector.poll_output()).filter_map(event));
    });
    let mut answers: Vec<String> = collector.flows().map(|flow| format!("flow {flow:?}")).collect();
    answers.extend(collector.flows().map(|flow| format!("paths {:?}", collector.flow_paths(&flow.flow))));
    answers.extend(collector.ports().map(|port| format!("port {port:?}")));
    answers.extend(collector.queues().map(|queue| format!("queue {queue:?}")));
    answers.sort();
    Said { ledger: collector.ledger(), events, answers, flows_of_shards: Vec::new() }
}

fn in_parts(datagrams: &[Datagram], ledgers: usize, shards: u32) -> Said {
    let mut streams: Vec<StreamShard> = (0..ledgers).map(|_| StreamShard::new(&settings())).collect();
    let mut flows: Vec<(Share, FlowShard)> =
        Share::of(shards).map(|share| (share, FlowShard::new(settings(), share))).collect();
    let mut events = Vec::new();
    for_each_tick(datagrams, |now, batch| {
        for datagram in batch {
            let stream = &mut streams[datagram.node_id as usize % ledgers];
            stream.handle_datagram(Nanos(datagram.at), datagram.from(), session(), &datagram.payload);
            while let Some(handover) = stream.poll_handover() {
                let bytes = serde_json::to_vec(&handover).unwrap();
                for (share, shard) in &mut flows {
                    let handover: Handover = serde_json::from_slice(&bytes).unwrap();
                    if handover.concerns(*share) {
                        shard.handle_handover(&handover);
                    }
                }
            }
        }
        for stream in &mut streams {
            stream.handle_timeout(now);
            events.extend(std::iter::from_fn(|| stream.poll_output()).filter_map(event));
        }
        for (_, shard) in &mut flows {
            shard.handle_timeout(now);
            events.extend(std::iter::from_fn(|| shard.poll_output()).filter_map(event));
        }
    });
    let mut answers = Vec::new();
    for (_, shard) in &flows {
        answers.extend(shard.flows().map(|flow| format!("flow {flow:?}")));
        answers.extend(shard.flows().map(|flow| format!("paths {:?}", shard.flow_paths(&flow.flow))));
        answers.extend(shard.ports().map(|port| format!("port {port:?}")));
        answers.extend(shard.queues().map(|queue| format!("queue {queue:?}")));
    }
    answers.sort();
    let flows_of_shards = flows.iter().map(|(_, shard)| shard.flows().count()).collect();
    Said { ledger: sum(&streams), events, answers, flows_of_shards }
}

fn sum(streams: &[StreamShard]) -> Ledger {
    streams.iter().map(StreamShard::ledger).fold(Ledger::default(), |sum, ledger| Ledger {
        received: sum.received + ledger.received,
        accepted: sum.accepted + ledger.accepted,
        accepted_reports: sum.accepted_reports + ledger.accepted_reports,
        lost: sum.lost + ledger.lost,
        ..ledger
    })
}

/// Returns the datagrams of each tick, with the end of the tick.
fn for_each_tick(datagrams: &[Datagram], mut handle: impl FnMut(Nanos, &[Datagram])) {
    let mut rest = datagrams;
    let mut end = CLOCK_NS;
    while !rest.is_empty() {
        end += TICK_NS;
        let (batch, later) = rest.split_at(rest.partition_point(|datagram| datagram.at <= end));
        handle(Nanos(end), batch);
        rest = later;
    }
    // Everything that is due completes.
    for _ in 0..500 {
        end += TICK_NS;
        handle(Nanos(end), &[]);
    }
}

fn event(output: Output) -> Option<Event> {
    match output {
        Output::Event(event) => Some(event),
        Output::Observation(_) => None,
    }
}

fn settings() -> CollectorSettings {
    // The default window is longer than the run.
    let report_loss = LossSettings { window_s: 2, ..LossSettings::default() };
    let events = EventSettings { report_loss, ..EventSettings::default() };
    CollectorSettings { events, ..CollectorSettings::default() }
}

/// The reports of a fabric where flows begin, a queue fills, a link fails, and reports are lost in transit.
fn datagrams(mode: Mode) -> Vec<Datagram> {
    let mut fabric = fabric(mode);
    add_flows(&mut fabric);
    add_incast(&mut fabric);
    fabric.schedule(2 * SECOND, Action::FailLink { leaf: 0, spine: 0 });
    fabric.schedule(3 * SECOND, Action::RestoreLink { leaf: 0, spine: 0 });
    fabric.run_until(5 * SECOND);
    let reports = std::iter::from_fn(|| fabric.poll_report());
    let all = reports.map(|report| Datagram {
        node_id: report.node_id,
        at: CLOCK_NS + report.sent_at,
        payload: report.payload,
    });
    let is_lost = |place: usize| place % 97 == 96;
    let mut arrived: Vec<Datagram> =
        all.enumerate().filter(|(place, _)| !is_lost(*place)).map(|(_, datagram)| datagram).collect();
    arrived.sort_by_key(|datagram| datagram.at);
    assert!(arrived.len() > 1_000, "{}", arrived.len());
    arrived
}
