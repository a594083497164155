//! A latency distribution in a fixed amount of memory.

use std::ops::Range;

use inband_model::Nanos;
use inband_model::api::LatencySummary;

/// Times in buckets that grow with the time: exact below 32 ns, then 16 to each doubling.
///
/// A quantile is at most 1/32 away from the true one. Two sketches can be merged without further error. When
/// the buckets contain a million samples, all of them are halved, so that old samples fade.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    /// Those from the bucket of `min` to the bucket of `max` may be occupied.
    buckets: Box<[u32; BUCKETS]>,
    in_buckets: u32,
    count: u64,
    last: u64,
    min: u64,
    max: u64,
}

impl Sketch {
    pub(crate) fn new() -> Sketch {
        Sketch { buckets: Box::new([0; BUCKETS]), in_buckets: 0, count: 0, last: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.buckets[bucket_of(value)] += 1;
        self.in_buckets += 1;
        self.count += 1;
        self.last = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if self.in_buckets >= FADE_AT {
            self.fade();
        }
    }

    /// Merges another sketch; its latest sample counts as the earlier one.
    pub(crate) fn merge(&mut self, other: &Sketch) {
        let range = other.occupied();
        for (count, more) in self.buckets[range.clone()].iter_mut().zip(&other.buckets[range]) {
            *count += more;
        }
        self.in_buckets += other.in_buckets;
        if self.count == 0 {
            self.last = other.last;
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        while self.in_buckets >= FADE_AT {
            self.fade();
        }
    }

    /// The summary of the samples; `None` when there are none.
    pub(crate) fn summary(&self) -> Option<LatencySummary> {
        if self.count == 0 {
            return None;
        }
        let [p50, p99] = self.quantiles([50, 99]);
        Some(LatencySummary {
            count: self.count,
            last: Nanos(self.last),
            min: Nanos(self.min),
            max: Nanos(self.max),
            p50: Nanos(p50),
            p99: Nanos(p99),
        })
    }

    /// The values that these percentages of the samples, in ascending order, do not exceed.
    fn quantiles<const N: usize>(&self, percentages: [u64; N]) -> [u64; N] {
        let mut occupied = self.occupied();
        let mut bucket = occupied.start;
        let mut reached = 0;
        percentages.map(|percentage| {
            let rank = (u64::from(self.in_buckets) * percentage).div_ceil(100).max(1);
            while reached < rank
                && let Some(next) = occupied.next()
            {
                bucket = next;
                reached += u64::from(self.buckets[next]);
            }
            middle_of(bucket).clamp(self.min, self.max)
        })
    }

    /// The buckets that may be occupied; none in a sketch without samples.
    fn occupied(&self) -> Range<usize> {
        if self.count == 0 { 0..0 } else { bucket_of(self.min)..bucket_of(self.max) + 1 }
    }

    #[cold]
    fn fade(&mut self) {
        for count in self.buckets.iter_mut() {
            *count /= 2;
        }
        self.in_buckets = self.buckets.iter().sum();
    }
}

/// The bucket of a value; that of the longest times for longer ones.
#[inline]
fn bucket_of(value: u64) -> usize {
    let value = value.min(MOST);
    // Values of one doubling have the same number of bits, of which those after the first five do not count.
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(GROUPING_POWER + 1);
    let bucket = (u64::from(shift) << GROUPING_POWER) + (value >> shift);
    usize::try_from(bucket).unwrap_or(BUCKETS - 1)
}

/// The middle of the values of a bucket.
fn middle_of(bucket: usize) -> u64 {
    let shift = (bucket >> GROUPING_POWER).saturating_sub(1);
    let first = (bucket as u64 - ((shift as u64) << GROUPING_POWER)) << shift;
    first + ((1 << shift) >> 1)
}

/// Base-2 logarithm of the number of buckets per doubling.
const GROUPING_POWER: u32 = 4;
/// Longer times share the last bucket: 18 minutes.
const MAX_POWER: u32 = 40;
const MOST: u64 = (1 << MAX_POWER) - 1;
/// Number of buckets: 32 of a nanosecond each, and 16 of each doubling from 32 ns on.
const BUCKETS: usize = ((MAX_POWER - GROUPING_POWER + 1) as usize) << GROUPING_POWER;
/// Samples at which all buckets are halved.
const FADE_AT: u32 = 1 << 20;

#[cfg(test)]
mod tests;
