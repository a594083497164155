//! Minute and hour roll-ups of queues.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;

use inband_model::table::MinuteRow;
use inband_model::{HopColumns, HopField, Nanos, NodeId, Values};

use crate::mixer::Seed;
use crate::quantile::rank;

/// A histogram with logarithmic buckets; sketches of several minutes can be merged.
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
        self.add_many(bucket(value), 1);
    }

    /// Counts `count` values of a bucket.
    pub(crate) fn add_many(&mut self, bucket: u32, count: u64) {
        *self.buckets.entry(bucket).or_default() += count;
        self.count += count;
    }

    /// Adds the counts of another sketch.
    pub fn merge(&mut self, other: &Sketch) {
        for (bucket, count) in &other.buckets {
            let there = self.buckets.entry(*bucket).or_default();
            *there = there.saturating_add(*count);
        }
        self.count = self.count.saturating_add(other.count);
    }

    /// Bytes of memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.len() * BYTES_OF_BUCKET
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
        let mut text = String::new();
        for (bucket, count) in &self.buckets {
            let separator = if text.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}{bucket}:{count}");
        }
        text
    }

    /// Passes the values that `to_text` has written to `take`, with their counts; each value is the middle of
    /// its bucket. Allocates nothing.
    pub fn each_of_text(text: &str, mut take: impl FnMut(u64, u64)) {
        parse_pairs(text, |bucket, count| take(middle(bucket), count));
    }

    /// Parses what `to_text` returns; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Sketch> {
        let mut sketch = Sketch::default();
        for pair in text.split_ascii_whitespace() {
            let (bucket, count) = pair_of(pair)?;
            let there = sketch.buckets.entry(bucket).or_default();
            *there = there.checked_add(count)?;
            sketch.count = sketch.count.checked_add(count)?;
        }
        Some(sketch)
    }
}

/// Passes each bucket of a sketch's text to `take`, with its count, up to the first invalid pair.
pub(crate) fn parse_pairs(text: &str, mut take: impl FnMut(u32, u64)) {
    let mut bytes = text.as_bytes();
    while !bytes.is_empty() {
        if let Some((bucket, count, rest)) = usual_pair(bytes) {
            take(bucket, count);
            bytes = rest;
            continue;
        }
        let Some(bucket) = take_number(&mut bytes, b':') else { return };
        let Some(count) = take_number(&mut bytes, b' ') else { return };
        match u32::try_from(bucket) {
            Ok(bucket) if bucket <= LAST_BUCKET => take(bucket, count),
            _ => return,
        }
    }
}

/// A bucket of three digits, a count of one or two, and the bytes after the following blank: nearly every
/// pair of a sketch. `None` for any other pair, and at the end of the text.
#[inline]
fn usual_pair(bytes: &[u8]) -> Option<(u32, u64, &[u8])> {
    let [a, b, c, b':', d, e, end, ..] = *bytes else { return None };
    let digit = |byte: u8| u32::from(byte.wrapping_sub(b'0'));
    let (a, b, c, d) = (digit(a), digit(b), digit(c), digit(d));
    if a.max(b).max(c).max(d) > 9 {
        return None;
    }
    let bucket = (a * 10 + b) * 10 + c;
    if e == b' ' {
        return Some((bucket, d.into(), bytes.get(6..)?));
    }
    let last = digit(e);
    (last <= 9 && end == b' ').then(|| (bucket, u64::from(d * 10 + last), bytes.get(7..).unwrap_or_default()))
}

/// Takes a number and the character after it, or the end of the text; `None` for anything else.
#[inline]
fn take_number(bytes: &mut &[u8], end: u8) -> Option<u64> {
    let (mut number, mut length) = (0_u64, 0);
    for byte in *bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        length += 1;
    }
    if length > SAFE_DIGITS {
        number = str::from_utf8(bytes.get(..length)?).ok()?.parse().ok()?;
    }
    let is_ended = match bytes.get(length) {
        Some(byte) => *byte == end,
        None => end == b' ',
    };
    let rest = bytes.get(length + 1..).unwrap_or_default();
    *bytes = rest;
    (is_ended && length > 0).then_some(number)
}

/// The bucket and the count of a pair.
fn pair_of(pair: &str) -> Option<(u32, u64)> {
    let (bucket, count) = pair.split_once(':')?;
    let (bucket, count) = (bucket.parse().ok()?, count.parse().ok()?);
    (bucket <= LAST_BUCKET).then_some((bucket, count))
}

