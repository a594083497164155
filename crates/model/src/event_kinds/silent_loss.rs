//! What only `silent-loss` has.

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// Packets vanish behind a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentLoss {
    /// The last node that reports the flows.
    pub from: NodeId,
    /// The interface they leave it by.
    pub egress_interface: Option<u16>,
    /// The next node, which does not report them any more.
    pub to: NodeId,
    /// The interface they came in by.
    pub ingress_interface: Option<u16>,
    /// Flows of which this is so.
    pub flows: Vec<Flow>,
    /// How long the next node has been silent on the latest of them.
    pub silent_for: Nanos,
}
