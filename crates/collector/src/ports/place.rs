//! The name of a queue.

use inband_model::{NodeId, NodeUnits};

/// Names a queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) node_id: NodeId,
    pub(super) egress_interface: Option<u16>,
    pub(super) queue_id: Option<u8>,
    /// The units of the node.
    pub(super) units: NodeUnits,
}

impl Place {
    pub(super) fn key(self) -> String {
        let text = |id: Option<u16>| id.map_or("?".to_owned(), |id| id.to_string());
        let (egress, queue) = (text(self.egress_interface), text(self.queue_id.map(u16::from)));
        format!("node {} egress {egress} queue {queue}", self.node_id)
    }
}
