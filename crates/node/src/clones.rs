//! Copies of watched packets that carry INT in place of the packets themselves.

use std::num::NonZeroU32;

use crate::output::OwnPacket;
use crate::waiting::Waiting;

/// Counts watched packets and holds the copies until they are sent.
// int-2.1/modes-04
#[derive(Clone, Debug, Default)]
pub(crate) struct Clones {
    seen: u32,
    /// The pending copies.
    pub(crate) waiting: Waiting<OwnPacket>,
}

impl Clones {
    /// Counts a watched packet; returns whether to copy it: the first, then one in `every`.
    pub(crate) fn is_due(&mut self, every: NonZeroU32) -> bool {
        let is_due = self.seen == 0;
        self.seen = (self.seen + 1) % every;
        is_due
    }
}
