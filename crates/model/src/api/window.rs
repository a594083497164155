//! What was so lately: values of the last seconds or minutes beside those of all time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long ago something may be to count as of now.
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

/// Values that reports told in a window; percentiles are at most 6.3 % off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowValues {
    /// How many.
    pub count: u64,
    /// The median.
    pub p50: u64,
    /// What 99 of 100 do not exceed.
    pub p99: u64,
    /// The greatest.
    pub max: u64,
}

impl Window {
    /// How long it is.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        match self {
            Self::TenSeconds => 10,
            Self::Minute => 60,
            Self::TenMinutes => 600,
        }
    }
}
