//! Reproducible random numbers.

/// A SplitMix64 generator.
#[derive(Debug, Clone)]
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 to `end`, exclusive.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * u128::from(end)) >> 64).unwrap_or(0)
    }

    /// A number above 0 and up to 1.
    fn share(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    /// An exponentially distributed number with this mean.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 37 times the mean")]
    pub(super) fn exponential(&mut self, mean: u64) -> u64 {
        (-self.share().ln() * mean as f64) as u64
    }

    /// A rank from 0 to `count`, exclusive: the n-th is about n times as rare as the first.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the count")]
    pub(super) fn zipf(&mut self, count: usize) -> usize {
        // The sum of 1/n grows as the logarithm.
        let rank = ((count as f64 + 1.0).ln() * (1.0 - self.share())).exp();
        (rank as usize).saturating_sub(1).min(count - 1)
    }
}

/// Spreads the bits of a number.
pub(super) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
