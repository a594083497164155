//! One queue over a short time: `GET /api/v1/queues/timeline`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// Parameters of `GET /api/v1/queues/timeline`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueTimelineQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// The node.
    pub node: u32,
    /// Its egress interface.
    pub interface: u32,
    /// The queue of the interface; default: all queues.
    #[serde(default)]
    pub queue: Option<u32>,
    /// Maximum number of samples; default: 4096. Beyond it, the deepest sample of each of that many steps is
    /// returned.
    #[serde(default)]
    #[schemars(range(min = 1, max = 40_000))]
    pub limit: Option<u32>,
}

/// A queue over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueTimeline {
    /// Start of the time range.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// Reference time of `samples`: nanoseconds since 1970 by arrival, or a time by the node's clock.
    pub base: Exact,
    /// The clock of the sample offsets.
    pub clock: QueueClock,
    /// The samples in time order.
    pub samples: QueueSampleColumns,
    /// Number of reports in the time range; `samples` may be a selection of them.
    pub reports: u64,
    /// Highest occupancy, in the node's unit.
    pub max_occupancy: Option<u32>,
    /// The flows of the samples, most reports first; `flow` of a sample is an index in this list.
    pub flows: Vec<QueueFlow>,
    /// Congestion thresholds of the queue.
    pub thresholds: QueueThresholds,
    /// Congestion episodes and microbursts of the queue in the time range.
    pub episodes: Vec<QueueEpisode>,
    /// Source of the samples: `observations`, or after their expiry `bursts`, which hold the samples taken
    /// while the queue was congested.
    pub source: String,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Configured thresholds above which a queue is congested, and below which it is calm again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueThresholds {
    /// Hop latency above which it is congested, nanoseconds.
    pub trigger_latency: u64,
    /// Hop latency below which it is calm, nanoseconds.
    pub reset_latency: u64,
    /// Occupancy above which it is congested, in the node's unit; null: not used.
    pub trigger_occupancy: Option<u64>,
    /// Occupancy below which it is calm, in the node's unit; null: not used.
    pub reset_occupancy: Option<u64>,
}

/// The clock of sample offsets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueClock {
    /// The node's clock, when packets left.
    Node,
    /// The collector's clock, when reports arrived; reports may arrive in batches.
    #[default]
    Arrival,
}

/// Samples of a queue, as packets found it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueSampleColumns {
    /// Nanoseconds after `base`.
    pub offset: Vec<u64>,
    /// Occupancy, in the node's unit.
    pub occupancy: Vec<Option<u32>>,
    /// Hop latency, nanoseconds.
    pub latency: Vec<Option<u64>>,
    /// Flow of the packet: index in `flows`.
    pub flow: Vec<Option<u32>>,
}

/// A flow in a queue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueFlow {
    /// Flow id.
    pub id: Exact,
    /// Source address.
    pub source: Option<String>,
    /// Destination address.
    pub destination: Option<String>,
    /// IP protocol number.
    pub protocol: Option<u32>,
    /// Source port.
    pub source_port: Option<u32>,
    /// Destination port.
    pub destination_port: Option<u32>,
    /// Reports on the flow in the time range.
    pub reports: u64,
    /// Its share of all reports in the time range, from 0 to 1.
    pub share: f64,
    /// Its share of the reports that found the queue at least half as deep as its maximum in the time range.
    pub peak_share: f64,
    /// Longest hop latency of its packets, nanoseconds.
    pub max_latency: Option<u64>,
    /// Effect of the flow on the queue.
    pub role: QueueFlowRole,
}

/// Effect of a flow on a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueFlowRole {
    /// Fills the queue: it has a tenth or more of the reports while the queue is deep.
    Culprit,
    /// Waits while the queue is deep, and hardly sends.
    Victim,
    /// Does not meet the queue while it is deep.
    #[default]
    Other,
}

/// A congestion episode or microburst of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueEpisode {
    /// Event id.
    pub event: String,
    /// Event kind: `queue-congestion` or `microburst`.
    pub kind: String,
    /// When it began.
    pub first: Exact,
    /// When it ended or was last reported.
    pub last: Exact,
    /// Whether the node's quota of queue reports was used up: from then on the node was silent, the queue not
    /// calm.
    pub truncated: bool,
}
