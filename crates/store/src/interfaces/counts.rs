//! The latencies of one interface.

use crate::sketch::{BUCKETS, middle};

/// The counts of all buckets, for one place at a time.
pub(super) struct Counts {
    buckets: Vec<u64>,
    /// The sums of [`BLOCK`] buckets each, so that empty blocks are skipped.
    blocks: Vec<u64>,
}

impl Counts {
    pub(super) fn new() -> Self {
        let blocks = BUCKETS.div_ceil(BLOCK);
        Self { buckets: vec![0; blocks * BLOCK], blocks: vec![0; blocks] }
    }

    #[inline]
    pub(super) fn add(&mut self, bucket: u32, count: u64) {
        let bucket = bucket as usize;
        let Some(there) = self.buckets.get_mut(bucket) else { return };
        *there = there.saturating_add(count);
        let block = &mut self.blocks[bucket / BLOCK];
        *block = block.saturating_add(count);
    }

    /// The median and the 99th percentile; resets the counts.
    pub(super) fn take_quantiles(&mut self) -> (Option<u64>, Option<u64>) {
        let all: u128 = self.blocks.iter().map(|count| u128::from(*count)).sum();
        let (p50, p99) = (self.quantile(all, 50), self.quantile(all, 99));
        for (block, count) in self.blocks.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            self.buckets[block * BLOCK..][..BLOCK].fill(0);
            *count = 0;
        }
        (p50, p99)
    }

    fn quantile(&self, all: u128, percent: u128) -> Option<u64> {
        let rank = (all * percent).div_ceil(100).max(1);
        let mut before = 0;
        let block = self.blocks.iter().position(|count| {
            let is_in = before + u128::from(*count) >= rank;
            before += if is_in { 0 } else { u128::from(*count) };
            is_in
        })?;
        let within = self.buckets[block * BLOCK..][..BLOCK].iter().position(|count| {
            before += u128::from(*count);
            before >= rank
        })?;
        u32::try_from(block * BLOCK + within).ok().map(middle)
    }
}

/// Buckets per block.
const BLOCK: usize = 64;
