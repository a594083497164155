//! What is there to tell of the numbers of reports and packets?

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// Reports of one stream were sent and did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLoss {
    /// The reporting node.
    pub node_id: NodeId,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// Datagrams lost in the window.
    pub lost: u64,
    /// Datagrams accepted in the window.
    pub accepted: u64,
    /// Times in the window at which an unknown number of datagrams was lost.
    pub lost_unknown: u64,
    /// Length of the window.
    pub window: Nanos,
}

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

/// Packets of a flow that were numbered by its source are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceGap {
    /// The flow.
    pub flow: Flow,
    /// The node that saw the gap.
    pub node_id: NodeId,
    /// Packets lost; of all packets, as the source numbers each.
    pub lost: u64,
}
