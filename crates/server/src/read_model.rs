//! Published snapshots of the collector, from which answers are created on other threads.
//!
//! A snapshot is created by the thread that owns the collector, on request if the last one is too old;
//! concurrent requests wait for the same one. The more a snapshot costs, the longer it is used: all requests
//! together take at most one in 150 parts of that thread's time for each part of the model.

mod flows;
mod part;

use std::sync::Arc;

use inband_collector::{LinkView, NodeView, PortView, QueueView};
use inband_model::{EventView, LedgerView, Nanos};

use crate::metrics::Seen;
use crate::pipeline::{Asker, Sight, Unanswered};

pub(crate) use self::flows::Flows;
use self::part::Part;

/// The snapshots.
#[derive(Debug)]
pub(crate) struct ReadModel {
    now: Part<Nanos>,
    ledger: Part<LedgerView>,
    nodes: Part<Vec<NodeView>>,
    links: Part<Vec<LinkView>>,
    ports: Part<Vec<PortView>>,
    queues: Part<Vec<QueueView>>,
    flows: Part<Flows>,
    flow_count: Part<usize>,
    events: Part<KnownEvents>,
    metrics: Part<Seen>,
}

/// The events known to the collector.
#[derive(Debug, Default)]
pub(crate) struct KnownEvents {
    /// Active events, in any order.
    pub(crate) active: Vec<EventView>,
    /// The latest past events, latest first.
    pub(crate) past: Vec<EventView>,
}

impl ReadModel {
    /// Creates the model without any snapshot.
    pub(crate) fn new(asker: &Asker) -> Self {
        Self {
            now: Part::new(asker, |sight| sight.now),
            ledger: Part::new(asker, |sight| sight.ledger()),
            nodes: Part::new(asker, |sight| sight.collector.nodes()),
            links: Part::new(asker, |sight| sight.collector.sorted_links()),
            ports: Part::new(asker, |sight| sight.collector.ports().collect()),
            queues: Part::new(asker, |sight| sight.collector.deepest_queues(usize::MAX)),
            flows: Part::new(asker, |sight| Flows::new(sight.collector.flow_snapshot())),
            flow_count: Part::new(asker, |sight| sight.collector.flow_count()),
            events: Part::new(asker, KnownEvents::of),
            metrics: Part::new(asker, Seen::of),
        }
    }

    /// The collector's time.
    pub(crate) async fn now(&self) -> Result<Nanos, Unanswered> {
        self.now.get().await.map(|now| *now)
    }

    /// The ledger.
    pub(crate) async fn ledger(&self) -> Result<Arc<LedgerView>, Unanswered> {
        self.ledger.get().await
    }

    /// The nodes, sorted by id.
    pub(crate) async fn nodes(&self) -> Result<Arc<Vec<NodeView>>, Unanswered> {
        self.nodes.get().await
    }

    /// The links, sorted by the node ids of their ends.
    pub(crate) async fn links(&self) -> Result<Arc<Vec<LinkView>>, Unanswered> {
        self.links.get().await
    }

    /// The egress interfaces, in any order.
    pub(crate) async fn ports(&self) -> Result<Arc<Vec<PortView>>, Unanswered> {
        self.ports.get().await
    }

    /// The queues, deepest first.
    pub(crate) async fn queues(&self) -> Result<Arc<Vec<QueueView>>, Unanswered> {
        self.queues.get().await
    }

    /// The flows.
    pub(crate) async fn flows(&self) -> Result<Arc<Flows>, Unanswered> {
        self.flows.get().await
    }

    /// The number of flows.
    pub(crate) async fn flow_count(&self) -> Result<usize, Unanswered> {
        self.flow_count.get().await.map(|count| *count)
    }

    /// The events known to the collector.
    pub(crate) async fn events(&self) -> Result<Arc<KnownEvents>, Unanswered> {
        self.events.get().await
    }

    /// The source of metrics.
    pub(crate) async fn metrics(&self) -> Result<Arc<Seen>, Unanswered> {
        self.metrics.get().await
    }
}

impl KnownEvents {
    fn of(sight: &mut Sight<'_>) -> Self {
        let (active, past) = (sight.collector.active_events(), sight.collector.past_events());
        Self { active: active.cloned().collect(), past: past.cloned().collect() }
    }
}
