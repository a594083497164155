//! Distributions of values, stored with roll-ups.

mod bucket;
mod packed;
mod text;

pub(crate) use self::bucket::{BUCKETS, bucket, middle};
pub(crate) use self::packed::PackedSketches;
pub(crate) use self::text::parse_pairs;

use crate::quantile::rank;

use self::text::{pair_of, push_number};

/// A histogram with logarithmic buckets; sketches of several minutes can be merged.
///
/// A bucket is 1/32 of a power of two wide: a quantile is at most 1.6 % off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Buckets in ascending order, with their counts.
    buckets: Vec<(u32, u64)>,
    count: u64,
}

impl Sketch {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_many(bucket(value), 1);
    }

    /// Counts `count` values of a bucket.
    pub(crate) fn add_many(&mut self, bucket: u32, count: u64) {
        *self.of_bucket(bucket) += count;
        self.count += count;
    }

    /// Adds the counts of another sketch.
    pub fn merge(&mut self, other: &Sketch) {
        for (bucket, count) in &other.buckets {
            let there = self.of_bucket(*bucket);
            *there = there.saturating_add(*count);
        }
        self.count = self.count.saturating_add(other.count);
    }

    /// The count of a bucket.
    fn of_bucket(&mut self, bucket: u32) -> &mut u64 {
        let place = match self.buckets.last() {
            Some((last, _)) if *last >= bucket => {
                self.buckets.binary_search_by_key(&bucket, |(bucket, _)| *bucket)
            }
            _ => Err(self.buckets.len()),
        };
        let place = place.unwrap_or_else(|place| {
            self.buckets.insert(place, (bucket, 0));
            place
        });
        &mut self.buckets[place].1
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<(u32, u64)>()
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The quantile at `per_mille` of 1,000; `None` without values.
    #[must_use]
    pub fn quantile(&self, per_mille: u64) -> Option<u64> {
        self.at((u128::from(self.count) * u128::from(per_mille)).div_ceil(1_000))
    }

    /// The quantile at a share from 0 to 1, by the nearest rank; `None` without values.
    #[must_use]
    pub fn quantile_at(&self, share: f64) -> Option<u64> {
        self.at(rank(share, self.count).into())
    }

    /// The value at a rank from 1 to the count: of a lower one that of 1, of a higher one the last.
    fn at(&self, rank: u128) -> Option<u64> {
        let rank = rank.clamp(1, u128::from(self.count).max(1));
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += u128::from(*count);
            if seen >= rank {
                return Some(middle(*bucket));
            }
        }
        None
    }

    /// The values and their counts; each value is the middle of its bucket.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets.iter().map(|(bucket, count)| (middle(*bucket), *count))
    }

    /// Formats it as `bucket:count` pairs.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.buckets.len() * USUAL_PAIR_BYTES);
        for (bucket, count) in &self.buckets {
            if !text.is_empty() {
                text.push(' ');
            }
            push_number(&mut text, (*bucket).into());
            text.push(':');
            push_number(&mut text, *count);
        }
        text
    }

    /// Parses what `to_text` returns; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Sketch> {
        let mut sketch = Sketch::default();
        for pair in text.split_ascii_whitespace() {
            let (bucket, count) = pair_of(pair)?;
            let there = sketch.of_bucket(bucket);
            *there = there.checked_add(count)?;
            sketch.count = sketch.count.checked_add(count)?;
        }
        Some(sketch)
    }
}

/// Bytes of a pair of a text with the blank after it, approximately.
const USUAL_PAIR_BYTES: usize = 6;

#[cfg(test)]
mod tests;
