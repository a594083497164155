//! Statistics of egress interfaces, computed column by column from hops or a roll-up.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::thread;

use inband_model::table::{HOURS, MINUTES, OBSERVATIONS, Shape};

use crate::ahead::Ahead;
use crate::budget::Budget;
use crate::civil::Hour;
use crate::error::StoreError;
use crate::history::{Chunk, ColumnData, History, Texts};
use crate::minutes::{BUCKETS, MINUTE, bucket, middle, parse_pairs};
use crate::mixer::Seed;
use crate::question::{Limits, QueryError};
use crate::range::TimeRange;

/// Which hops are counted, and from which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfacesQuestion {
    /// The table.
    pub of: InterfacesOf,
    /// The time range.
    pub range: TimeRange,
    /// Only the interfaces of this node.
    pub node: Option<u32>,
    /// Percentiles are taken from one minute in `one_in` and from the last one; everything else from all.
    pub one_in: u64,
}

impl InterfacesQuestion {
    /// Whether percentiles include the minute of this time. The last minute, which may be running, and the one
    /// before it always count, so that percentiles are known soon after the first report.
    fn is_sampled(&self, time: u64) -> bool {
        let earlier = (self.range.to.0 / MINUTE).saturating_sub(time / MINUTE);
        earlier == 0 || earlier % self.one_in == 1
    }
}

/// A table with statistics of interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfacesOf {
    /// `observations`.
    Hops,
    /// `minutes`.
    Minutes,
    /// `hours`.
    Hours,
    /// `hours` for hours whose rows are all in the range, `minutes` for the rest.
    HoursAndMinutes,
}

/// A node and its egress interface, if reported.
pub type Interface = (u32, Option<u32>);

/// Statistics of an egress interface. Percentiles are at most 1.6 % off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InterfaceSums {
    /// The number of hops.
    pub count: u64,
    /// The median latency.
    pub p50: Option<u64>,
    /// The 99th percentile of the latency.
    pub p99: Option<u64>,
    /// The maximum latency.
    pub max: Option<u64>,
    /// The maximum queue occupancy.
    pub depth: Option<u64>,
    /// The maximum utilization.
    pub utilization: Option<u64>,
    /// Reports of packets that the interface dropped.
    pub drops: u64,
}

impl History {
    /// Statistics of egress interfaces.
    ///
    /// # Errors
    /// It takes longer or more memory than the limits allow, or history cannot be read.
    pub fn interfaces(
        &self,
        question: &InterfacesQuestion,
        limits: Limits,
    ) -> Result<BTreeMap<Interface, InterfaceSums>, QueryError> {
        let budget = self.budget(limits);
        let shape = question.of.shape();
        let columns = Columns::of(question.of, &shape);
        let mut chunks = self.counted_chunks(question, &shape).map_err(QueryError::Store)?;
        if let Some(node) = question.node {
            chunks.retain(|(chunk, _)| chunk.may_hold(columns.node, node.into(), node.into()));
        }
        let ahead = Ahead::of(chunks.iter().map(|(chunk, _)| chunk), columns.all());
        let parts: Vec<Part> = thread::scope(|scope| {
            let count =
                || self.count_interfaces(|| chunks.get(ahead.take()), &columns, question, &budget, limits);
            let others: Vec<_> = (1..WORKERS.min(chunks.len())).map(|_| scope.spawn(count)).collect();
            let mut parts = vec![count()];
            parts.extend(others.into_iter().filter_map(|other| other.join().ok()));
            parts
        });
        if budget.is_late() {
            return Err(QueryError::Time(limits.time));
        }
        self.check_shortage().map_err(QueryError::Store)?;
        if parts.iter().any(|part| part.is_too_large) {
            return Err(QueryError::Memory(limits.memory_bytes));
        }
        Ok(merged(&parts))
    }

