//! How a value is spread over time: `GET /api/v1/heat`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::{Span, TimeSelection};

/// Of what, where, and how fine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeatQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// What is counted.
    pub of: HeatOf,
    /// Only hops in this node.
    pub node: Option<u32>,
    /// Only hops that leave by this interface.
    pub interface: Option<u32>,
    /// Only hops through this queue of the interface.
    pub queue: Option<u32>,
    /// Only hops of packets of this flow.
    pub flow: Option<String>,
    /// Length of a step; a hundredth of the time where it is left out. There are at most 1,000 steps.
    pub step: Option<Span>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeatOf {
    /// Hop latency, nanoseconds.
    #[default]
    Latency,
    /// Queue occupancy, in the node's unit.
    Occupancy,
    /// Time over links, nanoseconds, of reports that hold both ends; `node` and `interface` are where packets leave.
    Link,
}

/// Counts by step and size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heat {
    /// The beginning of the first step.
    pub from: Exact,
    /// The end of the last one.
    pub to: Exact,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// The least value of each size, rising; a value is of the last size that does not exceed it.
    pub edges: Vec<u64>,
    /// The counts that are not 0.
    pub columns: HeatColumns,
    /// Where counts come from: `observations`, which are exact; `minutes`, whose sizes are at most 1.6 % off; or
    /// `seconds`, where what is usual in a minute is spread evenly over it.
    pub source: String,
    /// Hops counted.
    pub count: u64,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// A count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeatColumns {
    /// Which step, 0 is the first.
    pub step: Vec<u32>,
    /// Which size, by its place in `edges`.
    pub size: Vec<u32>,
    /// How many hops.
    pub count: Vec<u64>,
}
