//! What does an event of one kind tell that others do not?

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{EventKind, Flow, Nanos, NodeId, Path};

/// What only one kind of event has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "detail", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventDetail {
    /// Reports were sent and did not arrive.
    ReportLoss(ReportLoss),
    /// A node started to number its reports anew.
    SequenceReset(SequenceReset),
    /// A flow takes another path.
    PathChange(PathChange),
    /// A packet came to the same place twice.
    Loop(Loop),
    /// A node holds packets much longer than it did.
    LatencySpike(LatencySpike),
    /// A queue is congested.
    QueueCongestion(QueueCongestion),
}

impl EventDetail {
    /// The kind of event this belongs to.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            EventDetail::ReportLoss(_) => EventKind::ReportLoss,
            EventDetail::SequenceReset(_) => EventKind::SequenceReset,
            EventDetail::PathChange(_) => EventKind::PathChange,
            EventDetail::Loop(_) => EventKind::Loop,
            EventDetail::LatencySpike(_) => EventKind::LatencySpike,
            EventDetail::QueueCongestion(_) => EventKind::QueueCongestion,
        }
    }
}

/// Reports of one stream were sent and did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLoss {
    /// The reporting node.
    pub node_id: NodeId,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// Datagrams lost in the window.
    pub lost: u64,
    /// Datagrams accepted in the window.
    pub accepted: u64,
    /// Times in the window at which an unknown number of datagrams was lost.
    pub lost_unknown: u64,
    /// Length of the window.
    pub window: Nanos,
}

/// A node started to number its reports anew, most likely because it restarted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceReset {
    /// The reporting node.
    pub node_id: NodeId,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// The sequence number that would have been in order.
    pub expected: u32,
    /// The sequence number that came.
    pub sequence: u32,
}

/// A flow takes another path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathChange {
    /// The flow.
    pub flow: Flow,
    /// What kind of change it is.
    pub change: PathChangeKind,
    /// The path up to the change.
    pub old: Path,
    /// The path from the change on.
    pub new: Path,
}

/// What kind of change of path it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathChangeKind {
    /// A link of the old path carries no reported flow any more.
    Reroute,
    /// The links of the old path still carry other flows, or not enough time has passed to tell.
    EcmpMove,
    /// The flow changed its path several times in a short while.
    Flap,
}

/// A packet came to the same node twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The flow of the packet.
    pub flow: Flow,
    /// The node it came to twice.
    pub node_id: NodeId,
    /// The interface it entered by each time; `None` when it entered by different ones.
    pub ingress_interface: Option<u16>,
    /// The hops of the packet.
    pub path: Path,
}

/// A node holds packets much longer than it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencySpike {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The highest latency of the spike.
    pub latency: Nanos,
    /// The median before it.
    pub median: Nanos,
    /// The median distance from the median before it.
    pub median_deviation: Nanos,
}

/// An episode of congestion of one queue; announced when it begins and again when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCongestion {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not say.
    pub queue_id: Option<u8>,
    /// Whether the episode begins or ends.
    pub phase: CongestionPhase,
    /// The highest latency in the episode; `None` when no report gave one.
    pub peak_latency: Option<Nanos>,
    /// The highest occupancy in the episode, in the node's unit; `None` when no report gave one.
    pub peak_occupancy: Option<u32>,
    /// Whether the node's quota of queue reports was used up: from there on it was silent, not calm.
    pub truncated: bool,
}

/// Whether an episode begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionPhase {
    /// The queue is congested.
    Begin,
    /// The queue was congested and is not any more.
    End,
}
