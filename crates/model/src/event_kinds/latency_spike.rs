//! The detail of a `latency-spike` event.

use serde::{Deserialize, Serialize};

use crate::{Nanos, NodeId};

/// A node holds packets much longer than it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencySpike {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The highest latency of the spike, or of the spikes announced as one.
    pub latency: Nanos,
    /// The median latency before the spike.
    pub median: Nanos,
    /// The median absolute deviation before the spike.
    pub median_deviation: Nanos,
    /// Spikes announced as this one: more than 1 where they followed each other closely.
    pub episodes: u64,
}

impl LatencySpike {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
