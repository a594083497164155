//! Distributions of latencies, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;

/// Distribution of hop latencies or link latencies, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Latency")]
pub struct LatencySummary {
    /// Number of samples.
    pub count: u64,
    /// The latest sample.
    pub last: Nanos,
    /// The lowest sample.
    pub min: Nanos,
    /// The highest sample.
    pub max: Nanos,
    /// Median of about the last million samples, to 3.2 %.
    pub p50: Nanos,
    /// 99th percentile of about the last million samples, to 3.2 %.
    pub p99: Nanos,
}
