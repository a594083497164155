//! Partitioning of flows and nodes.

use inband_model::{Flow, FlowId, NodeId};

/// One of several equal shares of the flows and the nodes of a network.
///
/// Both directions of a flow are in one share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    index: u32,
    count: u32,
}

impl Share {
    /// All flows and all nodes.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// The `count` shares, at least one.
    pub fn of(count: u32) -> impl Iterator<Item = Self> {
        let count = count.max(1);
        (0..count).map(move |index| Self { index, count })
    }

    /// Whether the share contains a flow.
    #[inline]
    pub(crate) fn has_flow(self, flow: &Flow) -> bool {
        let (FlowId(there), FlowId(back)) = match self.count {
            1 => return true,
            _ => (flow.id(), flow.reversed().id()),
        };
        self.has(there ^ back)
    }

    /// Whether the share contains a node.
    #[inline]
    pub(crate) fn has_node(self, node_id: NodeId) -> bool {
        self.count == 1 || self.has(u64::from(node_id.0).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32)
    }

    fn has(self, hash: u64) -> bool {
        hash % u64::from(self.count) == u64::from(self.index)
    }
}