    /// The chunks to read, and whether each is of whole hours, all of whose rows count.
    fn counted_chunks(
        &self,
        question: &InterfacesQuestion,
        shape: &Shape,
    ) -> Result<Vec<(Chunk, bool)>, StoreError> {
        let range = question.range;
        if question.of != InterfacesOf::HoursAndMinutes {
            return Ok(self.chunks(shape, range)?.into_iter().map(|chunk| (chunk, false)).collect());
        }
        let (first, last) = (Hour::of(range.from), Hour::of(range.to));
        let minutes = self.chunks(shape, TimeRange { from: first.start(), to: last.end() })?;
        let hours = self.chunks(&HOURS.shape(), TimeRange { from: first.start(), to: last.start() })?;
        // The times of rows in memory are unknown: those are counted by minutes.
        let hour_of = |chunk: &Chunk| chunk.times().map(|(first, _)| Hour::of(first));
        let told: HashSet<Hour> = hours.iter().filter_map(hour_of).collect();
        let is_cut = |hour: Hour| hour.start() < range.from || hour.end().0 - 1 > range.to.0;
        let with_minutes: HashSet<Hour> = minutes.iter().filter_map(hour_of).collect();
        let beyond = minutes.iter().filter(|chunk| !chunk.is_within(range)).filter_map(hour_of);
        let beyond: HashSet<Hour> = beyond.collect();
        let is_whole = |hour: Hour| {
            told.contains(&hour) && !beyond.contains(&hour) && (with_minutes.contains(&hour) || !is_cut(hour))
        };
        let hours = hours.into_iter().filter(|chunk| hour_of(chunk).is_some_and(is_whole));
        let hours: Vec<(Chunk, bool)> = hours.map(|chunk| (chunk, true)).collect();
        let minutes = minutes.into_iter().filter(|chunk| !hour_of(chunk).is_some_and(is_whole));
        let minutes = minutes.filter(|chunk| chunk.may_hold_times(range)).map(|chunk| (chunk, false));
        Ok(hours.into_iter().chain(minutes).collect())
    }

    fn count_interfaces<'a>(
        &self,
        next: impl Fn() -> Option<&'a (Chunk, bool)>,
        columns: &Columns,
        question: &InterfacesQuestion,
        budget: &Budget,
        limits: Limits,
    ) -> Part {
        let mut part = Part::default();
        while let Some((chunk, is_of_hours)) = next() {
            if budget.is_late() || part.is_too_large {
                break;
            }
            // Damaged columns are noted and left out.
            let _ = self.count_chunk(chunk, *is_of_hours, columns, question, &mut part);
            part.compact();
            part.is_too_large = part.bytes() * WORKERS > limits.memory_bytes;
        }
        part
    }

    fn count_chunk(
        &self,
        chunk: &Chunk,
        is_of_hours: bool,
        columns: &Columns,
        question: &InterfacesQuestion,
        part: &mut Part,
    ) -> Option<()> {
        let read = |column: usize| Numbers::of(self.column(chunk, column)?);
        let rows = chunk.rows();
        let is_sampled = question.one_in > 1 && !is_of_hours;
        let is_within = is_of_hours || chunk.is_within(question.range);
        let times = if is_within && !is_sampled { None } else { Some(read(columns.time)?) };
        let (nodes, interfaces) = (read(columns.node)?, read(columns.interface)?);
        let dropped = read(columns.dropped)?;
        let hop_counts = match columns.hops {
            Some([_, count]) => Some(read(count)?),
            None => None,
        };
        // The row of a report without hops counts only for the drop that it tells of.
        let is_of_hops = |row: usize| hop_counts.as_ref().is_none_or(|counts| counts.get(row) != Some(0));
        let is_wanted = |row: usize| {
            let time = times.as_ref().and_then(|times| times.get(row));
            (is_within
                || time.is_some_and(|time| (question.range.from.0..=question.range.to.0).contains(&time)))
                && question.node.is_none_or(|node| nodes.get(row) == Some(node.into()))
                && (is_of_hops(row) || dropped.get(row) == Some(1))
        };
        let mut wanted: Vec<u32> = Vec::with_capacity(rows);
        let mut places: Vec<u32> = Vec::with_capacity(rows);
        for row in (0..rows).filter(|row| is_wanted(*row)) {
            wanted.push(u32::try_from(row).ok()?);
            places.push(part.place(nodes.get(row), interfaces.get(row))?);
        }
        if wanted.is_empty() {
            return Some(());
        }
        let each = || wanted.iter().map(|row| *row as usize).zip(places.iter().map(|place| *place as usize));
        let hops = || each().filter(|(row, _)| is_of_hops(*row));
        match &columns.counts {
            None => hops().for_each(|(_, place)| part.sums[place].count += 1),
            Some(count) => {
                let counts = read(*count)?;
                hops().for_each(|(row, place)| part.sums[place].count += counts.get(row).unwrap_or(0));
            }
        }
        let longest = read(columns.latency)?;
        hops().for_each(|(row, place)| part.sums[place].max = part.sums[place].max.max(longest.get(row)));
        let depths = read(columns.depth)?;
        hops().for_each(|(row, place)| part.sums[place].depth = part.sums[place].depth.max(depths.get(row)));
        let levels = read(columns.utilization)?;
        hops().for_each(|(row, place)| {
            part.sums[place].utilization = part.sums[place].utilization.max(levels.get(row));
        });
        self.count_drops(chunk, columns, &dropped, hop_counts.as_ref(), each(), part)?;
        match columns.sketch {
            None => {
                part.cells
                    .extend(hops().filter_map(|(row, place)| Some(cell(place, bucket(longest.get(row)?)))));
            }
            Some(sketch) => {
                let is_told = |row: usize| {
                    let time = times.as_ref().and_then(|times| times.get(row));
                    !is_sampled || time.is_some_and(|time| question.is_sampled(time))
                };
                let told: Vec<u32> = wanted.iter().copied().filter(|row| is_told(*row as usize)).collect();
                if !told.is_empty() {
                    let read = self.rows_of_column(chunk, sketch, &told)?;
                    let ColumnData::Texts { codes, words } = read else { return None };
                    let text = u32::try_from(part.texts.len()).ok()?;
                    for (row, place) in each().filter(|(row, _)| is_told(*row)) {
                        let (Some(code), Ok(place)) = (codes[row], u32::try_from(place)) else { continue };
                        part.sketches.push(SketchPlace { place, text, code });
                    }
                    part.texts.push(words);
                }
            }
        }
        Some(())
    }

    /// Counts reports of dropped packets.
    fn count_drops(
        &self,
        chunk: &Chunk,
        columns: &Columns,
        dropped: &Numbers,
        hop_counts: Option<&Numbers>,
        rows: impl Iterator<Item = (usize, usize)>,
        part: &mut Part,
    ) -> Option<()> {
        if dropped.values.iter().all(|dropped| *dropped == 0) {
            return Some(());
        }
        let (Some([index, _]), Some(count)) = (columns.hops, hop_counts) else {
            rows.for_each(|(row, place)| part.sums[place].drops += dropped.get(row).unwrap_or(0));
            return Some(());
        };
        let index = Numbers::of(self.column(chunk, index)?)?;
        // The node that dropped a packet is the last one in its report, or the reporter if it has no hops.
        let is_last = |row: usize| {
            let count = count.get(row);
            count == Some(0) || index.get(row).map(|index| index + 1) == count
        };
        for (_, place) in rows.filter(|(row, _)| dropped.get(*row) == Some(1) && is_last(*row)) {
            part.sums[place].drops += 1;
        }
        Some(())
    }
}

