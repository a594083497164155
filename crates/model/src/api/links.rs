//! Links between nodes, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;
use super::nodes::{NamedNode, NodeView};
use super::window::WindowValues;
use crate::{Labels, Nanos, NodeId};

/// A link found on paths, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkView {
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by; null if the node does not report it.
    pub egress_interface: Option<u16>,
    /// The node they reach.
    pub to: NodeId,
    /// The interface they enter it by; null if the node does not report it.
    pub ingress_interface: Option<u16>,
    /// Whether it is certain that no other node is between the two.
    pub certain: bool,
    /// When a path over the link was first reported.
    pub first_seen: Nanos,
    /// When a path over the link was last reported, to an eighth of an epoch.
    pub last_seen: Nanos,
    /// Link latency by the clocks at both ends; null if reports contain no 64-bit timestamps.
    pub latency: Option<LatencySummary>,
    /// Error bound of `latency`, because the clocks at both ends differ; null: unbounded.
    pub clock_uncertainty: Option<Nanos>,
}

/// A link found on paths, in the direction packets take, with the names of its ends.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Link")]
pub struct NamedLink<'a> {
    /// Link id in `/api/v1/links/{id}/flows`: `FROM.INTERFACE-TO.INTERFACE`.
    pub id: String,
    /// The link as the collector knows it.
    #[serde(flatten)]
    pub link: &'a LinkView,
    /// The name of the node packets leave.
    pub from_name: Option<&'a str>,
    /// The name of the interface they leave it by.
    pub egress_interface_name: Option<&'a str>,
    /// The name of the node they reach.
    pub to_name: Option<&'a str>,
    /// The name of the interface they enter it by.
    pub ingress_interface_name: Option<&'a str>,
    /// Labels of the egress interface, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_interface_labels: Option<&'a Labels>,
    /// Labels of the ingress interface, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_interface_labels: Option<&'a Labels>,
    /// Link latency in the requested window; null if there is no report, missing without `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}

/// The nodes, and the links between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TopologyView {
    /// Sorted by node id.
    pub nodes: Vec<NodeView>,
    /// Sorted by the node ids of both ends.
    pub links: Vec<LinkView>,
}

/// Nodes and links with their names.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Topology")]
pub struct NamedTopology<'a> {
    /// Sorted by node id.
    pub nodes: Vec<NamedNode<'a>>,
    /// Sorted by the node ids of both ends.
    pub links: Vec<NamedLink<'a>>,
}
