//! Published snapshots of the collector, from which answers are created on other threads.
//!
//! A snapshot is created by the thread that owns the collector, on request if the last one is too old;
//! concurrent requests wait for the same one. The more a snapshot costs, the longer it is used: all requests
//! together take at most one in 300 parts of that thread's time for each part of the model, or one in 50
//! where a snapshot would be older than ten seconds otherwise.

mod flows;
mod part;

use std::collections::BTreeMap;
use std::sync::Arc;

use inband_collector::{LinkView, NodeView, PortView, QueueView};
use inband_model::{EventView, Ledger, LedgerView, Nanos, NodeId};

use crate::metrics::Seen;
use crate::pipeline::{Asker, Sight, Unanswered};

pub(crate) use self::flows::Flows;
use self::part::Part;

/// The snapshots.
#[derive(Debug)]
pub(crate) struct ReadModel {
    now: Part<Nanos>,
    ledger: Part<LedgerView>,
    figures: Part<Figures>,
    nodes: Part<Vec<NodeView>>,
    node_ids: Part<BTreeMap<NodeId, bool>>,
    links: Part<Vec<LinkView>>,
    ports: Part<Vec<PortView>>,
    queues: Part<Vec<QueueView>>,
    flows: Part<Flows>,
    events: Part<KnownEvents>,
    metrics: Part<Seen>,
}

/// Key figures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) ledger: Ledger,
    /// Nodes that report.
    pub(crate) nodes: usize,
    pub(crate) flows: usize,
    pub(crate) active_events: usize,
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
            figures: Part::new(asker, Figures::of),
            nodes: Part::new(asker, |sight| sight.collector.nodes()),
            node_ids: Part::new(asker, |sight| sight.collector.node_ids()),
            links: Part::new(asker, |sight| sight.collector.sorted_links()),
            ports: Part::new(asker, |sight| sight.collector.ports().collect()),
            queues: Part::new(asker, |sight| sight.collector.deepest_queues(usize::MAX)),
            flows: Part::new(asker, |sight| Flows::new(sight.collector.flow_snapshot())),
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

    /// Key figures.
    pub(crate) async fn figures(&self) -> Result<Figures, Unanswered> {
        self.figures.get().await.map(|figures| *figures)
    }

    /// The nodes, sorted by id.
    pub(crate) async fn nodes(&self) -> Result<Arc<Vec<NodeView>>, Unanswered> {
        self.nodes.get().await
    }

    /// The ids of the nodes, and whether each reports.
    pub(crate) async fn node_ids(&self) -> Result<Arc<BTreeMap<NodeId, bool>>, Unanswered> {
        self.node_ids.get().await
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

    /// The flows as of whenever they were last read; `None` if they have not been.
    pub(crate) fn last_flows(&self) -> Option<Arc<Flows>> {
        self.flows.last()
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

impl Figures {
    fn of(sight: &mut Sight<'_>) -> Self {
        Self {
            ledger: sight.total(),
            nodes: sight.collector.node_ids().into_values().filter(|reports| *reports).count(),
            flows: sight.collector.flow_count(),
            active_events: sight.collector.active_events().count(),
        }
    }
}

impl KnownEvents {
    fn of(sight: &mut Sight<'_>) -> Self {
        let (active, past) = (sight.collector.active_events(), sight.collector.past_events());
        Self { active: active.cloned().collect(), past: past.cloned().collect() }
    }
}
