//! Links between nodes, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;
use super::nodes::{NamedNode, NodeView};
use super::window::WindowValues;
use crate::{Labels, Nanos, NodeId};

/// A link that paths have shown, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkView {
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by; null where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The node they come to.
    pub to: NodeId,
    /// The interface they come in by.
    pub ingress_interface: Option<u16>,
    /// Whether it is certain that no other node stands between the two.
    pub certain: bool,
    /// When the first path over it was told.
    pub first_seen: Nanos,
    /// When a report last told a path over it, to an eighth of an epoch.
    pub last_seen: Nanos,
    /// How long packets take, by the clocks at both ends; null where reports give no 64-bit timestamps.
    pub latency: Option<LatencySummary>,
    /// By how much `latency` may be wrong, as the clocks at both ends differ; null: by any amount.
    pub clock_uncertainty: Option<Nanos>,
}

/// A link that paths have shown, in the direction packets take, with the names of its ends.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Link")]
pub struct NamedLink<'a> {
    /// By which its flows are asked for: `FROM.INTERFACE-TO.INTERFACE`.
    pub id: String,
    /// The link as the collector knows it.
    #[serde(flatten)]
    pub link: &'a LinkView,
    /// The name of the node packets leave.
    pub from_name: Option<&'a str>,
    /// The name of the interface they leave it by.
    pub egress_interface_name: Option<&'a str>,
    /// The name of the node they come to.
    pub to_name: Option<&'a str>,
    /// The name of the interface they come in by.
    pub ingress_interface_name: Option<&'a str>,
    /// What the names file says of the egress interface besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_interface_labels: Option<&'a Labels>,
    /// What the names file says of the ingress interface besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_interface_labels: Option<&'a Labels>,
    /// Time over the link in the window that was asked for; null: no report. Missing where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}

/// The nodes, and the links between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TopologyView {
    /// By rising node id.
    pub nodes: Vec<NodeView>,
    /// By rising ids of the nodes they begin and end at.
    pub links: Vec<LinkView>,
}

/// Nodes and links with their names.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Topology")]
pub struct NamedTopology<'a> {
    /// By rising id.
    pub nodes: Vec<NamedNode<'a>>,
    /// By rising ids of both ends.
    pub links: Vec<NamedLink<'a>>,
}
