//! The detail of a `latency-change` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// A node holds packets longer or shorter than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyChange {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The flow whose packets it held.
    pub flow: Flow,
    /// The latency before.
    pub old: Nanos,
    /// The latency from here on.
    pub new: Nanos,
}

impl LatencyChange {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
