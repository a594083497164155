//! What was dropped, where and why: `GET /api/v1/drops`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::{Span, TimeSelection};

/// When, and by what drops are told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DropsQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// By what they are told apart.
    pub by: DropGrouping,
    /// Only those of this node.
    pub node: Option<u32>,
    /// Length of a step; a sixtieth of the time where it is left out. There are at most 1,000 steps.
    pub step: Option<Span>,
    /// Maximum number of groups, those with the most drops.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

/// By what drops are told apart.
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
    /// The beginning of the first step.
    pub from: Exact,
    /// The end of the time.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Drop reports in all.
    pub reports: u64,
    /// The groups, those with the most reports first.
    pub groups: DropColumns,
    /// Reports of each step that has some.
    pub series: DropSeries,
    /// What the reasons that occur mean, as far as events of this time tell.
    pub reasons: Vec<DropReason>,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// What is dropped; columns by which they are not told apart hold null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropColumns {
    /// The node.
    pub node: Vec<Option<u32>>,
    /// Its egress interface.
    pub interface: Vec<Option<u32>>,
    /// The code of the reason.
    pub reason: Vec<Option<u32>>,
    /// The flow.
    pub flow: Vec<Option<Exact>>,
    /// Drop reports.
    pub reports: Vec<u64>,
}

/// Reports by group and step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropSeries {
    /// The row of `groups`.
    pub group: Vec<u32>,
    /// Which step, 0 is the first.
    pub step: Vec<u32>,
    /// Drop reports.
    pub reports: Vec<u64>,
}

/// What a drop reason means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropReason {
    /// The code of the reason.
    pub reason: Option<u32>,
    /// Its name.
    pub name: String,
    /// `blackhole`, `congestion-loss`, `policy` or `other`.
    pub class: String,
    /// What to look at.
    pub check: String,
}
