//! The detail of a `microburst` event.

use serde::{Deserialize, Serialize};

use crate::{Nanos, NodeId};

/// A queue filled and emptied again while its interface was not busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Microburst {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not report it.
    pub queue_id: Option<u8>,
    /// How long it lasted, by the node's clock where reports contain timestamps.
    pub duration: Nanos,
    /// The bound it stayed within.
    pub class: BurstClass,
    /// The highest latency; `None` when no report contained one.
    pub peak_latency: Option<Nanos>,
    /// The highest occupancy, in the node's unit; `None` when no report contained one.
    pub peak_occupancy: Option<u32>,
    /// Mean utilisation of the interface over a second, in the node's unit; `None` when no report contained
    /// one: then the link may have been busy.
    pub utilization: Option<u32>,
}

impl Microburst {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
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
    /// At most 10 milliseconds, if configured to count as a burst.
    #[serde(rename = "10ms")]
    Millis10,
    /// Longer, if configured to count as a burst.
    #[serde(rename = "longer")]
    Longer,
}
