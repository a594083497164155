//! A latency distribution in a fixed amount of memory.

use histogram::{Config, Histogram32};
use inband_model::Nanos;
use inband_model::api::LatencySummary;

/// Times in buckets that grow with the time: exact below 32 ns, then 16 to each doubling.
///
/// A quantile is at most 1/32 away from the true one. Two sketches can be merged without further error. When
/// the buckets contain a million samples, all of them are halved, so that old samples fade.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    buckets: Histogram32,
    in_buckets: u32,
    count: u64,
    last: u64,
    min: u64,
    max: u64,
}

impl Sketch {
    pub(crate) fn new() -> Sketch {
        let config = Config::new(GROUPING_POWER, MAX_POWER).expect("4 is less than 40, and 40 not above 64");
        let buckets = Histogram32::with_config(&config);
        Sketch { buckets, in_buckets: 0, count: 0, last: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.buckets.increment(value.min(MOST)).expect("the last bucket holds MOST");
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
        let own = self.buckets.as_mut_slice().iter_mut();
        for (count, more) in own.zip(other.buckets.as_slice()) {
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
        Some(LatencySummary {
            count: self.count,
            last: Nanos(self.last),
            min: Nanos(self.min),
            max: Nanos(self.max),
            p50: Nanos(self.quantile(0.50)),
            p99: Nanos(self.quantile(0.99)),
        })
    }

    /// The value that this share of the samples does not exceed.
    fn quantile(&self, share: f64) -> u64 {
        let bucket = self.buckets.quantile_bucket(share).ok().flatten();
        let middle =
            bucket.map_or(self.max, |bucket| bucket.start() + (bucket.end() - bucket.start()).div_ceil(2));
        middle.clamp(self.min, self.max)
    }

    #[cold]
    fn fade(&mut self) {
        for count in self.buckets.as_mut_slice() {
            *count /= 2;
        }
        self.in_buckets = self.buckets.as_slice().iter().sum();
    }
}

/// Base-2 logarithm of the number of buckets per doubling.
const GROUPING_POWER: u8 = 4;
const MAX_POWER: u8 = 40;
/// Longer times share the last bucket: 18 minutes.
const MOST: u64 = (1 << MAX_POWER) - 1;
/// Samples at which all buckets are halved.
const FADE_AT: u32 = 1 << 20;

#[cfg(test)]
mod tests;
