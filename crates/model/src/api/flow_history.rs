//! Path history of a flow, and its paths at two times: `GET /api/v1/flows/{id}/history`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// Parameters of `GET /api/v1/flows/{id}/history`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowHistoryQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Two times to compare, separated by a comma.
    pub compare: Option<String>,
    /// Maximum number of paths; the latest are returned.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

/// The path history of a flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowHistory {
    /// The flow.
    pub flow: Exact,
    /// Start of the time range.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// The paths, earliest first.
    pub periods: Vec<PathPeriod>,
    /// Whether earlier paths were left out because of `limit`.
    pub is_cut: bool,
    /// Differences between the two times of `compare`; null without `compare`.
    pub comparison: Option<PathComparison>,
}

/// A path, and the period in which the flow took it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathPeriod {
    /// Path id, 16 hexadecimal digits; `path_id` in SQL.
    pub path: String,
    /// When the path was first known; null: before `from`.
    pub since: Option<Exact>,
    /// When the next path was first known; null if none followed.
    pub until: Option<Exact>,
    /// Expected number of hops; null if unknown.
    pub hops_expected: Option<u32>,
    /// The hops with their reported latencies in this period, first hop first.
    pub hops: Vec<PathHop>,
    /// Links of the previous path that are not on this path.
    pub left: Vec<PathLink>,
    /// Links of this path that were not on the previous path.
    pub joined: Vec<PathLink>,
    /// The event that explains the change to this path; null if there is none.
    pub reason: Option<PeriodReason>,
}

/// A hop with its reported latencies in a period.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathHop {
    /// The node.
    pub node: u32,
    /// Level 1 interface packets enter by.
    pub ingress_interface: Option<u32>,
    /// Level 1 interface packets leave by.
    pub egress_interface: Option<u32>,
    /// Reports on the hop in the period.
    pub reports: u64,
    /// Median hop latency, nanoseconds.
    pub p50: Option<u64>,
    /// 99th percentile of the hop latency, nanoseconds.
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
    /// The node they reach.
    pub to: u32,
    /// The interface they enter it by.
    pub ingress_interface: Option<u32>,
}

/// The event that explains a change of path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeriodReason {
    /// Event id.
    pub event: String,
    /// Event kind.
    pub kind: String,
    /// Kind of path change: `reroute`, `ecmp-move` or `flap`; null for other kinds of events.
    pub change: Option<String>,
}

/// The paths of a flow at two times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathComparison {
    /// The path at the first time, with reported latencies from the five seconds around it; null if unknown.
    pub before: Option<PathPeriod>,
    /// The path at the second time, with reported latencies from the five seconds around it; null if unknown.
    pub after: Option<PathPeriod>,
    /// Links that only the first path has.
    pub left: Vec<PathLink>,
    /// Links that only the second path has.
    pub joined: Vec<PathLink>,
}
