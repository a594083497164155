//! Drop reports by reason, node, interface or flow: `GET /api/v1/drops`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::{Span, TimeSelection};

/// Parameters of `GET /api/v1/drops`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DropsQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// How drop reports are grouped.
    pub by: DropGrouping,
    /// Only drops at this node.
    pub node: Option<u32>,
    /// Length of a step; default: a sixtieth of the time range. There are at most 1,000 steps.
    pub step: Option<Span>,
    /// Maximum number of groups; those with the most drop reports are returned.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

/// How drop reports are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropGrouping {
    /// By reason.
    #[default]
    Reason,
    /// By node.
    Node,
    /// By node and egress interface.
    Interface,
    /// By flow.
    Flow,
}

/// Drop reports over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drops {
    /// Start of the first step.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Total number of drop reports.
    pub reports: u64,
    /// The groups, most reports first.
    pub groups: DropColumns,
    /// Reports by group and step; steps without reports are omitted.
    pub series: DropSeries,
    /// Meanings of the drop reasons, as far as events in the time range contain them.
    pub reasons: Vec<DropReason>,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Groups of drop reports; columns that do not distinguish the groups are null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropColumns {
    /// The node.
    pub node: Vec<Option<u32>>,
    /// Its egress interface.
    pub interface: Vec<Option<u32>>,
    /// Drop reason code.
    pub reason: Vec<Option<u32>>,
    /// The flow.
    pub flow: Vec<Option<Exact>>,
    /// Drop reports.
    pub reports: Vec<u64>,
}

/// Reports by group and step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropSeries {
    /// Row of `groups`.
    pub group: Vec<u32>,
    /// Step number; 0 is the first.
    pub step: Vec<u32>,
    /// Drop reports.
    pub reports: Vec<u64>,
}

/// The meaning of a drop reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropReason {
    /// Drop reason code.
    pub reason: Option<u32>,
    /// Its name.
    pub name: String,
    /// `blackhole`, `congestion-loss`, `policy` or `other`.
    pub class: String,
    /// What to check.
    pub check: String,
}
