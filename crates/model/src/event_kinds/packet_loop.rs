//! The detail of a `loop` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId, Path};

/// A packet came to the same node twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The flow of the packet.
    pub flow: Flow,
    /// The node it came to twice.
    pub node_id: NodeId,
    /// The interface it entered by each time; `None` when it entered by different ones.
    pub ingress_interface: Option<u16>,
    /// The hops of the packet; only the node's own where single nodes report.
    pub path: Path,
    /// Further evidence of a loop.
    #[serde(default)]
    pub support: Vec<LoopSupport>,
}

impl Loop {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        [vec![self.node_id], self.path.nodes()].concat()
    }
}

/// Further evidence of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopSupport {
    /// E: the number of hops the source allowed was used up.
    MaxHopsExceeded,
    /// A node dropped a packet of the flow because its TTL was zero.
    TtlZeroDrop,
    /// The same packet came to the node again with a smaller TTL.
    SmallerTtl,
}
