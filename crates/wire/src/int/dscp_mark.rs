//! A DSCP pattern that marks INT.

/// A DSCP pattern: INT is present where `dscp & mask == value & mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DscpMark {
    /// The value that marks INT, 0 to 63.
    pub value: u8,
    /// The bits that carry the mark: 0x3f for a whole code point, one bit for a flag.
    pub mask: u8,
}

impl DscpMark {
    /// Whether a packet with this DSCP is marked.
    #[inline]
    #[must_use]
    pub const fn matches(self, dscp: u8) -> bool {
        self.mask != 0 && dscp & self.mask == self.value & self.mask
    }

    /// The DSCP with the mark set and all other bits unchanged.
    #[inline]
    #[must_use]
    pub const fn applied_to(self, dscp: u8) -> u8 {
        (dscp & !self.mask) | (self.value & self.mask)
    }

    /// The DSCP with the marking bits cleared.
    #[inline]
    #[must_use]
    pub const fn removed_from(self, dscp: u8) -> u8 {
        dscp & !self.mask
    }
}
