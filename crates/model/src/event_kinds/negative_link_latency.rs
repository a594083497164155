//! The detail of a `negative-link-latency` event.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Packets arrive at the end of a link before they leave its beginning, by the clocks of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NegativeLinkLatency {
    /// The link.
    pub link: LinkEnds,
    /// Lowest link latency, nanoseconds, below zero: the clocks disagree by at least that much.
    pub lowest_ns: i64,
}

impl NegativeLinkLatency {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        self.link.nodes()
    }
}

/// A link, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnds {
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by; `None` where the node does not report it.
    pub egress_interface: Option<u16>,
    /// The node they reach.
    pub to: NodeId,
    /// The interface they enter it by.
    pub ingress_interface: Option<u16>,
}

impl LinkEnds {
    /// Both ends.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.from, self.to]
    }
}
