//! How many ports are followed, and when is a queue congested or a latency a spike?

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

/// Bounds of the statistics by node and interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortSettings {
    /// Egress interfaces, of all nodes, that are followed. Default 16,384: about 80 MB.
    pub max_ports: usize,
    /// Queues, of all interfaces, that are followed. Default 65,536: about 10 MB.
    pub max_queues: usize,
}

/// When a hop latency is a spike: above the median of the last 512 by six deviations and by `least_ns`, in three
/// of five samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpikeSettings {
    /// Nanoseconds above the median below which nothing is a spike. Default 10,000; where nodes measure in
    /// steps of more than 2500, set four of their steps.
    pub least_ns: u64,
}

impl Default for SpikeSettings {
    fn default() -> SpikeSettings {
        SpikeSettings { least_ns: 10_000 }
    }
}

/// When a queue is congested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CongestionSettings {
    /// Hop latency above which the queue is congested, nanoseconds. Default 100,000.
    pub trigger_ns: u64,
    /// Hop latency below which it is no longer, nanoseconds. Default: half of `trigger_ns`.
    pub reset_ns: Option<u64>,
    /// Occupancy above which the queue is congested, in the nodes' unit. Default: none, as the unit differs
    /// between nodes.
    pub trigger_occupancy: Option<u32>,
    /// Occupancy below which it is no longer. Default: half of `trigger_occupancy`.
    pub reset_occupancy: Option<u32>,
    /// Milliseconds without a report of congestion after which it has ended. Default 10.
    pub quiet_ms: u64,
    /// Queue reports a node sends in one episode before it falls silent. Default 1024, SD-Fabric's; SAI's
    /// default is 1000.
    pub quota: u64,
}

impl Default for PortSettings {
    fn default() -> PortSettings {
        PortSettings { max_ports: 16_384, max_queues: 65_536 }
    }
}

impl Default for CongestionSettings {
    fn default() -> CongestionSettings {
        CongestionSettings {
            trigger_ns: 100_000,
            reset_ns: None,
            trigger_occupancy: None,
            reset_occupancy: None,
            quiet_ms: 10,
            quota: 1024,
        }
    }
}

impl CongestionSettings {
    pub(super) fn reset_latency(&self) -> Nanos {
        Nanos(self.reset_ns.unwrap_or(self.trigger_ns / 2))
    }

    /// The occupancy below which a queue is calm; `None` when occupancy does not count.
    pub(super) fn calm_occupancy(&self) -> Option<u32> {
        self.trigger_occupancy.map(|trigger| self.reset_occupancy.unwrap_or(trigger / 2))
    }

    pub(super) fn quiet(&self) -> Nanos {
        Nanos::from_millis(self.quiet_ms)
    }
}
