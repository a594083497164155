//! The copies of watched packets, in which INT travels where it does not in the packets themselves.

use std::num::NonZeroU32;

use crate::output::OwnPacket;
use crate::waiting::Waiting;

/// Counts watched packets and keeps the copies of those whose turn it is.
// int-2.1/modes-04
#[derive(Clone, Debug, Default)]
pub(crate) struct Clones {
    seen: u32,
    /// The copies, until the caller takes them.
    pub(crate) waiting: Waiting<OwnPacket>,
}

impl Clones {
    /// Counts a watched packet; returns whether it is to be copied: the first, and then one of `every`.
    pub(crate) fn is_due(&mut self, every: NonZeroU32) -> bool {
        let is_due = self.seen == 0;
        self.seen = (self.seen + 1) % every;
        is_due
    }
}
