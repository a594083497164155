//! The identity of a queue.

use inband_model::NodeId;

/// Identifies a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) node_id: NodeId,
    pub(crate) egress_interface: Option<u16>,
    pub(crate) queue_id: Option<u8>,
}

impl Place {
    /// The queue in the keys of events.
    pub(crate) fn key(self) -> String {
        let text = |id: Option<u16>| id.map_or("?".to_owned(), |id| id.to_string());
        let (egress, queue) = (text(self.egress_interface), text(self.queue_id.map(u16::from)));
        format!("node {} egress {egress} queue {queue}", self.node_id)
    }
}
