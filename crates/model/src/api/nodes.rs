//! Nodes and their egress interfaces, in answers.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;
use super::window::WindowValues;
use crate::{Labels, Nanos, NodeId};

/// A node that reports, or stands on a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    /// The node.
    pub node_id: NodeId,
    /// Where its reports come from, the latest addresses first; empty for a node that reports nothing itself.
    pub addresses: Vec<IpAddr>,
    /// Individual reports it sent.
    pub reports: u64,
    /// Datagrams it sent that did not arrive.
    pub lost: u64,
    /// Times at which an unknown number of them did not.
    pub lost_unknown: u64,
    /// When the first report by it or on it arrived.
    pub first_seen: Nanos,
    /// When the latest one did.
    pub last_seen: Nanos,
    /// Its egress interfaces that were seen, by rising number; without those it does not name.
    pub egress_interfaces: Vec<u16>,
    /// Hop latency over all of them.
    pub latency: Option<LatencySummary>,
}

/// A node that reports, or stands on a stack, with its name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Node")]
pub struct NamedNode<'a> {
    /// The node as the collector knows it.
    #[serde(flatten)]
    pub node: &'a NodeView,
    /// What people call it.
    pub name: Option<&'a str>,
    /// What the names file says of it besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<&'a Labels>,
    /// Hop latency in the window that was asked for; null: no report. Missing where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}

/// How long packets stay in one node on their way to one of its egress interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortView {
    /// The node.
    pub node_id: NodeId,
    /// The egress interface; null where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The hop latency; null where no report tells.
    pub latency: Option<LatencySummary>,
    /// Utilisation of the interface, in the node's unit; null where no report tells.
    pub utilization: Option<LevelView>,
    /// When a report last told of a packet that left by it.
    pub last_seen: Nanos,
}

/// How high a level stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Level")]
pub struct LevelView {
    /// The latest value.
    pub last: u32,
    /// The highest so far.
    pub max: u32,
    /// When `last` was reported.
    pub last_at: Nanos,
}

/// How long packets stay in a node on their way to one of its interfaces, with the names of both and of what is on the
/// other end of the link.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Interface")]
pub struct NamedPort<'a> {
    /// The interface as the collector knows it.
    #[serde(flatten)]
    pub port: &'a PortView,
    /// The name of the node.
    pub node_name: Option<&'a str>,
    /// The name of the interface.
    pub interface_name: Option<&'a str>,
    /// What is on the other end of its link.
    pub interface_to: Option<&'a str>,
    /// The value of `utilization` that means a full link; null: not known.
    pub utilization_full: Option<u32>,
    /// The latest utilization, thousandths of a full link; null: not known.
    pub utilization_permille: Option<u64>,
    /// What the names file says of the interface besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<&'a Labels>,
    /// What the names file says of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<&'a Labels>,
    /// Hop latency in the window that was asked for; null: no report. Missing where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}