impl InterfacesOf {
    fn shape(self) -> Shape {
        match self {
            Self::Hops => OBSERVATIONS.shape(),
            Self::Minutes | Self::HoursAndMinutes => MINUTES.shape(),
            Self::Hours => HOURS.shape(),
        }
    }
}

/// Positions of the columns.
struct Columns {
    time: usize,
    node: usize,
    interface: usize,
    latency: usize,
    depth: usize,
    utilization: usize,
    dropped: usize,
    /// In roll-ups: the number of hops, and the sketch of their latencies.
    counts: Option<usize>,
    sketch: Option<usize>,
    /// In hops: hop index and hop count.
    hops: Option<[usize; 2]>,
}

impl Columns {
    fn of(table: InterfacesOf, shape: &Shape) -> Self {
        // The tables of the model have all of them.
        let place = |name: &str| shape.column(name).unwrap_or(0);
        let is_hops = table == InterfacesOf::Hops;
        let of = |hops: &str, rolled_up: &str| place(if is_hops { hops } else { rolled_up });
        Self {
            time: place("time"),
            node: place("node_id"),
            interface: place("egress_interface"),
            latency: of("hop_latency", "latency_max"),
            depth: of("queue_occupancy", "queue_occupancy_max"),
            utilization: of("egress_utilization", "utilization_max"),
            dropped: place("dropped"),
            counts: (!is_hops).then(|| place("count")),
            sketch: (!is_hops).then(|| place("latency_sketch")),
            hops: is_hops.then(|| [place("hop_index"), place("hop_count")]),
        }
    }

    /// The columns that are read in any case.
    fn all(&self) -> Vec<usize> {
        let Self { node, interface, latency, depth, utilization, dropped, counts, sketch, .. } = *self;
        let numbers = [node, interface, latency, depth, utilization, dropped];
        numbers.into_iter().chain(counts).chain(sketch).collect()
    }
}

