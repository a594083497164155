//! What only `loop` has.

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
    /// The hops of the packet; of a single node's reports only its own.
    pub path: Path,
    /// What else speaks for a loop.
    #[serde(default)]
    pub support: Vec<LoopSupport>,
}

/// What else speaks for a loop.
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