/// Minute roll-ups in progress.
#[derive(Debug)]
pub(crate) struct Minutes {
    places: HashMap<Key, u32, Seed>,
    /// The key of the latest lookup, and its row.
    last: Option<(Key, u32)>,
    rows: Vec<MinuteRow>,
    /// The latencies of each row.
    sketches: Vec<Sketch>,
    /// Row and bucket of each hop with a latency, until added to the sketches.
    latencies: Vec<(u32, u32)>,
}

impl Default for Minutes {
    fn default() -> Minutes {
        let places = HashMap::with_hasher(Seed::new());
        Minutes { places, last: None, rows: Vec::new(), sketches: Vec::new(), latencies: Vec::new() }
    }
}

/// Key of a minute: start, node, interface, queue.
type Key = (u64, u32, Option<u32>, Option<u32>);

impl Minutes {
    /// Counts the hops of some reports.
    pub(crate) fn add(&mut self, columns: &HopColumns, reports: Range<usize>) {
        // Looked up once, as there are many hops.
        let narrow = |field| match columns.values(field) {
            Values::Narrow(values) => values,
            Values::Wide(_) => &[],
        };
        let (node, egress) = (narrow(HopField::NodeId), narrow(HopField::EgressInterface));
        let (queue, occupancy) = (narrow(HopField::QueueId), narrow(HopField::QueueOccupancy));
        let utilization = narrow(HopField::EgressUtilization);
        for index in reports {
            let report = &columns.reports()[index];
            let minute = report.received_at.0 - report.received_at.0 % MINUTE;
            if report.hop_count == 0 {
                // The reporter dropped the packet, and tells nothing of where.
                if report.dropped {
                    let place = self.place((minute, report.reporter.0, None, None));
                    self.rows[place as usize].dropped += 1;
                }
                continue;
            }
            for hop in columns.hops_of(index) {
                let present = columns.present()[hop];
                let value = |values: &[u32], field: HopField| {
                    if field.is_in(present) { values.get(hop).copied() } else { None }
                };
                let node = value(node, HopField::NodeId).unwrap_or(0);
                let egress = value(egress, HopField::EgressInterface);
                let key = (minute, node, egress, value(queue, HopField::QueueId));
                let occupancy = value(occupancy, HopField::QueueOccupancy);
                let row = self.count(key, occupancy, columns.value(HopField::Latency, hop));
                row.utilization_max =
                    row.utilization_max.max(value(utilization, HopField::EgressUtilization));
            }
            // The node that dropped a packet is the last one in its report.
            if let Some(place) =
                self.last.as_ref().map(|(_, place)| *place as usize).filter(|_| report.dropped)
            {
                self.rows[place].dropped += 1;
            }
        }
        self.take_latencies();
    }

    /// Counts a hop.
    #[inline]
    fn count(&mut self, key: Key, occupancy: Option<u32>, latency: Option<u64>) -> &mut MinuteRow {
        let place = self.place(key);
        let row = &mut self.rows[place as usize];
        row.count += 1;
        row.queue_occupancy_max = row.queue_occupancy_max.max(occupancy);
        if let Some(latency) = latency {
            row.latency_count += 1;
            row.latency_max = row.latency_max.max(Some(Nanos(latency)));
            self.latencies.push((place, bucket(latency)));
        }
        row
    }

    /// Moves new latencies into the sketches of their rows.
    fn take_latencies(&mut self) {
        // Groups the buckets by row.
        let mut ends: Vec<usize> = vec![0; self.rows.len()];
        self.latencies.iter().for_each(|(place, _)| ends[*place as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut buckets = vec![0; self.latencies.len()];
        for (place, bucket) in self.latencies.drain(..) {
            let end = &mut ends[place as usize];
            buckets[*end] = bucket;
            *end += 1;
        }
        self.sketches.resize_with(self.rows.len(), Sketch::default);
        let mut start = 0;
        for ((row, sketch), end) in self.rows.iter_mut().zip(&mut self.sketches).zip(ends) {
            let buckets = &mut buckets[start..end];
            start = end;
            if buckets.is_empty() {
                continue;
            }
            buckets.sort_unstable();
            for same in buckets.chunk_by(|one, next| one == next) {
                sketch.add_many(same[0], same.len() as u64);
            }
            tell(row, sketch);
        }
    }

    /// The rows by place and time, so that those of a node are adjacent.
    pub(crate) fn rows(&self) -> Vec<MinuteRow> {
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| (row.node_id, row.egress_interface, row.queue_id, row.minute));
        rows
    }

    /// Bytes of memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let buckets = |sketch: &Sketch| sketch.buckets.len();
        self.rows.len() * BYTES_OF_ROW + self.sketches.iter().map(buckets).sum::<usize>() * BYTES_OF_BUCKET
    }

