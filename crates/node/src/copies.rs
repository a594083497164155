//! Which packets has the node made out of others, and where are they to go?

use std::collections::VecDeque;

use crate::passage::Passage;

/// A packet this node made out of another one: a replica, or a follow-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketCopy {
    /// Identifier of the interface it is to leave by.
    pub egress: u16,
    /// The frame.
    pub bytes: Vec<u8>,
}

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

/// Copies that wait for the caller, up to [`MOST_WAITING`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies(VecDeque<PacketCopy>);

/// Copies that wait for the caller; what is more is counted as shed.
const MOST_WAITING: usize = 256;

impl Copies {
    /// Whether another copy has room.
    pub(crate) fn has_room(&self) -> bool {
        self.0.len() < MOST_WAITING
    }

    /// Keeps a copy; `false` when there is no room.
    pub(crate) fn push(&mut self, copy: PacketCopy) -> bool {
        let has_room = self.has_room();
        if has_room {
            self.0.push_back(copy);
        }
        has_room
    }

    /// Takes the oldest copy.
    pub(crate) fn poll(&mut self) -> Option<PacketCopy> {
        self.0.pop_front()
    }
}
