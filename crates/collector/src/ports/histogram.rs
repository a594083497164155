//! How are the latencies of a port spread, within a fixed amount of memory?

use inband_model::Nanos;

/// Latencies in buckets that grow with the latency: 16 to each doubling.
///
/// A quantile is at most 1/32 away from the true one. When the buckets hold a million samples all of them
/// are halved, so that the distant past fades.
#[derive(Debug)]
pub(super) struct Histogram {
    buckets: Box<[u32; BUCKETS]>,
    in_buckets: u32,
    count: u64,
    last: u64,
    min: u64,
    max: u64,
}

/// How the hop latencies of a port are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencySummary {
    /// Samples so far.
    pub count: u64,
    /// The latest one.
    pub last: Nanos,
    /// The lowest one so far.
    pub min: Nanos,
    /// The highest one so far.
    pub max: Nanos,
    /// The median of the last million or so, to 3.2 %.
    pub p50: Nanos,
    /// What 99 of 100 of the last million or so stay below, to 3.2 %.
    pub p99: Nanos,
}

impl Histogram {
    pub(super) fn new() -> Histogram {
        Histogram { buckets: Box::new([0; BUCKETS]), in_buckets: 0, count: 0, last: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    pub(super) fn record(&mut self, value: u64) {
        self.buckets[bucket(value)] += 1;
        self.in_buckets += 1;
        self.count += 1;
        self.last = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if self.in_buckets >= FADE_AT {
            self.fade();
        }
    }

    /// What the samples say; `None` when there are none.
    pub(super) fn summary(&self) -> Option<LatencySummary> {
        if self.count == 0 {
            return None;
        }
        Some(LatencySummary {
            count: self.count,
            last: Nanos(self.last),
            min: Nanos(self.min),
            max: Nanos(self.max),
            p50: Nanos(self.quantile(50)),
            p99: Nanos(self.quantile(99)),
        })
    }

    /// The value that so many percent of the samples do not exceed.
    fn quantile(&self, percent: u64) -> u64 {
        let rank = (u64::from(self.in_buckets) * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return middle(index).clamp(self.min, self.max);
            }
        }
        self.max
    }

    #[cold]
    fn fade(&mut self) {
        for count in self.buckets.iter_mut() {
            *count /= 2;
        }
        self.in_buckets = self.buckets.iter().sum();
    }
}

/// The bucket of a value: exact below 16, then 16 to each doubling.
#[inline]
fn bucket(value: u64) -> usize {
    let value = value.min(MOST);
    if value < STEPS {
        return index(value);
    }
    let doublings = value.ilog2() - STEPS.ilog2();
    index(u64::from(doublings) * STEPS + (value >> doublings))
}

#[inline]
fn index(bucket: u64) -> usize {
    usize::try_from(bucket).map_or(BUCKETS - 1, |bucket| bucket.min(BUCKETS - 1))
}

/// The value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let doublings = bucket / STEPS - 1;
    let low = (bucket % STEPS + STEPS) << doublings;
    low + (1 << doublings) / 2
}

/// Buckets to a doubling.
const STEPS: u64 = 16;
/// Longer latencies share the last bucket: 18 minutes.
const MOST: u64 = (1 << 40) - 1;
const BUCKETS: usize = 16 * 37;
/// Samples at which all buckets are halved.
const FADE_AT: u32 = 1 << 20;

#[cfg(test)]
mod tests;
