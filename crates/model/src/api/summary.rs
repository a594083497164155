//! What goes on: `GET /api/v1/summary`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::{Span, TimeSelection};
use crate::{Ledger, Severity};

/// Over which time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SummaryQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Length of a step; a sixtieth of the time where it is left out. There are at most 1,000 steps.
    pub step: Option<Span>,
}

/// What goes on, in one answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The collector's time.
    pub now: Exact,
    /// The beginning of the first step.
    pub from: Exact,
    /// The end of the time.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Where every report went since the start.
    pub ledger: Ledger,
    /// Nodes that report.
    pub nodes: u64,
    /// Flows known at this time.
    pub flows: u64,
    /// Events that go on.
    pub active_events: u64,
    /// Events of the same queue, link or flow that came together, the latest first; at most 50.
    pub incidents: Vec<Incident>,
    /// One row for each step with reports.
    pub steps: SummaryColumns,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// Events about the same thing that came within a second of each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// What they are about, with names.
    pub title: String,
    /// When the first of them began.
    pub first: Exact,
    /// When the last of them was reported last.
    pub last: Exact,
    /// The severity of the worst.
    pub severity: Severity,
    /// Whether one of them goes on.
    pub active: bool,
    /// Their kinds, each once, the worst first.
    pub kinds: Vec<String>,
    /// Their ids, the worst first; at most 20.
    pub events: Vec<String>,
    /// How many there are.
    pub count: u64,
}

/// A step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryColumns {
    /// Which step, 0 is the first.
    pub step: Vec<u32>,
    /// Hops reported.
    pub hops: Vec<u64>,
    /// The longest hop latency, nanoseconds.
    pub max_latency: Vec<Option<u64>>,
    /// The greatest queue occupancy, in its node's unit.
    pub max_occupancy: Vec<Option<u64>>,
    /// Drop reports; null where the step comes from `minutes` written by an earlier version, which do not tell.
    pub drops: Vec<Option<u64>>,
}
