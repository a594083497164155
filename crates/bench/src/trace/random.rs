//! Pseudorandom numbers, the same in every run.

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number above 0 and up to 1.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(super) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A time of the given mean between two independent events.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, far below 2^63"
    )]
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a minute fit")]
    pub(super) fn exponential(&mut self, mean: u64) -> u64 {
        (-self.unit().ln() * mean as f64) as u64
    }
}
