//! Settings of queue congestion.

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

use crate::book::MIN_QUIET;

/// The thresholds of queue congestion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CongestionSettings {
    /// Hop latency above which the queue is congested, nanoseconds. Default 100,000.
    pub trigger_ns: u64,
    /// Hop latency below which the congestion ends, nanoseconds. Default: half of `trigger_ns`.
    pub reset_ns: Option<u64>,
    /// Occupancy above which the queue is congested, in the nodes' unit. Default: none, as the unit differs
    /// between nodes.
    pub trigger_occupancy: Option<u32>,
    /// Occupancy below which the congestion ends. Default: half of `trigger_occupancy`.
    pub reset_occupancy: Option<u32>,
    /// Occupancy above which a queue is congested, bytes, at nodes whose `queue_unit` is in the names file.
    /// Default: none.
    pub trigger_bytes: Option<u64>,
    /// Occupancy below which the congestion ends, bytes. Default: half of `trigger_bytes`.
    pub reset_bytes: Option<u64>,
    /// Milliseconds without a report of congestion after which it has ended. Default 10.
    pub quiet_ms: u64,
    /// Episodes of a queue in a second from which they are announced as one, 2 to 64. Default 4.
    pub recurring: usize,
    /// Milliseconds without congestion after which such an episode has ended, at least 1,000. Default 1,000.
    pub recurring_quiet_ms: u64,
    /// Queue reports that a node sends in one episode before it falls silent. Default 1024, SD-Fabric's;
    /// SAI's default is 1000.
    pub quota: u64,
}

impl Default for CongestionSettings {
    fn default() -> CongestionSettings {
        CongestionSettings {
            trigger_ns: 100_000,
            reset_ns: None,
            trigger_occupancy: None,
            reset_occupancy: None,
            trigger_bytes: None,
            reset_bytes: None,
            quiet_ms: 10,
            recurring: 4,
            recurring_quiet_ms: 1_000,
            quota: 1024,
        }
    }
}

impl CongestionSettings {
    /// The hop latency below which a queue is calm.
    #[must_use]
    pub fn reset_latency(&self) -> Nanos {
        Nanos(self.reset_ns.unwrap_or(self.trigger_ns / 2))
    }

    /// The occupancy below which a queue is calm; `None` when occupancy does not count.
    #[must_use]
    pub fn calm_occupancy(&self) -> Option<u32> {
        self.trigger_occupancy.map(|trigger| self.reset_occupancy.unwrap_or(trigger / 2))
    }

    /// The number of bytes below which a queue is calm; `None` when bytes do not count.
    #[must_use]
    pub fn calm_bytes(&self) -> Option<u64> {
        self.trigger_bytes.map(|trigger| self.reset_bytes.unwrap_or(trigger / 2))
    }

    pub(crate) fn quiet(&self) -> Nanos {
        Nanos::from_millis(self.quiet_ms)
    }

    pub(crate) fn recurring_quiet(&self) -> Nanos {
        Nanos::from_millis(self.recurring_quiet_ms).max(MIN_QUIET)
    }
}
