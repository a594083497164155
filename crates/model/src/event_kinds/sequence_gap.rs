//! The detail of a `sequence-gap` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// Packets of a flow that were numbered by its source are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceGap {
    /// The flow.
    pub flow: Flow,
    /// The node that saw the gap.
    pub node_id: NodeId,
    /// Packets lost since the event began: of all packets, because the source numbers each one.
    pub lost: u64,
}

impl SequenceGap {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
