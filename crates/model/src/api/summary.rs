//! Ledger, incidents and key figures over time: `GET /api/v1/summary`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::{Span, TimeSelection};
use crate::{Ledger, Severity};

/// Parameters of `GET /api/v1/summary`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SummaryQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Length of a step; default: a sixtieth of the time range. There are at most 1,000 steps.
    pub step: Option<Span>,
}

/// Ledger, incidents and key figures in one answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The collector's current time.
    pub now: Exact,
    /// Start of the first step. With steps of a second or more, the time range is extended to whole seconds,
    /// or to whole minutes where history has no `totals` of it.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Where every report went since the start.
    pub ledger: Ledger,
    /// Nodes that report.
    pub nodes: u64,
    /// Known flows.
    pub flows: u64,
    /// Active events.
    pub active_events: u64,
    /// Events on the same queue, link or flow that came together: active first, then latest first; at most
    /// 50.
    pub incidents: Vec<Incident>,
    /// One row per step with reports.
    pub steps: SummaryColumns,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Events on one subject that came within a second of each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// The subject, with names.
    pub title: String,
    /// When the first of them began.
    pub first: Exact,
    /// When the last of them was last reported.
    pub last: Exact,
    /// The highest severity among them.
    pub severity: Severity,
    /// Whether one of them is active.
    pub active: bool,
    /// Their distinct kinds, most severe first.
    pub kinds: Vec<String>,
    /// Their ids, most severe first; at most 20.
    pub events: Vec<String>,
    /// Number of events.
    pub count: u64,
}

/// Key figures by step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryColumns {
    /// Step number; 0 is the first.
    pub step: Vec<u32>,
    /// Number of hops reported.
    pub hops: Vec<u64>,
    /// Longest hop latency, nanoseconds.
    pub max_latency: Vec<Option<u64>>,
    /// Highest queue occupancy, in its node's unit.
    pub max_occupancy: Vec<Option<u64>>,
    /// Number of drop reports; null if the step comes from `minutes` of an earlier version, which do not
    /// contain it.
    pub drops: Vec<Option<u64>>,
}
