//! One hop of a path.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// One hop of a path: a node, and the level 1 interfaces a packet entered and left it by.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Hop {
    /// The node.
    pub node_id: NodeId,
    /// Level 1 interface the packet entered by; `None` when the node did not report it.
    pub ingress_interface: Option<u16>,
    /// Level 1 interface the packet left by; `None` when the node did not report it.
    pub egress_interface: Option<u16>,
}

impl fmt::Display for Hop {
    /// Writes `node`, or `ingress:node:egress` with `?` for an interface the node did not name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ingress_interface.is_none() && self.egress_interface.is_none() {
            return self.node_id.fmt(f);
        }
        write_interface(f, self.ingress_interface)?;
        write!(f, ":{}:", self.node_id)?;
        write_interface(f, self.egress_interface)
    }
}

fn write_interface(f: &mut fmt::Formatter<'_>, interface: Option<u16>) -> fmt::Result {
    match interface {
        Some(id) => write!(f, "{id}"),
        None => f.write_str("?"),
    }
}
