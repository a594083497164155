//! What is left of a minute of a queue?

use std::collections::BTreeMap;

use inband_model::table::MinuteRow;
use inband_model::{HopRecord, Nanos};

/// Counts values by their size, so that quantiles of many minutes can be had together.
///
/// A bucket is 1/32 of a power of two wide: a quantile is at most 1.6 % off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    buckets: BTreeMap<u32, u64>,
    count: u64,
}

impl Sketch {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        *self.buckets.entry(bucket(value)).or_default() += 1;
        self.count += 1;
    }

    /// Takes in what another has counted.
    pub fn merge(&mut self, other: &Sketch) {
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
        self.count += other.count;
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value below which a share of all lies, `per_mille` of 1,000; `None` when there is none.
    #[must_use]
    pub fn quantile(&self, per_mille: u64) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += u128::from(*count);
            if seen >= rank {
                return Some(middle(*bucket));
            }
        }
        None
    }

    /// Writes it as `bucket:count` pairs.
    #[must_use]
    pub fn to_text(&self) -> String {
        let pairs: Vec<_> = self.buckets.iter().map(|(bucket, count)| format!("{bucket}:{count}")).collect();
        pairs.join(" ")
    }

    /// Reads what `to_text` writes; `None` when it is something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Sketch> {
        let mut sketch = Sketch::default();
        for pair in text.split_ascii_whitespace() {
            let (bucket, count) = pair.split_once(':')?;
            let (bucket, count): (u32, u64) = (bucket.parse().ok()?, count.parse().ok()?);
            if bucket > LAST_BUCKET {
                return None;
            }
            *sketch.buckets.entry(bucket).or_default() += count;
            sketch.count = sketch.count.checked_add(count)?;
        }
        Some(sketch)
    }
}

/// The minutes of some hops, in the order of time.
pub(crate) fn rows(hops: &[HopRecord]) -> Vec<MinuteRow> {
    let mut minutes: BTreeMap<_, (MinuteRow, Sketch)> = BTreeMap::new();
    for hop in hops.iter().filter(|hop| hop.hop_count > 0) {
        let minute = Nanos(hop.received_at.0 - hop.received_at.0 % MINUTE);
        let key = (minute, hop.node_id, hop.egress_interface, hop.queue_id);
        let (row, sketch) = minutes.entry(key).or_insert_with(|| (empty(hop, minute), Sketch::default()));
        row.count += 1;
        row.queue_occupancy_max = row.queue_occupancy_max.max(hop.queue_occupancy);
        if let Some(latency) = hop.latency {
            row.latency_count += 1;
            row.latency_max = row.latency_max.max(Some(latency));
            sketch.add(latency.0);
        }
    }
    let finish = |(mut row, sketch): (MinuteRow, Sketch)| {
        let quantile = |per_mille| sketch.quantile(per_mille).map(Nanos);
        row.latency_quantiles = (|| Some([quantile(500)?, quantile(900)?, quantile(990)?]))();
        row.latency_sketch = sketch.to_text();
        row
    };
    minutes.into_values().map(finish).collect()
}

fn empty(hop: &HopRecord, minute: Nanos) -> MinuteRow {
    MinuteRow {
        minute,
        node_id: hop.node_id,
        egress_interface: hop.egress_interface,
        queue_id: hop.queue_id,
        count: 0,
        latency_count: 0,
        latency_max: None,
        latency_quantiles: None,
        latency_sketch: String::new(),
        queue_occupancy_max: None,
    }
}

/// Small values have a bucket each; others share one with those that have the same leading bits.
fn bucket(value: u64) -> u32 {
    let Some(shift) = (value | 1).ilog2().checked_sub(FINE_BITS) else {
        return u32::try_from(value).unwrap_or(0);
    };
    let leading = u32::try_from(value >> shift).unwrap_or(0);
    (shift << FINE_BITS) + leading
}

/// The middle of a bucket.
fn middle(bucket: u32) -> u64 {
    let shift = (bucket >> FINE_BITS).saturating_sub(1);
    let leading = u64::from(bucket - (shift << FINE_BITS));
    let least = leading << shift;
    least + ((1 << shift) - 1) / 2
}

/// Nanoseconds of a minute.
const MINUTE: u64 = 60_000_000_000;
/// Bits after the leading one that tell buckets apart.
const FINE_BITS: u32 = 5;
/// The bucket of the largest number.
const LAST_BUCKET: u32 = (58 << FINE_BITS) + 63;

#[cfg(test)]
mod tests;
