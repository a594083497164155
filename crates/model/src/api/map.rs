//! The fabric at one time: `GET /api/v1/map`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// When, coloured by what, and in which form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MapQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// What `value` of nodes, interfaces and links is.
    pub by: MapColor,
    /// Which parts are wanted.
    pub form: MapForm,
    /// Whether nodes are put together.
    pub group: MapGroup,
    /// Only this node, its interfaces and its links.
    pub node: Option<u32>,
}

/// What a map is coloured by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapColor {
    /// The 99th percentile of the hop latency, nanoseconds.
    #[default]
    P99,
    /// The longest hop latency, nanoseconds.
    Max,
    /// The greatest queue occupancy, in the node's unit.
    Depth,
    /// The greatest utilisation, in the node's unit.
    Utilization,
    /// Drop reports.
    Drops,
    /// Reports.
    Reports,
}

/// Whether nodes are put together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapGroup {
    /// Each stands for itself.
    #[default]
    None,
    /// In at most 200 groups, of nodes that have the same neighbours; with up to 200 nodes each is a group.
    Auto,
}

/// Which parts of a map are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapForm {
    /// Nodes, interfaces and links with all that is known.
    #[default]
    Full,
    /// Nodes and links with their value alone: what a matrix is painted from.
    Matrix,
}

/// The fabric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FabricMap {
    /// The beginning of the time that was looked at; whole minutes count where it is longer than ten, whole
    /// hours where it is longer than two days.
    pub from: Exact,
    /// Its end.
    pub to: Exact,
    /// What `value` is.
    pub by: MapColor,
    /// The nodes that report and those on paths, by rising id.
    pub nodes: MapNodeColumns,
    /// Their egress interfaces with reports in this time; without rows in the form `matrix`.
    pub interfaces: MapInterfaceColumns,
    /// The links that paths have shown.
    pub links: MapLinkColumns,
    /// The groups, where they are wanted; `nodes`, `interfaces` and `links` then have no rows.
    pub groups: MapGroupColumns,
    /// The links between groups, where these are wanted.
    pub bundles: MapBundleColumns,
    /// Where values come from: `observations`, which are exact, or `minutes`, `hours` or both, whose percentiles are at most
    /// 1.6 % off.
    pub source: String,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// Nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapNodeColumns {
    /// The node.
    pub node: Vec<u32>,
    /// Its name.
    pub name: Vec<Option<String>>,
    /// Whether reports of it have come at all; others are only on stacks.
    pub reports_itself: Vec<bool>,
    /// What the map is coloured by: the highest of its interfaces; null where no report of this time tells.
    pub value: Vec<Option<u64>>,
    /// Hops reported in this time.
    pub reports: Vec<u64>,
}

/// Egress interfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapInterfaceColumns {
    /// The node.
    pub node: Vec<u32>,
    /// Its egress interface.
    pub interface: Vec<Option<u32>>,
    /// What the map is coloured by.
    pub value: Vec<Option<u64>>,
    /// Hops reported.
    pub reports: Vec<u64>,
    /// Median hop latency, nanoseconds.
    pub p50: Vec<Option<u64>>,
    /// 99th percentile of the hop latency, nanoseconds.
    pub p99: Vec<Option<u64>>,
    /// The longest hop latency, nanoseconds.
    pub max: Vec<Option<u64>>,
    /// The greatest queue occupancy, in the node's unit.
    pub depth: Vec<Option<u64>>,
    /// The greatest utilisation, in the node's unit.
    pub utilization: Vec<Option<u64>>,
    /// Drop reports.
    pub drops: Vec<u64>,
}

/// Links, in the direction packets take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapLinkColumns {
    /// The row of `nodes` packets leave.
    pub from: Vec<u32>,
    /// The interface they leave by.
    pub egress_interface: Vec<Option<u32>>,
    /// The row of `nodes` they come to.
    pub to: Vec<u32>,
    /// The interface they come in by.
    pub ingress_interface: Vec<Option<u32>>,
    /// What the map is coloured by, of the interface packets leave by.
    pub value: Vec<Option<u64>>,
    /// Whether it is certain that no other node stands between.
    pub certain: Vec<bool>,
    /// Median time over the link, nanoseconds, as it is now; without rows in the form `matrix`.
    pub latency_p50: Vec<Option<u64>>,
    /// By how much that may be wrong; null: by any amount. Without rows in the form `matrix`.
    pub uncertainty: Vec<Option<u64>>,
    /// Seconds since a path over it was last reported; without rows in the form `matrix`.
    pub silent_seconds: Vec<u64>,
}

/// Groups of nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapGroupColumns {
    /// Its name: that of its only node, or those of the first and the last.
    pub name: Vec<String>,
    /// Its nodes.
    pub nodes: Vec<Vec<u32>>,
    /// What the map is coloured by: the highest of its nodes, the sum where it counts drops or reports.
    pub value: Vec<Option<u64>>,
    /// Hops reported in this time.
    pub reports: Vec<u64>,
}

/// Links between two groups, or within one, in the direction packets take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapBundleColumns {
    /// The row of `groups` packets leave.
    pub from: Vec<u32>,
    /// The row of `groups` they come to.
    pub to: Vec<u32>,
    /// How many links it has.
    pub links: Vec<u32>,
    /// What the map is coloured by: the highest of its links, the sum where it counts drops or reports.
    pub value: Vec<Option<u64>>,
    /// Links of which it is not certain that no other node stands between.
    pub uncertain: Vec<u32>,
}
