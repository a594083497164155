//! The id of a node.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The Node ID of an INT node, unique in its INT domain; 4294967295 for nodes that do not report theirs.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The value of a hop that does not report its node id: all ones.
    pub const NOT_AVAILABLE: NodeId = NodeId(u32::MAX);
}

impl From<u32> for NodeId {
    fn from(id: u32) -> NodeId {
        NodeId(id)
    }
}

impl fmt::Display for NodeId {
    /// Writes the number, or `?` for a node that does not report its id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == NodeId::NOT_AVAILABLE {
            return f.write_str("?");
        }
        self.0.fmt(f)
    }
}
