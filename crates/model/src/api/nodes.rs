//! Nodes and their egress interfaces, in answers.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;
use super::window::WindowValues;
use crate::{Labels, Nanos, NodeId};

/// A node that reports, or appears on a metadata stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    /// The node.
    pub node_id: NodeId,
    /// Addresses its reports come from, latest first; empty for a node that sends none.
    pub addresses: Vec<IpAddr>,
    /// Individual reports received from the node.
    pub reports: u64,
    /// Datagrams from the node that were lost.
    pub lost: u64,
    /// Losses of an unknown number of datagrams.
    pub lost_unknown: u64,
    /// When the first report from the node or about it arrived.
    pub first_seen: Nanos,
    /// When the last report from the node or about it arrived.
    pub last_seen: Nanos,
    /// Egress interfaces seen so far, ascending; packets without an egress interface do not count.
    pub egress_interfaces: Vec<u16>,
    /// Hop latency over all egress interfaces.
    pub latency: Option<LatencySummary>,
}

/// A node that reports, or appears on a metadata stack, with its name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Node")]
pub struct NamedNode<'a> {
    /// The node as the collector knows it.
    #[serde(flatten)]
    pub node: &'a NodeView,
    /// Name of the node.
    pub name: Option<&'a str>,
    /// Labels of the node, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<&'a Labels>,
    /// Hop latency in the requested window; null if there is no report, missing without `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}

/// Hop latency and utilization of one egress interface of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortView {
    /// The node.
    pub node_id: NodeId,
    /// The egress interface; null if the node does not report it.
    pub egress_interface: Option<u16>,
    /// Hop latency; null if no report contains it.
    pub latency: Option<LatencySummary>,
    /// Egress utilization, in the node's unit; null if no report contains it.
    pub utilization: Option<LevelView>,
    /// When a packet that left by it was last reported.
    pub last_seen: Nanos,
}

/// The latest and the highest value of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Level")]
pub struct LevelView {
    /// Latest value.
    pub last: u32,
    /// Highest value.
    pub max: u32,
    /// When `last` was reported.
    pub last_at: Nanos,
}

/// Hop latency and utilization of one egress interface of a node, with the names of both and of the far end
/// of the link.
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
    /// The far end of its link.
    pub interface_to: Option<&'a str>,
    /// The value of `utilization` that means a full link; null if unknown.
    pub utilization_full: Option<u32>,
    /// Latest utilization, thousandths of a full link; null if unknown.
    pub utilization_permille: Option<u64>,
    /// Labels of the interface, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<&'a Labels>,
    /// Labels of the node, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<&'a Labels>,
    /// Hop latency in the requested window; null if there is no report, missing without `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}
