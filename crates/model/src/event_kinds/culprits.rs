//! The detail of a `culprits` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId};

/// The flows whose packets delayed the most delayed packet of a congestion episode.
///
/// All shares are of the bytes of reported packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Culprits {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not report it.
    pub queue_id: Option<u8>,
    /// What the flows have in common.
    pub pattern: CulpritPattern,
    /// How long the packet was in the queue.
    pub residence: Nanos,
    /// The flows with the largest shares, the largest first, until they have 80 % together.
    pub culprits: Vec<CulpritFlow>,
    /// Flows that waited although they hardly sent.
    pub victims: Vec<CulpritFlow>,
    /// Flows whose packets were dequeued in that time.
    pub flows: u64,
    /// Their reported packets.
    pub reported_packets: u64,
    /// Bytes of those packets.
    pub reported_bytes: u64,
    /// Thousandths of the link's capacity in that time that reports cover; `None` where the rate of the link
    /// is not set.
    pub coverage_permille: Option<u64>,
}

impl Culprits {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
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
