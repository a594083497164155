//! The detail of a `latency-objective` event.

use serde::{Deserialize, Serialize};

use crate::{Nanos, NodeId};

/// A larger share of the reports than allowed contains a hop latency over the bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyObjective {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The bound.
    pub bound: Nanos,
    /// Length of the window.
    pub window: Nanos,
    /// Reports in the window; they count reports, not packets.
    pub reports: u64,
    /// Reports over the bound.
    pub over: u64,
}

impl LatencyObjective {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