/// The counts of one thread.
#[derive(Default)]
struct Part {
    places: HashMap<Interface, u32, Seed>,
    /// The place of the previous row.
    last: Option<u32>,
    interfaces: Vec<Interface>,
    sums: Vec<InterfaceSums>,
    /// Place and latency bucket of each hop.
    cells: Vec<Cell>,
    /// The same, with the number of occurrences.
    counted: Vec<(Cell, u32)>,
    /// The sketches of rows, and the texts that contain them.
    sketches: Vec<SketchPlace>,
    texts: Vec<Texts>,
    is_too_large: bool,
}

impl Part {
    /// The place of an interface; `None` if there are too many.
    fn place(&mut self, node: Option<u64>, interface: Option<u64>) -> Option<u32> {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let key = (node.map_or(u32::MAX, small), interface.map(small));
        if let Some(last) = self.last {
            // Most tables have the same order: the next interface is the one that came next before.
            for near in [last, last + 1] {
                if self.interfaces.get(near as usize) == Some(&key) {
                    self.last = Some(near);
                    return Some(near);
                }
            }
        }
        let next = u32::try_from(self.interfaces.len()).ok().filter(|next| *next < MAX_PLACES)?;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.interfaces.push(key);
            self.sums.push(InterfaceSums::default());
        }
        self.last = Some(place);
        Some(place)
    }

    /// Combines equal cells if there are many, so that memory grows with the places and not with the hops.
    fn compact(&mut self) {
        if self.cells.len() < MANY_CELLS {
            return;
        }
        self.cells.sort_unstable();
        let same = self.cells.chunk_by(|one, next| one == next);
        self.counted.extend(same.map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX))));
        self.cells.clear();
        self.counted.sort_unstable_by_key(|(cell, _)| *cell);
        self.counted.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
    }

    fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
            + self.counted.capacity() * size_of::<(Cell, u32)>()
            + self.sketches.capacity() * size_of::<SketchPlace>()
            + self.texts.iter().map(Texts::bytes).sum::<usize>()
            + self.interfaces.len() * BYTES_OF_INTERFACE
    }
}

/// Nonnegative numbers of a column.
struct Numbers {
    values: Vec<i64>,
    valid: Option<Vec<bool>>,
}

impl Numbers {
    fn of(data: ColumnData) -> Option<Self> {
        match data {
            ColumnData::Integers { values, valid } => Some(Self { values, valid }),
            ColumnData::Flags(flags) => {
                Some(Self { values: flags.into_iter().map(i64::from).collect(), valid: None })
            }
            ColumnData::Texts { .. } => None,
        }
    }

    #[inline]
    fn get(&self, row: usize) -> Option<u64> {
        let is_there = self.valid.as_ref().is_none_or(|valid| valid[row]);
        if is_there { u64::try_from(self.values[row]).ok() } else { None }
    }
}

/// A place and a latency bucket in one number.
type Cell = u32;

/// Position of the sketch of a row.
#[derive(Debug, Clone, Copy)]
struct SketchPlace {
    place: u32,
    text: u32,
    code: u32,
}

fn cell(place: usize, bucket: u32) -> Cell {
    // The number of places is bounded.
    u32::try_from(place).unwrap_or(0) << BUCKET_BITS | bucket
}

/// The counts of all threads, by interface.
fn merged(parts: &[Part]) -> BTreeMap<Interface, InterfaceSums> {
    let mut places: Vec<(Interface, u32, u32)> = Vec::new();
    for (number, part) in (0..).zip(parts) {
        places.extend(part.interfaces.iter().zip(0..).map(|(interface, place)| (*interface, number, place)));
    }
    places.sort_unstable();
    let same: Vec<_> = places.chunk_by(|one, next| one.0 == next.0).collect();
    let spreads: Vec<Spreads<'_>> = parts.iter().map(Spreads::of).collect();
    let share = same.len().div_ceil(WORKERS).max(1);
    let sums: Vec<Vec<InterfaceSums>> = thread::scope(|scope| {
        let sum = |same| {
            let spreads = &spreads;
            scope.spawn(move || summed(same, spreads))
        };
        let summing: Vec<_> = same.chunks(share).map(sum).collect();
        // A panic of a thread has been printed.
        let sums = summing.into_iter().zip(same.chunks(share));
        sums.map(|(sum, same)| sum.join().unwrap_or_else(|_| summed(same, &spreads))).collect()
    });
    same.iter().map(|places| places[0].0).zip(sums.into_iter().flatten()).collect()
}

