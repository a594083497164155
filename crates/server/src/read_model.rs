//! What the pipeline has published: snapshots that answers are made from, elsewhere than where reports come in.
//!
//! A snapshot is made when somebody asks and the last one is too old, by the thread that owns the collector; everybody
//! who asks meanwhile waits for the same one. The more a snapshot costs, the longer it is used: all who ask take at
//! most a fiftieth of that thread's time for each part, however many they are.

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

/// The events that the collector knows.
#[derive(Debug, Default)]
pub(crate) struct KnownEvents {
    /// Those that go on, in no order.
    pub(crate) active: Vec<EventView>,
    /// The latest that are past, the latest first.
    pub(crate) past: Vec<EventView>,
}

impl ReadModel {
    /// Nothing is published yet.
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

    /// Where every report went.
    pub(crate) async fn ledger(&self) -> Result<Arc<LedgerView>, Unanswered> {
        self.ledger.get().await
    }

    /// The nodes, by rising id.
    pub(crate) async fn nodes(&self) -> Result<Arc<Vec<NodeView>>, Unanswered> {
        self.nodes.get().await
    }

    /// The links, by rising ids of the nodes at their ends.
    pub(crate) async fn links(&self) -> Result<Arc<Vec<LinkView>>, Unanswered> {
        self.links.get().await
    }

    /// The egress interfaces, in no order.
    pub(crate) async fn ports(&self) -> Result<Arc<Vec<PortView>>, Unanswered> {
        self.ports.get().await
    }

    /// The queues, the deepest first.
    pub(crate) async fn queues(&self) -> Result<Arc<Vec<QueueView>>, Unanswered> {
        self.queues.get().await
    }

    /// The flows.
    pub(crate) async fn flows(&self) -> Result<Arc<Flows>, Unanswered> {
        self.flows.get().await
    }

    /// How many flows there are.
    pub(crate) async fn flow_count(&self) -> Result<usize, Unanswered> {
        self.flow_count.get().await.map(|count| *count)
    }

    /// The events that the collector knows.
    pub(crate) async fn events(&self) -> Result<Arc<KnownEvents>, Unanswered> {
        self.events.get().await
    }

    /// What metrics are made of.
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
