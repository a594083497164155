//! Statistics of egress interfaces, computed column by column from hops or a roll-up.

mod columns;
mod counts;
mod merge;
mod part;
mod question;
mod sums;

use std::collections::HashSet;
use std::thread;

use inband_model::table::{HOURS, Shape};

use crate::both_ends::{BothEnds, End};
use crate::budget::Budget;
use crate::civil::Hour;
use crate::error::StoreError;
use crate::history::{Chunk, History};
use crate::question::{Limits, QueryError};
use crate::range::TimeRange;
use crate::sketch::bucket;

pub use self::question::{InterfacesOf, InterfacesQuestion};
pub use self::sums::{Interface, InterfaceSums, Interfaces};

use self::columns::{Columns, Numbers};
use self::merge::merged;
use self::part::{Part, SketchPlace, cell};
use self::question::SampledMinutes;

impl History {
    /// Statistics of egress interfaces.
    ///
    /// # Errors
    /// It takes longer or more memory than the limits allow, or history cannot be read.
    pub fn interfaces(
        &self,
        question: &InterfacesQuestion,
        limits: Limits,
    ) -> Result<Interfaces, QueryError> {
        let budget = self.budget(limits);
        let shape = question.of.shape();
        let columns = Columns::of(question.of, &shape);
        let mut chunks = self.counted_chunks(question, &shape).map_err(QueryError::Store)?;
        if let Some(node) = question.node {
            chunks.retain(|(chunk, _)| chunk.may_hold(columns.node, node.into(), node.into()));
        }
        let rows = match question.of {
            InterfacesOf::Minutes | InterfacesOf::HoursAndMinutes => {
                let of_minutes = chunks.iter().filter(|(_, is_of_hours)| !is_of_hours);
                of_minutes.map(|(chunk, _)| chunk.rows()).sum()
            }
            InterfacesOf::Hops | InterfacesOf::Hours => 0,
        };
        let sampled = SampledMinutes::of(question, rows);
        // In the order of nodes, and one thread from each end: each then finds most interfaces alone, and
        // most rows of an interface one after another.
        chunks.sort_by_key(|(chunk, _)| chunk.least(columns.node));
        let ends = BothEnds::of(chunks.iter().map(|(chunk, _)| chunk), &columns.all(), columns.sketch);
        let count = |end: End| {
            let next = || chunks.get(ends.take(end)?);
            self.count_interfaces(next, &columns, question, sampled, &budget, limits)
        };
        let parts: Vec<Part> = thread::scope(|scope| {
            let other = (chunks.len() > 1).then(|| scope.spawn(|| count(End::Last)));
            let own = count(End::First);
            std::iter::once(own).chain(other.and_then(|other| other.join().ok())).collect()
        });
        if budget.is_late() {
            return Err(QueryError::Time(limits.time));
        }
        self.check_shortage().map_err(QueryError::Store)?;
        if parts.iter().any(|part| part.is_too_large) {
            return Err(QueryError::Memory(limits.memory_bytes));
        }
        Ok(Interfaces::sorted(merged(&parts, WORKERS), sampled.map(|minutes| minutes.one_in)))
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
        sampled: Option<SampledMinutes>,
        budget: &Budget,
        limits: Limits,
    ) -> Part {
        let mut part = Part::default();
        while let Some((chunk, is_of_hours)) = next() {
            if budget.is_late() || part.is_too_large {
                break;
            }
            // Damaged columns are noted and left out.
            let _ = self.count_chunk(chunk, *is_of_hours, columns, question, sampled, &mut part);
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
        sampled: Option<SampledMinutes>,
        part: &mut Part,
    ) -> Option<()> {
        let read = |column: usize| Numbers::of(self.column(chunk, column)?);
        let rows = chunk.rows();
        let sampled = sampled.filter(|_| !is_of_hours);
        let is_within = is_of_hours || chunk.is_within(question.range);
        let times = if is_within && sampled.is_none() { None } else { Some(read(columns.time)?) };
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
        let mut wanted: Vec<u32> = (0..u32::try_from(rows).ok()?).collect();
        let are_all_wanted = is_within && question.node.is_none() && hop_counts.is_none();
        if !are_all_wanted {
            wanted.retain(|row| is_wanted(*row as usize));
        }
        let places = part.places(&wanted, &nodes, &interfaces)?;
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
                    sampled.is_none_or(|minutes| time.is_some_and(|time| minutes.include(time)))
                };
                let told: Vec<u32> = wanted.iter().copied().filter(|row| is_told(*row as usize)).collect();
                if !told.is_empty() {
                    let sketches = self.sketches(chunk, sketch, &told)?;
                    let chunk = u32::try_from(part.of_chunks.len()).ok()?;
                    let places = wanted.iter().zip(&places).filter(|(row, _)| is_told(**row as usize));
                    for ((_, place), number) in places.zip(sketches.numbers(&told)) {
                        let Some(number) = number else { continue };
                        part.sketches.push(SketchPlace { place: *place, chunk, number });
                    }
                    part.of_chunks.push(sketches);
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

/// Threads that read at once.
const WORKERS: usize = 2;

#[cfg(test)]
mod tests;