/// The counts of interfaces from their places in the threads' counts.
fn summed(same: &[&[(Interface, u32, u32)]], spreads: &[Spreads<'_>]) -> Vec<InterfaceSums> {
    let mut counts = Counts::new();
    let of_interface = |places: &&[(Interface, u32, u32)]| {
        let mut all = InterfaceSums::default();
        for (_, number, place) in *places {
            let spread = &spreads[*number as usize];
            let sums = &spread.part.sums[*place as usize];
            all.count += sums.count;
            all.drops += sums.drops;
            all.max = all.max.max(sums.max);
            all.depth = all.depth.max(sums.depth);
            all.utilization = all.utilization.max(sums.utilization);
            spread.add_to(*place, &mut counts);
        }
        (all.p50, all.p99) = counts.take_quantiles();
        all
    };
    same.iter().map(of_interface).collect()
}

/// The latencies of one thread, grouped by place.
struct Spreads<'a> {
    part: &'a Part,
    cells: Together<u16>,
    counted: Together<(u16, u32)>,
    sketches: Together<(u32, u32)>,
}

impl<'a> Spreads<'a> {
    fn of(part: &'a Part) -> Self {
        let places = part.interfaces.len();
        let place = |cell: Cell| cell >> BUCKET_BITS;
        let bucket = |cell: Cell| u16::try_from(cell & ((1 << BUCKET_BITS) - 1)).unwrap_or(0);
        let cells = part.cells.iter().map(|cell| (place(*cell), bucket(*cell)));
        let counted = part.counted.iter().map(|(cell, count)| (place(*cell), (bucket(*cell), *count)));
        let sketches = part.sketches.iter().map(|sketch| (sketch.place, (sketch.text, sketch.code)));
        Self {
            part,
            cells: Together::of(places, cells),
            counted: Together::of(places, counted),
            sketches: Together::of(places, sketches),
        }
    }

    fn add_to(&self, place: u32, counts: &mut Counts) {
        self.cells.of_place(place).iter().for_each(|bucket| counts.add((*bucket).into(), 1));
        for (bucket, count) in self.counted.of_place(place) {
            counts.add((*bucket).into(), u64::from(*count));
        }
        for (text, code) in self.sketches.of_place(place) {
            let text = self.part.texts[*text as usize].get(*code as usize);
            parse_pairs(text, |bucket, count| counts.add(bucket, count));
        }
    }
}

/// Values grouped by place.
struct Together<T> {
    /// The start of each group, and the end of the last.
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Default> Together<T> {
    fn of(places: usize, values: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0_u32; places + 2];
        values.clone().for_each(|(place, _)| starts[place as usize + 2] += 1);
        let mut all = 0;
        for start in &mut starts {
            all += *start;
            *start = all;
        }
        // The start of each group moves to its end, where the next one starts.
        let mut sorted = vec![T::default(); all as usize];
        for (place, value) in values {
            let next = &mut starts[place as usize + 1];
            sorted[*next as usize] = value;
            *next += 1;
        }
        Self { starts, values: sorted }
    }

    fn of_place(&self, place: u32) -> &[T] {
        let place = place as usize;
        &self.values[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// The counts of all buckets, for one place at a time.
struct Counts {
    buckets: Vec<u64>,
    /// The sums of [`BLOCK`] buckets each, so that empty blocks are skipped.
    blocks: Vec<u64>,
}

impl Counts {
    fn new() -> Self {
        let blocks = BUCKETS.div_ceil(BLOCK);
        Self { buckets: vec![0; blocks * BLOCK], blocks: vec![0; blocks] }
    }

    #[inline]
    fn add(&mut self, bucket: u32, count: u64) {
        let bucket = bucket as usize;
        let Some(there) = self.buckets.get_mut(bucket) else { return };
        *there = there.saturating_add(count);
        let block = &mut self.blocks[bucket / BLOCK];
        *block = block.saturating_add(count);
    }

    /// The median and the 99th percentile; resets the counts.
    fn take_quantiles(&mut self) -> (Option<u64>, Option<u64>) {
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
/// Bits of the bucket in a cell; the rest is the place.
const BUCKET_BITS: u32 = 11;
const MAX_PLACES: u32 = 1 << (u32::BITS - BUCKET_BITS);
const _: () = assert!(BUCKETS <= 1 << BUCKET_BITS, "a bucket fits");
/// Cells from which they are combined.
const MANY_CELLS: usize = 1 << 22;
/// Threads that read at once.
const WORKERS: usize = 2;
const BYTES_OF_INTERFACE: usize = 160;

#[cfg(test)]
mod tests;
