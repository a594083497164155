//! The detail of a `duplicate-node-id` event.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Reports with one node id come from two addresses alternately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicateNodeId {
    /// The node id.
    pub node_id: NodeId,
    /// The addresses.
    pub addresses: Vec<IpAddr>,
}

impl DuplicateNodeId {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
