//! How times are spread, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;

/// How times are spread, nanoseconds: hop latencies, or the time packets take over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Latency")]
pub struct LatencySummary {
    /// Samples so far.
    pub count: u64,
    /// The latest one.
    pub last: Nanos,
    /// The lowest one so far.
    pub min: Nanos,
    /// The highest one so far.
    pub max: Nanos,
    /// The median of the last million or so, to 3.2 %.
    pub p50: Nanos,
    /// What 99 of 100 of the last million or so stay below, to 3.2 %.
    pub p99: Nanos,
}
