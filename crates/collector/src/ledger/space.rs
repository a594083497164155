//! The space of sequence numbers of W bits.

/// The numbers modulo 2^W.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceSpace {
    mask: u32,
}

impl SequenceSpace {
    /// The 22 bits of Telemetry Report 2.0.
    pub const REPORT_2_0: SequenceSpace = SequenceSpace::new(22);
    /// The 32 bits of Telemetry Report 0.5 and 1.0.
    pub const REPORT_1_0: SequenceSpace = SequenceSpace::new(32);

    /// Creates the space of numbers of `bits` bits; widths outside 8 to 32 are clamped.
    #[must_use]
    pub const fn new(bits: u32) -> SequenceSpace {
        let bits = if bits < 8 { 8 } else { bits };
        let unused = 32_u32.saturating_sub(bits);
        SequenceSpace { mask: u32::MAX >> unused }
    }

    /// Number of sequence numbers.
    pub(super) fn size(self) -> u64 {
        u64::from(self.mask) + 1
    }

    /// Half of the space: a distance below it is forward.
    pub(super) fn half(self) -> u32 {
        (self.mask >> 1) + 1
    }

    /// Steps forward from one number to another.
    pub(super) fn distance(self, from: u32, to: u32) -> u32 {
        to.wrapping_sub(from) & self.mask
    }

    /// The number that many steps ahead.
    pub(super) fn forward(self, from: u32, steps: u32) -> u32 {
        from.wrapping_add(steps) & self.mask
    }

    /// The number modulo the space.
    pub(super) fn wrap(self, number: u32) -> u32 {
        number & self.mask
    }
}
