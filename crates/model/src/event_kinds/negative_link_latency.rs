//! What only `negative-link-latency` has.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Packets arrive at the end of a link before they were sent, by the clocks of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NegativeLinkLatency {
    /// The link.
    pub link: LinkEnds,
    /// Nanoseconds, below zero: the clocks disagree by at least so much.
    pub lowest_ns: i64,
}

/// A link, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnds {
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by; `None` where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The node they come to.
    pub to: NodeId,
    /// The interface they come in by.
    pub ingress_interface: Option<u16>,
}
