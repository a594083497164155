//! The detail of an `ecmp-imbalance` event.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Links that should carry equal loads carry unequal ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EcmpImbalance {
    /// The node that spreads the flows.
    pub node_id: NodeId,
    /// The load of each of its links.
    pub links: Vec<LinkRate>,
    /// Thousandths: the highest rate over the mean.
    pub highest_to_mean_permille: u64,
    /// Thousandths: Jain's index, 1000 where all links carry the same.
    pub jain_permille: u64,
    /// Whether the rates are the utilisation that the node reports; otherwise they are bytes of reported
    /// packets, a sample that nodes with smart filters choose.
    pub by_utilization: bool,
}

impl EcmpImbalance {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}

/// The load of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRate {
    /// The interface packets leave by.
    pub egress_interface: u16,
    /// Utilisation in the node's unit, or bytes of reported packets a second.
    pub rate: u64,
}
