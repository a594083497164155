//! What only `sequence-reset` has.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// A node started to number its reports anew, most likely because it restarted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceReset {
    /// The reporting node.
    pub node_id: NodeId,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// The sequence number that would have been in order.
    pub expected: u32,
    /// The sequence number that came.
    pub sequence: u32,
}
