//! Alternative paths of a packet, on which copies of it can be sent.

use crate::passage::Passage;

/// An alternative path of a packet, as the device's forwarding knows it.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The kind of alternative.
    pub level: BranchLevel,
    /// The packet's passage on this path.
    pub passage: Passage,
}

/// The kinds of alternative paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BranchLevel {
    /// Another physical port of the egress port channel.
    Port,
    /// Another equal-cost next hop.
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
