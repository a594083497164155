//! The detail of a `microburst-storm` event.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Microbursts of one queue follow one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MicroburstStorm {
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
    /// The queue of that interface; `None` when the node did not report it.
    pub queue_id: Option<u8>,
    /// Microbursts in the last second.
    pub bursts: u64,
}

impl MicroburstStorm {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
