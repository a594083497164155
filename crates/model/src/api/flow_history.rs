//! The paths a flow took, and what differs between two times: `GET /api/v1/flows/{id}/history`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// Over which time, and which two times are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowHistoryQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Two times with a comma between them.
    pub compare: Option<String>,
    /// Maximum number of paths, the latest of them.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

/// The paths of a flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowHistory {
    /// The flow.
    pub flow: Exact,
    /// The beginning of the time that was looked at.
    pub from: Exact,
    /// Its end.
    pub to: Exact,
    /// The paths, the earliest first.
    pub periods: Vec<PathPeriod>,
    /// Whether there were more paths than `limit`, earlier than these.
    pub is_cut: bool,
    /// What differs between the two times of `compare`; null where it was not asked for.
    pub comparison: Option<PathComparison>,
}

/// A path, and the time in which the flow took it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathPeriod {
    /// Names the path.
    pub path: String,
    /// When it was known; null: before `from`.
    pub since: Option<Exact>,
    /// When the next path was known; null: it is the last one.
    pub until: Option<Exact>,
    /// Hops it should have; null where nothing tells.
    pub hops_expected: Option<u32>,
    /// The hops with what reports say of them in this time, first hop first.
    pub hops: Vec<PathHop>,
    /// Links of the path before that this one does not have.
    pub left: Vec<PathLink>,
    /// Links that the path before did not have.
    pub joined: Vec<PathLink>,
    /// The event that tells why the flow came to this path; null where none does.
    pub reason: Option<PeriodReason>,
}

/// A hop with what reports of a time say of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathHop {
    /// The node.
    pub node: u32,
    /// Level 1 interface packets enter by.
    pub ingress_interface: Option<u32>,
    /// Level 1 interface packets leave by.
    pub egress_interface: Option<u32>,
    /// Reports on it in this time.
    pub reports: u64,
    /// Median hop latency, nanoseconds.
    pub p50: Option<u64>,
    /// What 99 of 100 hop latencies do not exceed, nanoseconds.
    pub p99: Option<u64>,
    /// The longest hop latency, nanoseconds.
    pub max: Option<u64>,
}

/// A link between two nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathLink {
    /// The node packets leave.
    pub from: u32,
    /// The interface they leave by.
    pub egress_interface: Option<u32>,
    /// The node they come to.
    pub to: u32,
    /// The interface they come in by.
    pub ingress_interface: Option<u32>,
}

/// An event beside a change of path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeriodReason {
    /// The event.
    pub event: String,
    /// Its kind.
    pub kind: String,
    /// What kind of change of path it tells: `reroute`, `ecmp-move` or `flap`; null of other kinds.
    pub change: Option<String>,
}

/// A flow at two times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathComparison {
    /// The path at the first time, with what reports of the period say; null where none is known.
    pub before: Option<PathPeriod>,
    /// The path at the second time.
    pub after: Option<PathPeriod>,
    /// Links that only the first path has.
    pub left: Vec<PathLink>,
    /// Links that only the second path has.
    pub joined: Vec<PathLink>,
}
