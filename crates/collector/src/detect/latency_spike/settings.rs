//! When a hop latency is a spike.

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

/// When a hop latency is a spike: above the median of the last 512 by six deviations and by `least_ns`, in
/// three of five samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpikeSettings {
    /// Nanoseconds above the median below which nothing is a spike. Default 10,000, or four of the
    /// node's units in the names file, if that is more.
    pub least_ns: u64,
    /// Milliseconds without another spike after which it has ended, at least 1,000: spikes in quicker
    /// succession are announced as one. Default 1,000.
    pub quiet_ms: u64,
}

impl Default for SpikeSettings {
    fn default() -> SpikeSettings {
        SpikeSettings { least_ns: 10_000, quiet_ms: 1_000 }
    }
}

impl SpikeSettings {
    pub(super) fn quiet(&self) -> Nanos {
        Nanos::from_millis(self.quiet_ms)
    }
}
