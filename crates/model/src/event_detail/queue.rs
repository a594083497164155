//! What is there to tell of queues?

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// An episode of congestion of one queue; announced when it begins and again when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCongestion {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not say.
    pub queue_id: Option<u8>,
    /// Whether the episode begins or ends.
    pub phase: CongestionPhase,
    /// The highest latency in the episode; `None` when no report gave one.
    pub peak_latency: Option<Nanos>,
    /// The highest occupancy in the episode, in the node's unit; `None` when no report gave one.
    pub peak_occupancy: Option<u32>,
    /// Whether the node's quota of queue reports was used up: from there on it was silent, not calm.
    pub truncated: bool,
    /// Episodes that are told as this one: more than 1 where the queue was congested again and again.
    pub episodes: u64,
}

/// Whether an episode begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionPhase {
    /// The queue is congested.
    Begin,
    /// The queue was congested and is not any more.
    End,
}

/// A queue filled and emptied again while its interface was not busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Microburst {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not say.
    pub queue_id: Option<u8>,
    /// How long it lasted, by the node's clock where reports give it.
    pub duration: Nanos,
    /// The bound it stayed within.
    pub class: BurstClass,
    /// The highest latency; `None` when no report gave one.
    pub peak_latency: Option<Nanos>,
    /// The highest occupancy, in the node's unit; `None` when no report gave one.
    pub peak_occupancy: Option<u32>,
    /// Mean utilisation of the interface over a second, in the node's unit; `None` when no report gave one: then it is
    /// not known that the link was not busy.
    pub utilization: Option<u32>,
}

/// The bound a burst stayed within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BurstClass {
    /// At most 100 microseconds.
    #[serde(rename = "100us")]
    Micros100,
    /// At most a millisecond.
    #[serde(rename = "1ms")]
    Millis1,
    /// At most 10 milliseconds, where that still counts as a burst.
    #[serde(rename = "10ms")]
    Millis10,
    /// Longer, where that still counts as a burst.
    #[serde(rename = "longer")]
    Longer,
}

/// Microbursts of one queue follow one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MicroburstStorm {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not say.
    pub queue_id: Option<u8>,
    /// Microbursts in the latest second.
    pub bursts: u64,
}

/// Whose packets the most delayed packet of an episode of congestion waited for.
///
/// All shares are of the bytes of reported packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Culprits {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not say.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not say.
    pub queue_id: Option<u8>,
    /// What the flows have in common.
    pub pattern: CulpritPattern,
    /// How long the packet was in the queue.
    pub residence: Nanos,
    /// The flows with the largest shares, the largest first, until they have 80 % together.
    pub culprits: Vec<CulpritFlow>,
    /// Flows that had to wait although they hardly sent.
    pub victims: Vec<CulpritFlow>,
    /// Flows whose packets were dequeued in that time.
    pub flows: u64,
    /// Their packets that were reported.
    pub reported_packets: u64,
    /// Bytes of those packets.
    pub reported_bytes: u64,
    /// Thousandths of what the link could have sent in that time that are in reports; `None` where the rate of the link
    /// is not set.
    pub coverage_permille: Option<u64>,
}

/// What the flows that fill a queue have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CulpritPattern {
    /// Many sources send to one destination, and none of them much.
    Incast,
    /// One flow has half of the bytes or more.
    Elephant,
    /// Neither.
    Mixed,
}

/// A flow's share of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CulpritFlow {
    /// The flow.
    pub flow: Flow,
    /// Bytes of its reported packets.
    pub bytes: u64,
    /// Thousandths of the bytes of all reported packets.
    pub share_permille: u64,
}
