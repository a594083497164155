//! How many ports are followed, and what about them is announced?

use inband_model::{Nanos, Units};
use serde::{Deserialize, Serialize};

use crate::book::{Course, MIN_QUIET};

/// Bounds of the statistics by node and interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortSettings {
    /// Egress interfaces, of all nodes, that are followed. Default 16,384: about 80 MB.
    pub max_ports: usize,
    /// Queues, of all interfaces, that are followed. Default 65,536: about 20 MB.
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
    /// Milliseconds without another spike after which it has ended, at least 1,000: spikes that follow sooner are told as
    /// one. Default 1,000.
    pub quiet_ms: u64,
}

/// When the latency of a flow in a node has changed: `[events.latency_change]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LatencyChangeSettings {
    /// The latency has changed when it falls into another multiple of so many nanoseconds; rounded down to a power of
    /// two. Default 256.
    pub quantum_ns: u64,
    /// Rising bounds in nanoseconds; where there are any, the latency has changed when it passes one, whatever
    /// `quantum_ns` is. Default: none. Host-INT's example: 5000, 10000, 20000, 40000, 60000, 120000.
    pub buckets_ns: Vec<u64>,
    /// Seconds without another change after which the event of an interface ends, at least 1. Default 60.
    pub quiet_s: u64,
}

/// How many packets may stay in a node for how long: `[events.latency_objective]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LatencyObjectiveSettings {
    /// Hop latency that counts as over, nanoseconds. Default 5,000,000.
    pub bound_ns: u64,
    /// Share of the reports that may be over, thousandths. Default 50: 5 %.
    pub share_permille: u64,
    /// Seconds over which the share is taken, at least 1. Default 60.
    pub window_s: u64,
    /// Reports in the window below which nothing is said. Default 20.
    pub least_reports: u64,
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
    /// Occupancy above which the queue of a node is congested whose `queue_unit` in the names file is known, bytes.
    /// Default: none.
    pub trigger_bytes: Option<u64>,
    /// Occupancy below which it is no longer, bytes. Default: half of `trigger_bytes`.
    pub reset_bytes: Option<u64>,
    /// Milliseconds without a report of congestion after which it has ended. Default 10.
    pub quiet_ms: u64,
    /// Episodes of a queue in a second from which on they are told as one, 2 to 64. Default 4.
    pub recurring: usize,
    /// Milliseconds without congestion after which such an episode has ended, at least 1,000. Default 1,000.
    pub recurring_quiet_ms: u64,
    /// Queue reports a node sends in one episode before it falls silent. Default 1024, SD-Fabric's; SAI's
    /// default is 1000.
    pub quota: u64,
}

/// What is a microburst, and how many are a storm: `[events.microburst]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MicroburstSettings {
    /// Longest burst, nanoseconds. Default 1,000,000.
    pub most_ns: u64,
    /// Mean utilisation over a second from which on the interface is busy, so that its queues fill for a good reason;
    /// thousandths. Default 500.
    pub busy_permille: u64,
    /// The value of egress utilisation that means a full link, of nodes without `utilization_full` in the names file.
    /// Default 10,000: hundredths of a percent.
    pub full_utilization: u32,
    /// Bursts closer than this, or than their highest latency, are one; nanoseconds. Default 50,000.
    pub join_ns: u64,
    /// Bursts of a queue in a second that are a storm, at most 64. Default 10.
    pub storm: usize,
}

/// Whose packets are named when a queue was congested: `[events.culprits]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CulpritSettings {
    /// Least share of a culprit, thousandths. Default 100.
    pub least_permille: u64,
    /// Culprits are listed until they have this share together, thousandths. Default 800.
    pub list_permille: u64,
    /// Sources to one destination from which on it is an incast. Default 8.
    pub incast_sources: usize,
    /// Share that no flow of an incast exceeds, thousandths. Default 250.
    pub incast_permille: u64,
    /// Share from which on a flow is an elephant, thousandths. Default 500.
    pub elephant_permille: u64,
    /// Share below which a delayed flow is a victim, thousandths. Default 10.
    pub victim_permille: u64,
    /// Rate of the links, bits a second, to say how much of the traffic the reports cover. Default: none.
    pub link_bits_per_second: Option<u64>,
    /// Congested queues at the same time whose packets are remembered, 512 packets each. Default 512: about 17 MB.
    pub max_queues: usize,
}