    /// Position of the row with this key.
    #[inline]
    fn place(&mut self, key: Key) -> u32 {
        match self.last {
            Some((same, place)) if same == key => place,
            _ => {
                let place = self.find(key);
                self.last = Some((key, place));
                place
            }
        }
    }

    fn find(&mut self, key: Key) -> u32 {
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            let (minute, node, interface, queue) = key;
            let row = MinuteRow {
                minute: Nanos(minute),
                node_id: NodeId(node),
                egress_interface: interface.and_then(|interface| u16::try_from(interface).ok()),
                queue_id: queue.and_then(|queue| u8::try_from(queue).ok()),
                ..EMPTY
            };
            self.rows.push(row);
        }
        place
    }
}

/// Fills in the latencies of a row.
pub(crate) fn tell(row: &mut MinuteRow, sketch: &Sketch) {
    let quantile = |per_mille| Some(Nanos(sketch.quantile(per_mille)?));
    row.latency_quantiles = (|| Some([quantile(500)?, quantile(900)?, quantile(990)?]))();
    row.latency_sketch = sketch.to_text();
}

/// A row without hops.
pub(crate) const EMPTY: MinuteRow = MinuteRow {
    minute: Nanos::ZERO,
    node_id: NodeId(0),
    egress_interface: None,
    queue_id: None,
    count: 0,
    latency_count: 0,
    latency_max: None,
    latency_quantiles: None,
    latency_sketch: String::new(),
    queue_occupancy_max: None,
    dropped: 0,
    utilization_max: None,
};

/// Key of an hour: node, interface, queue, start.
type HourKey = (NodeId, Option<u16>, Option<u8>, Nanos);

/// The hours of these minutes, by place and time.
pub(crate) fn hours(minutes: &[MinuteRow]) -> Vec<MinuteRow> {
    let mut hours: BTreeMap<HourKey, (MinuteRow, Option<Sketch>)> = BTreeMap::new();
    for minute in minutes {
        let hour = Nanos(minute.minute.0 - minute.minute.0 % HOUR);
        let key = (minute.node_id, minute.egress_interface, minute.queue_id, hour);
        let entry = match hours.entry(key) {
            Entry::Vacant(entry) => {
                // Usually the only one.
                entry.insert((MinuteRow { minute: hour, ..minute.clone() }, None));
                continue;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        let (row, sketch) = entry;
        row.count += minute.count;
        row.latency_count += minute.latency_count;
        row.latency_max = row.latency_max.max(minute.latency_max);
        row.queue_occupancy_max = row.queue_occupancy_max.max(minute.queue_occupancy_max);
        row.dropped += minute.dropped;
        row.utilization_max = row.utilization_max.max(minute.utilization_max);
        let sketch = sketch.get_or_insert_with(|| Sketch::parse(&row.latency_sketch).unwrap_or_default());
        if let Some(part) = Sketch::parse(&minute.latency_sketch) {
            sketch.merge(&part);
        }
    }
    let finished = hours.into_values().map(|(mut row, sketch)| {
        sketch.iter().for_each(|sketch| tell(&mut row, sketch));
        row
    });
    finished.collect()
}

/// The bucket of a value: small values have one each; others share one by their leading bits.
pub(crate) fn bucket(value: u64) -> u32 {
    let Some(shift) = (value | 1).ilog2().checked_sub(FINE_BITS) else {
        return u32::try_from(value).unwrap_or(0);
    };
    let leading = u32::try_from(value >> shift).unwrap_or(0);
    (shift << FINE_BITS) + leading
}

/// The middle of a bucket.
pub(crate) fn middle(bucket: u32) -> u64 {
    let shift = (bucket >> FINE_BITS).saturating_sub(1);
    let leading = u64::from(bucket - (shift << FINE_BITS));
    let least = leading << shift;
    least + ((1 << shift) - 1) / 2
}

const _: () = assert!(LAST_BUCKET > 999, "three digits are a bucket");
/// Numbers with this many digits fit 64 bits.
const SAFE_DIGITS: usize = 19;
/// Nanoseconds per minute.
pub(crate) const MINUTE: u64 = 60_000_000_000;
/// Nanoseconds per hour.
const HOUR: u64 = 60 * MINUTE;
/// Bytes of a row with its key and text, approximately.
const BYTES_OF_ROW: usize = 400;
/// Bytes of a sketch's bucket, approximately.
const BYTES_OF_BUCKET: usize = 24;
/// Bits after the leading one that select a bucket.
const FINE_BITS: u32 = 5;
/// The number of buckets.
pub(crate) const BUCKETS: usize = LAST_BUCKET as usize + 1;
/// The bucket of the largest number.
const LAST_BUCKET: u32 = (58 << FINE_BITS) + 63;

#[cfg(test)]
mod tests;
