//! The detail of an `unknown-node` event.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// A node that is not in the list of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownNode {
    /// The node id.
    pub node_id: NodeId,
    /// Where its reports come from; `None` for a node that appears only on metadata stacks.
    pub address: Option<IpAddr>,
}

impl UnknownNode {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
