//! The detail of a `silent-loss` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// Packets disappear behind a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentLoss {
    /// The last node that reports the flows.
    pub from: NodeId,
    /// The interface they leave it by.
    pub egress_interface: Option<u16>,
    /// The next node, which no longer reports the flows.
    pub to: NodeId,
    /// The interface they entered it by.
    pub ingress_interface: Option<u16>,
    /// The affected flows.
    pub flows: Vec<Flow>,
    /// How long the next node has not reported the latest of them.
    pub silent_for: Nanos,
}

impl SilentLoss {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.from, self.to]
    }
}
