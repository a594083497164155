//! The other ways of a packet, on which copies of it can be sent.

use crate::passage::Passage;

/// Another way on which a packet could go, as the device's forwarding knows it.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// What it is another one of.
    pub level: BranchLevel,
    /// The way through the node that the packet would take.
    pub passage: Passage,
}

/// What a packet could be replicated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BranchLevel {
    /// Another physical port of the port channel the packet leaves by.
    Port,
    /// Another next hop of the same cost.
    NextHop,
}

impl BranchLevel {
    /// Whether Rep asks for this level: 1 asks for ports, 2 for next hops, 3 for both.
    pub(crate) const fn is_asked(self, replication: u8) -> bool {
        match self {
            Self::Port => replication & 1 != 0,
            Self::NextHop => replication & 2 != 0,
        }
    }
}
