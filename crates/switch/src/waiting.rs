//! Packets that wait for a neighbour's Ethernet address.

use std::collections::{HashMap, VecDeque};

use crate::forward::Neighbour;
use crate::packet::Packet;

/// Packets that wait for a neighbour's Ethernet address.
#[derive(Debug, Default)]
pub(crate) struct Waiting(pub(crate) HashMap<Neighbour, Line>);

/// The packets that wait for one.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) packets: VecDeque<Packet>,
    /// Nanoseconds.
    pub(crate) since: u64,
}

/// Most neighbours that are waited for, and most packets for each of them.
pub(crate) const MAX_LINES: usize = 256;
pub(crate) const MAX_IN_LINE: usize = 64;
/// How long a neighbour is waited for: as long as the kernel asks for it.
pub(crate) const PATIENCE_NS: u64 = 3_000_000_000;
