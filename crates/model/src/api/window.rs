//! Values of a recent window, next to those since the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length of the window of recent values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Window {
    /// Ten seconds.
    #[serde(rename = "10s")]
    TenSeconds,
    /// A minute.
    #[serde(rename = "1m")]
    Minute,
    /// Ten minutes.
    #[serde(rename = "10m")]
    TenMinutes,
}

/// Values reported in a window; percentiles are at most 6.3 % off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowValues {
    /// Number of values.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Highest value.
    pub max: u64,
}

impl Window {
    /// Length of the window, seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        match self {
            Self::TenSeconds => 10,
            Self::Minute => 60,
            Self::TenMinutes => 600,
        }
    }
}
