//! The fabric in one time range: `GET /api/v1/map`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// Parameters of `GET /api/v1/map`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MapQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// The value that colours nodes, interfaces and links.
    pub by: MapColor,
    /// Parts of the map to return.
    pub form: MapForm,
    /// Whether nodes are grouped.
    pub group: MapGroup,
    /// Only this node, its interfaces and its links.
    pub node: Option<u32>,
}

/// The value that colours a map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapColor {
    /// The 99th percentile of the hop latency, nanoseconds.
    #[default]
    P99,
    /// The longest hop latency, nanoseconds.
    Max,
    /// Highest queue occupancy, in the node's unit.
    Depth,
    /// Highest egress utilization, in the node's unit.
    Utilization,
    /// Drop reports.
    Drops,
    /// Reports.
    Reports,
}

/// Whether nodes are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapGroup {
    /// No groups.
    #[default]
    None,
    /// At most 200 groups of nodes with the same neighbours; with up to 200 nodes, each node is a group.
    Auto,
}

/// Parts of a map to return.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapForm {
    /// Nodes, interfaces and links with all their values.
    #[default]
    Full,
    /// Nodes and links with only their `value`, as a matrix view needs them.
    Matrix,
}

/// The fabric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FabricMap {
    /// Start of the time range. Ranges from one minute on are extended to whole minutes; those over two days
    /// to whole hours.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// The value that colours the map.
    pub by: MapColor,
    /// The nodes that report and those on paths, sorted by id.
    pub nodes: MapNodeColumns,
    /// Egress interfaces with reports in the time range; no rows with `form=matrix`.
    pub interfaces: MapInterfaceColumns,
    /// The links found on paths.
    pub links: MapLinkColumns,
    /// The groups, with `group=auto`; `nodes`, `interfaces` and `links` then have no rows.
    pub groups: MapGroupColumns,
    /// The links between groups, with `group=auto`.
    pub bundles: MapBundleColumns,
    /// Source of the values: `observations`, which are exact, or `minutes`, `hours` or both, whose
    /// percentiles are at most 1.6 % off.
    pub source: String,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapNodeColumns {
    /// The node.
    pub node: Vec<u32>,
    /// Its name.
    pub name: Vec<Option<String>>,
    /// Whether the node sends reports itself; other nodes appear only on metadata stacks.
    pub reports_itself: Vec<bool>,
    /// Value that colours the map: the highest of its interfaces, the sum for drops and reports; null if no
    /// report in the time range contains it.
    pub value: Vec<Option<u64>>,
    /// Hops reported in the time range.
    pub reports: Vec<u64>,
}

/// Egress interfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapInterfaceColumns {
    /// The node.
    pub node: Vec<u32>,
    /// Its egress interface.
    pub interface: Vec<Option<u32>>,
    /// Value that colours the map.
    pub value: Vec<Option<u64>>,
    /// Hops reported.
    pub reports: Vec<u64>,
    /// Median hop latency, nanoseconds.
    pub p50: Vec<Option<u64>>,
    /// 99th percentile of the hop latency, nanoseconds.
    pub p99: Vec<Option<u64>>,
    /// The longest hop latency, nanoseconds.
    pub max: Vec<Option<u64>>,
    /// Highest queue occupancy, in the node's unit.
    pub depth: Vec<Option<u64>>,
    /// Highest egress utilization, in the node's unit.
    pub utilization: Vec<Option<u64>>,
    /// Drop reports.
    pub drops: Vec<u64>,
}

/// Links, in the direction packets take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapLinkColumns {
    /// Row of `nodes` that packets leave.
    pub from: Vec<u32>,
    /// The interface they leave by.
    pub egress_interface: Vec<Option<u32>>,
    /// Row of `nodes` that they reach.
    pub to: Vec<u32>,
    /// The interface they enter by.
    pub ingress_interface: Vec<Option<u32>>,
    /// Value that colours the map, of the egress interface.
    pub value: Vec<Option<u64>>,
    /// Whether it is certain that no other node is in between.
    pub certain: Vec<bool>,
    /// Current median link latency, nanoseconds; no rows with `form=matrix`.
    pub latency_p50: Vec<Option<u64>>,
    /// Error bound of `latency_p50`, nanoseconds; null: unbounded. No rows with `form=matrix`.
    pub uncertainty: Vec<Option<u64>>,
    /// Seconds from the last reported path over the link to the end of the time range; null: the last one is
    /// later. No rows with `form=matrix`.
    pub silent_seconds: Vec<Option<u64>>,
}

/// Groups of nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapGroupColumns {
    /// Name of the group: that of its only node, or those of its first and last node.
    pub name: Vec<String>,
    /// Ids of its nodes.
    pub nodes: Vec<Vec<u32>>,
    /// Value that colours the map: the highest of its nodes, the sum for drops and reports.
    pub value: Vec<Option<u64>>,
    /// Hops reported in the time range.
    pub reports: Vec<u64>,
}

/// Links between two groups, or within one, in the direction packets take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapBundleColumns {
    /// Row of `groups` that packets leave.
    pub from: Vec<u32>,
    /// Row of `groups` that they reach.
    pub to: Vec<u32>,
    /// Number of links.
    pub links: Vec<u32>,
    /// Value that colours the map: the highest of its links, the sum for drops and reports.
    pub value: Vec<Option<u64>>,
    /// Number of links that may have another node in between.
    pub uncertain: Vec<u32>,
}
