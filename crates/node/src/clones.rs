//! Which watched packets does a source copy, so that INT travels in the copy and not in the packet?

use std::collections::VecDeque;
use std::num::NonZeroU32;

/// Counts watched packets and keeps the copies until the caller takes them, up to [`MOST_WAITING`].
// int-2.1/modes-04
#[derive(Clone, Debug)]
pub(crate) struct Clones {
    every: Option<NonZeroU32>,
    seen: u32,
    waiting: VecDeque<Vec<u8>>,
}

/// Copies that wait for the caller; what is more is counted as shed.
const MOST_WAITING: usize = 256;

impl Clones {
    /// Copies one of `every` watched packets; `None`: INT goes into the packets themselves.
    pub(crate) const fn new(every: Option<NonZeroU32>) -> Self {
        Self { every, seen: 0, waiting: VecDeque::new() }
    }

    /// Whether INT goes into copies.
    pub(crate) const fn are_made(&self) -> bool {
        self.every.is_some()
    }

    /// Counts a watched packet; tells whether it is to be copied: the first, and then one of so many.
    pub(crate) fn is_due(&mut self) -> bool {
        let Some(every) = self.every else { return false };
        let is_due = self.seen == 0;
        self.seen = (self.seen + 1) % every;
        is_due
    }

    /// Keeps a copy; `false` when there is no room.
    pub(crate) fn push(&mut self, packet: Vec<u8>) -> bool {
        let has_room = self.waiting.len() < MOST_WAITING;
        if has_room {
            self.waiting.push_back(packet);
        }
        has_room
    }

    /// Takes the oldest copy.
    pub(crate) fn poll(&mut self) -> Option<Vec<u8>> {
        self.waiting.pop_front()
    }
}
