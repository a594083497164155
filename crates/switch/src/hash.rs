//! A quick hash for tables with keys that the kernel chooses, not senders of packets.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map with keys that senders cannot choose.
pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;
/// A set of such keys.
pub(crate) type QuickSet<K> = HashSet<K, BuildHasherDefault<QuickHasher>>;

/// Multiplies and folds each word of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            let (used, _) = word.split_at_mut(part.len());
            used.copy_from_slice(part);
            self.write_u64(u64::from_ne_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number).wrapping_mul(u128::from(FACTOR));
        let [low, high] = halves(product);
        self.0 = low ^ high ^ FACTOR.rotate_left(23);
    }

    fn write_u128(&mut self, number: u128) {
        let [low, high] = halves(number);
        self.write_u64(low);
        self.write_u64(high);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_usize(number.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The lower and the upper 64 bits.
fn halves(number: u128) -> [u64; 2] {
    let low = number & u128::from(u64::MAX);
    // Both are below 2^64.
    [u64::try_from(low).unwrap_or_default(), u64::try_from(number >> 64).unwrap_or_default()]
}

/// The golden ratio's fraction.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
