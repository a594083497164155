//! Does a simulated fabric raise the events of what happens in it, and none while nothing does?
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::net::SocketAddr;

use inband_collector::{Collector, CollectorSettings, Output};
use inband_model::{CulpritPattern, Event, EventDetail, EventKind, Nanos, NodeId, PathChangeKind, Severity};
use inband_node::NodeConfig;
use inband_node::config::{Instruction, Mode, WatchEntry};
use inband_sim::{
    Action, Fabric, FabricConfig, FlowConfig, Incast, MICROSECOND, MILLISECOND, SECOND, Traffic, UdpTraffic,
};

/// When the fabric's clocks start, nanoseconds since 1970.
const CLOCK_NS: u64 = 1_700_000_000_000_000_000;

#[test]
fn a_fabric_where_nothing_happens_raises_nothing_but_new_flows() {
    for mode in [Mode::Md, Mode::Xd] {
        let mut fabric = fabric(mode);
        add_flows(&mut fabric);

        let events = events(fabric, 4 * SECOND);

        let kinds: BTreeSet<EventKind> = events.iter().map(Event::kind).collect();
        let unimportant = [EventKind::NewFlow, EventKind::LatencyChange];
        assert!(kinds.iter().all(|kind| unimportant.contains(kind)), "{mode:?}: {kinds:?}");
        assert!(events.iter().all(|event| event.severity == Severity::Info));
    }
}

#[test]
fn an_incast_is_congestion_with_its_culprits_at_the_queue_where_it_happens() {
    let mut fabric = fabric(Mode::Md);
    let leaf = fabric.config().topology.leaf_node_id(0);
    add_flows(&mut fabric);
    let sources: Vec<usize> = (2..8).collect();
    let incast = Incast {
        sources,
        destination: 0,
        port: 7_000,
        start_ns: 100 * MILLISECOND,
        every_ns: 50 * MILLISECOND,
        burst_ns: 5 * MILLISECOND,
        bursts: 2,
        payload_bytes: 1_000,
        interval_ns: 40 * MICROSECOND,
    };
    fabric.add_incast(&incast).unwrap();

    let events = events(fabric, SECOND);

    let congested: BTreeSet<NodeId> = events.iter().filter_map(congested_node).collect();
    assert!(congested.contains(&NodeId(leaf)), "{congested:?}");
    let culprits = events.iter().filter_map(|event| match &event.detail {
        EventDetail::Culprits(culprits) if culprits.node_id == NodeId(leaf) => Some(culprits),
        _ => None,
    });
    let worst = culprits.max_by_key(|culprits| culprits.residence).expect("somebody filled the queue");
    // Six sources are no incast by the default of eight; nobody sends half of it either.
    assert_eq!(worst.pattern, CulpritPattern::Mixed);
    assert!(worst.culprits.iter().any(|culprit| culprit.flow.destination_port == 7_000), "{worst:?}");
}

#[test]
fn a_link_that_fails_is_a_reroute_of_the_flows_on_it() {
    let mut fabric = fabric(Mode::Md);
    add_flows(&mut fabric);
    for spine in 0..2 {
        // Whichever way the flows of leaf 0 take, one of the two failures moves them.
        let at = (2 + 2 * spine as u64) * SECOND;
        fabric.schedule(at, Action::FailLink { leaf: 0, spine });
        fabric.schedule(at + SECOND, Action::RestoreLink { leaf: 0, spine });
    }

    let events = events(fabric, 12 * SECOND);

    let changes: Vec<PathChangeKind> = events.iter().filter_map(path_change).collect();
    assert!(
        changes.contains(&PathChangeKind::Reroute) || changes.contains(&PathChangeKind::EcmpMove),
        "{changes:?}"
    );
    assert!(
        events.iter().all(|event| event.kind() != EventKind::Loop && event.kind() != EventKind::ReportLoss)
    );
}

fn congested_node(event: &Event) -> Option<NodeId> {
    match &event.detail {
        EventDetail::QueueCongestion(congestion) => Some(congestion.node_id),
        _ => None,
    }
}

fn path_change(event: &Event) -> Option<PathChangeKind> {
    match &event.detail {
        EventDetail::PathChange(change) => Some(change.change),
        _ => None,
    }
}

/// A leaf-spine fabric whose nodes report every packet.
fn fabric(mode: Mode) -> Fabric {
    let mut telemetry = NodeConfig::new(0);
    telemetry.source.mode = mode;
    let instructions = [
        Instruction::NodeId,
        Instruction::Level1Interfaces,
        Instruction::HopLatency,
        Instruction::QueueOccupancy,
        Instruction::IngressTimestamp,
        Instruction::EgressTimestamp,
        Instruction::EgressUtilization,
    ];
    telemetry.source.instructions = instructions.into_iter().collect();
    telemetry.report.truncate = 512;
    telemetry.watchlist = vec![WatchEntry::default()];
    let config = FabricConfig { telemetry: Some(telemetry), clock_ns: CLOCK_NS, ..FabricConfig::default() };
    Fabric::new(config).unwrap()
}

/// Datagrams far below what the links carry, between hosts of different leaves.
fn add_flows(fabric: &mut Fabric) {
    for (source, destination, port) in [(0, 7, 5_000), (2, 4, 5_001), (6, 1, 5_002), (3, 5, 5_003)] {
        let traffic = Traffic::Udp(UdpTraffic {
            payload_bytes: 333,
            interval_ns: 10 * MILLISECOND,
            datagrams: None,
            bursts: None,
        });
        let flow = FlowConfig {
            source,
            destination,
            source_port: port,
            destination_port: 80,
            dscp: 10,
            start_ns: 0,
            traffic,
        };
        fabric.add_flow(flow).unwrap();
    }
}

/// What the collector announces of the reports of a run.
fn events(mut fabric: Fabric, until: u64) -> Vec<Event> {
    let mut collector = Collector::new(CollectorSettings::default());
    let mut events = Vec::new();
    let session = SocketAddr::from(([127, 0, 0, 1], 32_766));
    for end in (0..=until).step_by(usize::try_from(10 * MILLISECOND).unwrap()) {
        fabric.run_until(end);
        while let Some(report) = fabric.poll_report() {
            let [a, b, c, d] = report.node_id.to_be_bytes();
            let from = SocketAddr::from(([10, b.wrapping_add(a), c, d], 6_000));
            collector.handle_datagram(Nanos(CLOCK_NS + report.sent_at), from, session, &report.payload);
        }
        collector.handle_timeout(Nanos(CLOCK_NS + end));
        while let Some(output) = collector.poll_output() {
            if let Output::Event(event) = output {
                events.push(event);
            }
        }
    }
    assert!(collector.ledger().balances());
    assert!(collector.ledger().accepted > 100, "{:?}", collector.ledger());
    events
}
