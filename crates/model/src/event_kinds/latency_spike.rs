//! What only `latency-spike` has.

use serde::{Deserialize, Serialize};

use crate::{Nanos, NodeId};

/// A node holds packets much longer than it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencySpike {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The highest latency of the spike, or of those that are told as one.
    pub latency: Nanos,
    /// The median before it.
    pub median: Nanos,
    /// The median distance from the median before it.
    pub median_deviation: Nanos,
    /// Spikes that are told as this one: more than 1 where they followed each other soon.
    pub episodes: u64,
}
