//! A small random generator that gives the same numbers for the same seed on every platform.

#[cfg(test)]
mod tests;

/// SplitMix64: one 64-bit state, one multiplication chain a number, no bad seeds.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next number, uniform over all of `u64`.
    pub(crate) fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// A number below `bound`, or 0 when `bound` is 0; biased by less than `bound` / 2^64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.number()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number between half and one and a half times `mean`, for intervals that should not synchronize.
    pub(crate) fn around(&mut self, mean: u64) -> u64 {
        mean / 2 + self.below(mean)
    }
}

/// Spreads the bits of `value` over the whole word: the finaliser of SplitMix64, a bijection.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
