//! Steps of congestion in a queue, found by one detector and used by others.

use inband_model::{Flow, Nanos, NodeUnits, ReportReference};

use crate::ports::{Place, QueueIndex};

/// A step of an episode of congestion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CongestionStep {
    pub(crate) queue: QueueIndex,
    pub(crate) place: Place,
    /// The units of the node.
    pub(crate) units: NodeUnits,
    /// Mean utilisation of the interface over a second, latest known value.
    pub(crate) utilization: Option<u32>,
    /// Whether the node has used up its quota of queue reports, so that its silence does not mean calm.
    pub(crate) is_truncated: bool,
    /// Whether silence shows it, and no report.
    pub(crate) is_silence: bool,
    pub(crate) change: CongestionChange,
}

/// The kind of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CongestionChange {
    /// A packet left the queue, or was dropped in it, while it was congested.
    Departed(Departure),
    /// The queue is calm; the episode may continue.
    Calm,
    /// The episode is over.
    Over,
}

/// A packet that left a queue while it was congested, or was dropped in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departure {
    pub(crate) report: ReportReference,
    /// `None` where the report does not contain it.
    pub(crate) flow: Option<Flow>,
    /// Length of the packet from its IP header on, bytes, at least 1.
    pub(crate) bytes: u64,
    /// When the packet arrived and left: by the node's clock, or without timestamps by the collector's.
    pub(crate) came_at: u64,
    pub(crate) left_at: u64,
    pub(crate) latency: Option<Nanos>,
    pub(crate) occupancy: Option<u32>,
    /// Whether the episode begins with it.
    pub(crate) is_first: bool,
    /// Whether its report shows congestion.
    pub(crate) is_congested: bool,
    /// Whether the node itself reports congestion (Q): such a node reports every packet while its queue is
    /// congested.
    pub(crate) is_queue_report: bool,
    /// Whether it was dropped, so that no other packet waited for it.
    pub(crate) is_dropped: bool,
    /// Whether it was delayed beyond the trigger.
    pub(crate) is_delayed: bool,
}
