//! A simulated fabric raises the events of its faults, and none without faults.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fabric.rs"]
mod fabric;

use std::collections::BTreeSet;

use inband_collector::{Collector, CollectorSettings, Output};
use inband_model::{CulpritPattern, Event, EventDetail, EventKind, Nanos, NodeId, PathChangeKind, Severity};
use inband_node::config::Mode;
use inband_sim::{Action, Fabric, MILLISECOND, SECOND};

use fabric::{CLOCK_NS, add_flows, add_incast, address_of, fabric, session};

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
    add_incast(&mut fabric);

    let events = events(fabric, SECOND);

    let congested: BTreeSet<NodeId> = events.iter().filter_map(congested_node).collect();
    assert!(congested.contains(&NodeId(leaf)), "{congested:?}");
    let culprits = events.iter().filter_map(|event| match &event.detail {
        EventDetail::Culprits(culprits) if culprits.node_id == NodeId(leaf) => Some(culprits),
        _ => None,
    });
    let worst = culprits.max_by_key(|culprits| culprits.residence).expect("somebody filled the queue");
    // Six sources are no incast by the default of eight, and none of them sends half of it.
    assert_eq!(worst.pattern, CulpritPattern::Mixed);
    assert!(worst.culprits.iter().any(|culprit| culprit.flow.destination_port == 7_000), "{worst:?}");
}

#[test]
fn a_link_that_fails_is_a_reroute_of_the_flows_on_it() {
    let mut fabric = fabric(Mode::Md);
    add_flows(&mut fabric);
    for spine in 0..2 {
        // Whichever paths the flows of leaf 0 take, one of the two failures moves them.
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

/// The announcements of the collector for the reports of a run.
fn events(mut fabric: Fabric, until: u64) -> Vec<Event> {
    let mut collector = Collector::new(CollectorSettings::default());
    let mut events = Vec::new();
    for end in (0..=until).step_by(usize::try_from(10 * MILLISECOND).unwrap()) {
        fabric.run_until(end);
        while let Some(report) = fabric.poll_report() {
            let (at, from) = (Nanos(CLOCK_NS + report.sent_at), address_of(report.node_id));
            collector.handle_datagram(at, from, session(), &report.payload);
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
