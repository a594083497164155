//! Distribution of a value over time: `GET /api/v1/heat`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::{Span, TimeSelection};

/// Parameters of `GET /api/v1/heat`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeatQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// The value to count.
    pub of: HeatOf,
    /// Only hops in this node.
    pub node: Option<u32>,
    /// Only hops that leave by this interface.
    pub interface: Option<u32>,
    /// Only hops through this queue of the interface.
    pub queue: Option<u32>,
    /// Only hops of packets of this flow.
    pub flow: Option<String>,
    /// Length of a step; default: a hundredth of the time range. There are at most 1,000 steps.
    pub step: Option<Span>,
}

/// The value to count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeatOf {
    /// Hop latency, nanoseconds.
    #[default]
    Latency,
    /// Queue occupancy, in the node's unit.
    Occupancy,
    /// Link latency, nanoseconds, from reports that contain both ends; `node` and `interface` are the egress
    /// side.
    Link,
}

/// Counts by step and size class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heat {
    /// Start of the first step. From `totals` and `seconds`, the time range is extended to whole seconds.
    pub from: Exact,
    /// End of the last step.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Lower bound of each size class, ascending; a value belongs to the last class whose bound does not
    /// exceed it.
    pub edges: Vec<u64>,
    /// The counts that are not 0.
    pub columns: HeatColumns,
    /// Source of the counts: `observations`, which are exact; `totals` or `minutes`, whose sizes are at most
    /// 1.6 % off; or `seconds`, where what does not differ from the rest of its minute is spread evenly over
    /// the minute. Of a minute that is partly in the time range, an equal part counts.
    pub source: String,
    /// Number of hops counted.
    pub count: u64,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Counts by step and size class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeatColumns {
    /// Step number; 0 is the first.
    pub step: Vec<u32>,
    /// Size class: index in `edges`.
    pub size: Vec<u32>,
    /// Number of hops.
    pub count: Vec<u64>,
}
