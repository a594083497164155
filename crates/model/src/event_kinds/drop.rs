//! The detail of a `drop` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// A node drops packets for one reason at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drop {
    /// The node.
    pub node_id: NodeId,
    /// The interface the packets came in by; `None` when the node did not report it.
    pub ingress_interface: Option<u16>,
    /// The interface they were to leave by; `None` when the node did not report it, or did not know.
    pub egress_interface: Option<u16>,
    /// The queue they were to wait in; `None` when the node did not report it.
    pub queue_id: Option<u8>,
    /// Why, by the node's numbering; `None` when the node did not report it.
    pub reason: Option<u8>,
    /// The name of the reason; `unknown` where the numbering has none.
    pub reason_name: String,
    /// What to check.
    pub check: String,
    /// The class that follows from the reason and from what else is reported.
    pub class: DropClass,
    /// Reports since the event began; nodes report a flow's drops at intervals, so there may be more packets.
    pub reports: u64,
    /// Packets dropped by these reports: their number where a report contains one, otherwise one per report.
    #[serde(default)]
    pub packets: u64,
    /// Number of flows since the event began; exact up to 4,096.
    pub flow_count: u64,
    /// The first of the flows, at most 32.
    pub flows: Vec<Flow>,
}

impl Drop {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}

/// What dropped packets mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropClass {
    /// The node had no route for them, and nothing of their flows gets through.
    Blackhole,
    /// A congested queue had no room.
    CongestionLoss,
    /// An access list denies them.
    Policy,
    /// Any other class, or an unclear one.
    Other,
}
