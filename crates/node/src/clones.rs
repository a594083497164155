//! Which watched packets does a source copy, so that INT travels in the copy and not in the packet?

use std::num::NonZeroU32;

use crate::waiting::Waiting;

/// Counts watched packets and keeps the copies of those whose turn it is.
// int-2.1/modes-04
#[derive(Clone, Debug)]
pub(crate) struct Clones {
    every: Option<NonZeroU32>,
    seen: u32,
    /// The copies, until the caller takes them.
    pub(crate) waiting: Waiting<Vec<u8>>,
}

impl Clones {
    /// Copies one of `every` watched packets; `None`: INT goes into the packets themselves.
    pub(crate) fn new(every: Option<NonZeroU32>) -> Self {
        Self { every, seen: 0, waiting: Waiting::default() }
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
}
