//! What is there to tell of how long nodes hold packets?

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// A node holds packets for another time than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyChange {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The flow whose packets it held.
    pub flow: Flow,
    /// The latency before.
    pub old: Nanos,
    /// The latency from here on.
    pub new: Nanos,
}

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

/// A larger share of the reports than allowed tells of a hop latency over the bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyObjective {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The bound.
    pub bound: Nanos,
    /// Length of the window.
    pub window: Nanos,
    /// Reports in the window; of reports, not of packets.
    pub reports: u64,
    /// Those of them over the bound.
    pub over: u64,
}
