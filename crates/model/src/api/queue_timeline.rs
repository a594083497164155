//! One queue over a short time: `GET /api/v1/queues/timeline`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;

/// Which queue, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueTimelineQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// The node.
    pub node: u32,
    /// Its egress interface.
    pub interface: u32,
    /// The queue of the interface; all of them where it is left out.
    #[serde(default)]
    pub queue: Option<u32>,
    /// Maximum number of samples; where there are more, the deepest of each of so many steps stay. 4096 where it is left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 40_000))]
    pub limit: Option<u32>,
}

/// A queue over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueTimeline {
    /// The beginning of the time that was looked at.
    pub from: Exact,
    /// Its end.
    pub to: Exact,
    /// What the offsets of `samples` are after: nanoseconds since 1970 by arrival, or a time of the node's clock.
    pub base: Exact,
    /// Whose clock the offsets are of.
    pub clock: QueueClock,
    /// The samples in the order of time.
    pub samples: QueueSampleColumns,
    /// Reports in this time, of which `samples` may be a choice.
    pub reports: u64,
    /// The greatest occupancy, in the node's unit.
    pub max_occupancy: Option<u32>,
    /// The flows of the samples, those with the most reports first; a flow number of `samples` is its place here.
    pub flows: Vec<QueueFlow>,
    /// When the queue is congested.
    pub thresholds: QueueThresholds,
    /// Congestion and microbursts of the queue in this time.
    pub episodes: Vec<QueueEpisode>,
    /// Where samples come from: `observations`, or `bursts` where these are no longer kept, which have what packets found
    /// while the queue was congested.
    pub source: String,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// From where on a queue counts as congested, and below which it is calm again, as the collector is set up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueThresholds {
    /// Hop latency above which it is congested, nanoseconds.
    pub trigger_latency: u64,
    /// Hop latency below which it is calm, nanoseconds.
    pub reset_latency: u64,
    /// Occupancy above which it is congested, in the node's unit; null where occupancy does not count.
    pub trigger_occupancy: Option<u64>,
    /// Occupancy below which it is calm, in the node's unit.
    pub reset_occupancy: Option<u64>,
}

/// Whose clock offsets are of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueClock {
    /// The node's: when packets left.
    Node,
    /// The collector's: when reports arrived, which may be in groups.
    #[default]
    Arrival,
}

/// What packets found in the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueSampleColumns {
    /// Nanoseconds after `base`.
    pub offset: Vec<u64>,
    /// Occupancy, in the node's unit.
    pub occupancy: Vec<Option<u32>>,
    /// Hop latency, nanoseconds.
    pub latency: Vec<Option<u64>>,
    /// The flow of the packet, by its place in `flows`.
    pub flow: Vec<Option<u32>>,
}

/// A flow in a queue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueFlow {
    /// Its id.
    pub id: Exact,
    /// Its source address.
    pub source: Option<String>,
    /// Its destination address.
    pub destination: Option<String>,
    /// Its IP protocol number.
    pub protocol: Option<u32>,
    /// Its source port.
    pub source_port: Option<u32>,
    /// Its destination port.
    pub destination_port: Option<u32>,
    /// Reports on it in this time.
    pub reports: u64,
    /// Its part of all reports of this time, from 0 to 1.
    pub share: f64,
    /// Its part of the reports that found the queue at least half as deep as it ever was in this time.
    pub peak_share: f64,
    /// The longest wait of its packets, nanoseconds.
    pub max_latency: Option<u64>,
    /// What it does to the queue.
    pub role: QueueFlowRole,
}

/// What a flow does to a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueFlowRole {
    /// It fills the queue: it has a tenth or more of the reports while the queue is deep.
    Culprit,
    /// It waits while the queue is deep, and hardly sends.
    Victim,
    /// It does not meet the queue while it is deep.
    #[default]
    Other,
}

/// An episode of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueEpisode {
    /// The event.
    pub event: String,
    /// Its kind: `queue-congestion` or `microburst`.
    pub kind: String,
    /// When it began.
    pub first: Exact,
    /// When it ended, or was reported last.
    pub last: Exact,
    /// Whether the node's quota of queue reports was used up: from then on it was silent, not calm.
    pub truncated: bool,
}
