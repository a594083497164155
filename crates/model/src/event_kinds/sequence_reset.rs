//! The detail of a `sequence-reset` event.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// A node started to number its reports anew, most likely because it restarted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceReset {
    /// The reporting node.
    pub node_id: NodeId,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// The next sequence number in order.
    pub expected: u32,
    /// The sequence number that arrived.
    pub sequence: u32,
}

impl SequenceReset {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