/// What is announced of interfaces and queues.
#[derive(Debug, Clone, Default)]
pub(crate) struct PortEventSettings {
    pub(crate) queue_congestion: CongestionSettings,
    pub(crate) microburst: MicroburstSettings,
    pub(crate) culprits: CulpritSettings,
    pub(crate) latency_spike: SpikeSettings,
    pub(crate) latency_change: LatencyChangeSettings,
    pub(crate) latency_objective: LatencyObjectiveSettings,
    /// The units of nodes' metadata.
    pub(crate) units: Units,
}

impl Default for PortSettings {
    fn default() -> PortSettings {
        PortSettings { max_ports: 16_384, max_queues: 65_536 }
    }
}

impl Default for SpikeSettings {
    fn default() -> SpikeSettings {
        SpikeSettings { least_ns: 10_000, quiet_ms: 1_000 }
    }
}

impl Default for LatencyChangeSettings {
    fn default() -> LatencyChangeSettings {
        LatencyChangeSettings { quantum_ns: 256, buckets_ns: Vec::new(), quiet_s: 60 }
    }
}

impl Default for LatencyObjectiveSettings {
    fn default() -> LatencyObjectiveSettings {
        LatencyObjectiveSettings { bound_ns: 5_000_000, share_permille: 50, window_s: 60, least_reports: 20 }
    }
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

impl Default for CulpritSettings {
    fn default() -> CulpritSettings {
        CulpritSettings {
            least_permille: 100,
            list_permille: 800,
            incast_sources: 8,
            incast_permille: 250,
            elephant_permille: 500,
            victim_permille: 10,
            link_bits_per_second: None,
            max_queues: 512,
        }
    }
}

impl LatencyChangeSettings {
    /// Whether a latency has moved to another quantum or bucket.
    #[inline]
    pub(crate) fn moved(&self, old: Nanos, new: Nanos) -> bool {
        if self.buckets_ns.is_empty() {
            let shift = self.quantum_ns.max(1).ilog2();
            return old.0 >> shift != new.0 >> shift;
        }
        let bucket = |latency: Nanos| self.buckets_ns.iter().take_while(|bound| **bound <= latency.0).count();
        bucket(old) != bucket(new)
    }
}

impl LatencyChangeSettings {
    /// How the event of an interface goes on.
    pub(super) fn course(&self) -> Course {
        Course::until_quiet(Nanos::from_secs(self.quiet_s))
    }
}

impl LatencyObjectiveSettings {
    pub(super) fn window(&self) -> Nanos {
        Nanos::from_secs(self.window_s.max(1))
    }

    /// How the event of an interface goes on.
    pub(super) fn course(&self) -> Course {
        Course::renewed_within(self.window())
    }
}

impl SpikeSettings {
    pub(super) fn quiet(&self) -> Nanos {
        Nanos::from_millis(self.quiet_ms)
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

    /// The number of bytes below which a queue is calm; `None` when bytes do not count.
    pub(super) fn calm_bytes(&self) -> Option<u64> {
        self.trigger_bytes.map(|trigger| self.reset_bytes.unwrap_or(trigger / 2))
    }

    pub(super) fn quiet(&self) -> Nanos {
        Nanos::from_millis(self.quiet_ms)
    }

    pub(super) fn recurring_quiet(&self) -> Nanos {
        Nanos::from_millis(self.recurring_quiet_ms).max(MIN_QUIET)
    }
}
