//! Settings of microbursts.

use serde::{Deserialize, Serialize};

/// Microbursts and storms of them: `[events.microburst]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MicroburstSettings {
    /// Longest burst, nanoseconds. Default 1,000,000.
    pub most_ns: u64,
    /// Mean utilisation over a second from which the interface is busy, so that its queues fill for a good
    /// reason; thousandths. Default 500.
    pub busy_permille: u64,
    /// The egress utilisation that means a full link, for nodes without `utilization_full` in the names file.
    /// Default 10,000: hundredths of a percent.
    pub full_utilization: u32,
    /// Bursts closer than this, or than their highest latency, are one; nanoseconds. Default 50,000.
    pub join_ns: u64,
    /// Number of bursts of a queue in a second that make a storm, at most 64. Default 10.
    pub storm: usize,
}

impl Default for MicroburstSettings {
    fn default() -> MicroburstSettings {
        MicroburstSettings {
            most_ns: 1_000_000,
            busy_permille: 500,
            full_utilization: 10_000,
            join_ns: 50_000,
            storm: 10,
        }
    }
}
