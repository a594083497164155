//! What is there to tell of the telemetry itself?

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// A link, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnds {
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by; `None` where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The node they come to.
    pub to: NodeId,
    /// The interface they come in by.
    pub ingress_interface: Option<u16>,
}

/// Packets arrive at the end of a link before they were sent, by the clocks of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NegativeLinkLatency {
    /// The link.
    pub link: LinkEnds,
    /// Nanoseconds, below zero: the clocks disagree by at least so much.
    pub lowest_ns: i64,
}

/// The clocks at both ends of a link run at different speeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// The link.
    pub link: LinkEnds,
    /// Nanoseconds that the clock at its end gains in each second on the one where it begins.
    pub ns_per_second: i64,
}

/// Reports with one node id come from two addresses in turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicateNodeId {
    /// The node id.
    pub node_id: NodeId,
    /// The addresses.
    pub addresses: Vec<IpAddr>,
}

/// A node that is not in the list of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownNode {
    /// The node id.
    pub node_id: NodeId,
    /// Where its reports come from; `None` for one that stands on a stack only.
    pub address: Option<IpAddr>,
}

/// A node watches the telemetry reports themselves: each report may cause another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAboutReport {
    /// The node that reports them.
    pub node_id: NodeId,
    /// The flow of the reports.
    pub flow: Flow,
}
