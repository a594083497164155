//! How nodes spread flows over links of equal cost: `GET /api/v1/ecmp`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// When, and of which node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EcmpQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Only groups of this node.
    pub node: Option<u32>,
    /// Maximum number of groups, the most unequal first.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

/// The groups of links of equal cost that flows took in a time.
///
/// Links are of equal cost when a node uses them towards the same last node over the same number of hops.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ecmp {
    /// The beginning of the time; that of the first step is the minute in which it lies.
    pub from: Exact,
    /// The end of the time.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// The groups, the most unequal first.
    pub groups: EcmpGroupColumns,
    /// The links of the groups, group by group.
    pub links: EcmpLinkColumns,
    /// Reports of each step that has some.
    pub series: EcmpSeries,
    /// The flows with the most reports of each link.
    pub largest: EcmpFlowColumns,
    /// Groups beyond `limit`.
    pub left_out: u32,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// What groups are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcmpLoad {
    /// By reports that hold both ends of a link.
    Reports,
    /// By flows, as history knows no such reports.
    #[default]
    Flows,
}

/// The links that one node chooses among.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpGroupColumns {
    /// The node that spreads the flows.
    pub node: Vec<u32>,
    /// Its name.
    pub name: Vec<Option<String>>,
    /// How many links there are.
    pub links: Vec<u32>,
    /// Flows over any of them.
    pub flows: Vec<u64>,
    /// Reports that hold both ends of one of them.
    pub reports: Vec<u64>,
    /// What the links are compared by.
    pub load: Vec<EcmpLoad>,
    /// The highest load over the mean, thousandths.
    pub highest_to_mean_permille: Vec<u64>,
    /// Jain's index of the loads, thousandths: 1000 where all links carry the same.
    pub jain_permille: Vec<u64>,
}

/// The links of the groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpLinkColumns {
    /// The row of `groups`.
    pub group: Vec<u32>,
    /// The interface by which packets leave.
    pub egress_interface: Vec<u32>,
    /// The next hop.
    pub next_node: Vec<u32>,
    /// Its name.
    pub next_name: Vec<Option<String>>,
    /// The interface by which they come there.
    pub ingress_interface: Vec<Option<u32>>,
    /// Flows over it.
    pub flows: Vec<u64>,
    /// Reports that hold both ends.
    pub reports: Vec<u64>,
    /// Its part of the load of the group, thousandths.
    pub share_permille: Vec<u64>,
}

/// Reports by link and step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpSeries {
    /// The row of `links`.
    pub link: Vec<u32>,
    /// Which step, 0 is the first.
    pub step: Vec<u32>,
    /// Reports that hold both ends.
    pub reports: Vec<u64>,
}

/// The largest flows by link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EcmpFlowColumns {
    /// The row of `links`.
    pub link: Vec<u32>,
    /// The flow.
    pub flow: Vec<Exact>,
    /// Reports on it since it is known.
    pub reports: Vec<u64>,
}
