//! What only `sequence-gap` has.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// Packets of a flow that were numbered by its source are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceGap {
    /// The flow.
    pub flow: Flow,
    /// The node that saw the gap.
    pub node_id: NodeId,
    /// Packets lost; of all packets, as the source numbers each.
    pub lost: u64,
}
