//! The detail of a `queue-congestion` event.

use serde::{Deserialize, Serialize};

use crate::{Nanos, NodeId};

/// An episode of congestion of one queue; announced when it begins and again when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCongestion {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not report it.
    pub queue_id: Option<u8>,
    /// Whether the episode begins or ends.
    pub phase: CongestionPhase,
    /// The highest latency in the episode; `None` when no report contained one.
    pub peak_latency: Option<Nanos>,
    /// The highest occupancy in the episode, in the node's unit; `None` when no report contained one.
    pub peak_occupancy: Option<u32>,
    /// Whether the node's quota of queue reports was used up: from then on the node was silent, the queue not
    /// calm.
    pub truncated: bool,
    /// Episodes announced as this one: more than 1 where the queue was congested again and again.
    pub episodes: u64,
}

impl QueueCongestion {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}

/// Whether an episode begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionPhase {
    /// The queue is congested.
    Begin,
    /// The queue is no longer congested.
    End,
}
