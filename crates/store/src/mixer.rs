//! Hashes of a few numbers or a short text, quick and not to be foreseen.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Makes hashers that nobody outside can foresee, and that are quick with a few numbers.
#[derive(Debug, Clone)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl BuildHasher for Seed {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(self.0)
    }
}

/// Mixes numbers with a seed.
#[derive(Debug)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.write_u64(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15_u128;
        let [low, high] =
            [product, product >> 64].map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or(0));
        self.0 = low ^ high;
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self::new()
    }
}
