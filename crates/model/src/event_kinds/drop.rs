//! What only `drop` has.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// A node drops packets for one reason at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drop {
    /// The node.
    pub node_id: NodeId,
    /// The interface the packets came in by; `None` when the node did not say.
    pub ingress_interface: Option<u16>,
    /// The interface they were to leave by; `None` when the node did not say, or did not know.
    pub egress_interface: Option<u16>,
    /// The queue they were to wait in; `None` when the node did not say.
    pub queue_id: Option<u8>,
    /// Why, by the node's numbering; `None` when the node did not say.
    pub reason: Option<u8>,
    /// The name of the reason; `unknown` where the numbering has none.
    pub reason_name: String,
    /// What to look at.
    pub check: String,
    /// What follows from the reason and from what else is reported.
    pub class: DropClass,
    /// Reports; nodes report a flow's drops once in a while, so packets may be more.
    pub reports: u64,
    /// Packets that these reports tell of; those that give a number tell of so many, the others of one.
    #[serde(default)]
    pub packets: u64,
    /// Different flows.
    pub flow_count: u64,
    /// Some of the flows.
    pub flows: Vec<Flow>,
}

/// What dropped packets mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropClass {
    /// The node did not know where to send them, and nothing of their flows comes through.
    Blackhole,
    /// A congested queue had no room.
    CongestionLoss,
    /// An access list denies them.
    Policy,
    /// Any other, or not clear.
    Other,
}
