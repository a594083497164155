//! The detail of a `report-loss` event.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{Nanos, NodeId};

/// Reports of one stream were sent and did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLoss {
    /// The reporting node.
    pub node_id: NodeId,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// Datagrams lost in the window.
    pub lost: u64,
    /// Datagrams accepted in the window.
    pub accepted: u64,
    /// Losses of an unknown number of datagrams in the window.
    pub lost_unknown: u64,
    /// Length of the window.
    pub window: Nanos,
}

impl ReportLoss {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
