//! Values in buckets: exact below 16, then eight buckets per doubling, so that a quantile is at most 6.3 %
//! off.

use inband_model::api::WindowValues;

/// A distribution of values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    /// By bucket; empty where there is no value.
    counts: Vec<u32>,
    count: u64,
    max: u64,
}

impl Sums {
    #[inline]
    pub(super) fn add(&mut self, bucket: u16, count: u32) {
        if self.counts.is_empty() {
            self.counts.resize(BUCKETS, 0);
        }
        let of_bucket = &mut self.counts[usize::from(bucket)];
        *of_bucket = of_bucket.saturating_add(count);
        self.count += u64::from(count);
    }

    pub(super) fn reach(&mut self, value: u64) {
        self.max = self.max.max(value);
    }

    /// Adds the counts of another distribution.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bucket, count) in (0..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            self.add(bucket, *count);
        }
        self.reach(other.max);
    }

    /// The highest value.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// The values for an answer; `None` if there are none.
    pub(crate) fn values(&self) -> Option<WindowValues> {
        (self.count > 0).then(|| WindowValues {
            count: self.count,
            p50: self.quantile(50),
            p99: self.quantile(99),
            max: self.max,
        })
    }

    /// The value that `percent` of a hundred values do not exceed.
    fn quantile(&self, percent: u64) -> u64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut passed = 0;
        for (bucket, count) in (0..).zip(&self.counts) {
            passed += u64::from(*count);
            if passed >= rank {
                return middle(bucket).min(self.max);
            }
        }
        self.max
    }
}

/// The bucket of a value.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "buckets are few")]
pub(super) fn bucket(value: u64) -> u16 {
    let value = value.min(MOST);
    if value < EXACT {
        return value as u16;
    }
    let exponent = value.ilog2();
    let step = value >> (exponent - STEP_BITS) & ((1 << STEP_BITS) - 1);
    (EXACT + u64::from(exponent - FIRST_EXPONENT) * (1 << STEP_BITS) + step) as u16
}

/// The value in the middle of a bucket.
fn middle(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    let Some(above) = bucket.checked_sub(EXACT) else { return bucket };
    let shift = (above >> STEP_BITS) + u64::from(FIRST_EXPONENT - STEP_BITS);
    let width = 1 << shift;
    ((1 << STEP_BITS) + (above & ((1 << STEP_BITS) - 1))) * width + width / 2
}

/// Values below this have buckets of their own: 2 to the power of `FIRST_EXPONENT`.
const EXACT: u64 = 16;
const FIRST_EXPONENT: u32 = 4;
/// Bits after the first one that distinguish buckets.
const STEP_BITS: u32 = 3;
/// Larger values share the last bucket; 69 s.
const MOST: u64 = (1 << 36) - 1;
const BUCKETS: usize = 16 + 32 * 8;
/// The last bucket.
pub(super) const LAST_BUCKET: u16 = 16 + 32 * 8 - 1;

#[cfg(test)]
mod tests {
    use super::{BUCKETS, MOST, Sums, bucket, middle};

    #[test]
    fn buckets_rise_with_values_and_their_middles_are_near() {
        let mut last = 0;
        let mut value = 0;
        while value < MOST * 2 {
            let of_value = bucket(value);
            assert!(of_value == last || of_value == last + 1 || value > 1 << 20, "{value}");
            assert!(usize::from(of_value) < BUCKETS);
            let middle = middle(of_value);
            assert!(value > MOST || middle.abs_diff(value) * 16 <= value, "{value}: {middle}");
            last = of_value;
            value += 1 + value / 50;
        }
        assert_eq!(usize::from(bucket(u64::MAX)), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_of_all_that_was_added_and_never_above_the_greatest() {
        let mut sums = Sums::default();
        assert_eq!(sums.values(), None);
        for value in 0..100 {
            sums.add(bucket(value * 1_000), 1);
            sums.reach(value * 1_000);
        }
        let values = sums.values().unwrap();
        assert_eq!((values.count, values.max), (100, 99_000));
        assert!(values.p50.abs_diff(49_000) < 3_100, "{values:?}");
        assert!(values.p99 > 92_000 && values.p99 <= 99_000, "{values:?}");
    }
}
