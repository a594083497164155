//! The detail of an `egress-utilization` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// An egress interface is nearly full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressUtilization {
    /// The node.
    pub node_id: NodeId,
    /// The interface; `None` where the node does not report it.
    pub egress_interface: Option<u16>,
    /// Mean utilization of the last second, in the node's unit.
    pub utilization: u32,
    /// The same in thousandths of a full link.
    pub utilization_permille: u64,
    /// The flows that fill it, largest first; at most 8.
    pub flows: Vec<FillingFlow>,
    /// Bytes of reported packets since the interface became nearly full.
    pub reported_bytes: u64,
}

impl EgressUtilization {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}

/// A flow that fills an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FillingFlow {
    /// The flow.
    pub flow: Flow,
    /// Bytes of its reported packets.
    pub bytes: u64,
    /// Its share of the reported bytes, thousandths; a share of reported packets, not of all packets.
    pub share_permille: u64,
}
