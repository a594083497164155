//! Distribution of flows over links of equal cost: `GET /api/v1/ecmp`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// Parameters of `GET /api/v1/ecmp`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EcmpQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Only groups of this node.
    pub node: Option<u32>,
    /// Maximum number of groups, most unequal first.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

/// The groups of equal-cost links that flows used in a time range.
///
/// Links are of equal cost when a node uses them towards the same last node over the same number of hops.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ecmp {
    /// Start of the time range; the first step starts with the minute that contains it.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// The groups, most unequal first.
    pub groups: EcmpGroupColumns,
    /// The links of the groups, group by group.
    pub links: EcmpLinkColumns,
    /// Reports by link and step; steps without reports are omitted.
    pub series: EcmpSeries,
    /// The flows with the most reports on each link.
    pub largest: EcmpFlowColumns,
    /// Number of groups beyond `limit`.
    pub left_out: u32,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// The load by which the links of a group are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcmpLoad {
    /// Reports that contain both ends of a link.
    Reports,
    /// Flows, if history has no such reports.
    #[default]
    Flows,
}

/// Groups of links among which one node chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpGroupColumns {
    /// The node that spreads the flows.
    pub node: Vec<u32>,
    /// Its name.
    pub name: Vec<Option<String>>,
    /// Number of links.
    pub links: Vec<u32>,
    /// Flows over any of the links.
    pub flows: Vec<u64>,
    /// Reports that contain both ends of one of the links.
    pub reports: Vec<u64>,
    /// The load by which the links are compared.
    pub load: Vec<EcmpLoad>,
    /// Highest load over the mean load, thousandths.
    pub highest_to_mean_permille: Vec<u64>,
    /// Jain's fairness index of the loads, thousandths; 1000 if all links carry the same.
    pub jain_permille: Vec<u64>,
}

/// The links of the groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpLinkColumns {
    /// Row of `groups`.
    pub group: Vec<u32>,
    /// Egress interface.
    pub egress_interface: Vec<u32>,
    /// The next hop.
    pub next_node: Vec<u32>,
    /// Name of the next hop.
    pub next_name: Vec<Option<String>>,
    /// Ingress interface of the next hop.
    pub ingress_interface: Vec<Option<u32>>,
    /// Flows over the link.
    pub flows: Vec<u64>,
    /// Reports that contain both ends of the link.
    pub reports: Vec<u64>,
    /// Share of the group's load, thousandths.
    pub share_permille: Vec<u64>,
}

/// Reports by link and step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpSeries {
    /// Row of `links`.
    pub link: Vec<u32>,
    /// Step number; 0 is the first.
    pub step: Vec<u32>,
    /// Reports that contain both ends of the link.
    pub reports: Vec<u64>,
}

/// The largest flows of each link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpFlowColumns {
    /// Row of `links`.
    pub link: Vec<u32>,
    /// The flow.
    pub flow: Vec<Exact>,
    /// Reports on the flow since it was first seen.
    pub reports: Vec<u64>,
}
