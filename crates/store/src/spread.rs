//! The distribution of a hop value by size, per time step.

use std::collections::{BTreeMap, VecDeque};
use std::thread;

use inband_model::FlowId;
use inband_model::table::{OBSERVATIONS, Shape};

use crate::ahead::Ahead;
use crate::budget::Budget;
use crate::history::{Chunk, History, ValueTest};
use crate::question::{Limits, QueryError};
use crate::range::TimeRange;

/// Which hops are counted, and the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpreadQuestion {
    /// A numeric column of `observations`.
    pub column: &'static str,
    /// The time range; steps start at its beginning.
    pub range: TimeRange,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Only hops at this node.
    pub node: Option<u32>,
    /// Only hops that leave through this interface.
    pub interface: Option<u32>,
    /// Only hops through this queue.
    pub queue: Option<u32>,
    /// Only hops of this flow.
    pub flow: Option<FlowId>,
}

/// Counts by step and size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spread(BTreeMap<(u32, u8), u64>);

impl Spread {
    /// The number of sizes.
    pub const SIZES: u8 = 64;

    /// The smallest value of a size: 0, 1, then two sizes per doubling from 2 on.
    #[must_use]
    pub fn edge(size: u8) -> u64 {
        match size {
            0 | 1 => size.into(),
            _ => (2 + u64::from(size % 2)) << (size / 2 - 1),
        }
    }

    /// The size of a value.
    #[must_use]
    pub fn size(value: u64) -> u8 {
        match value {
            0 | 1 => u8::from(value == 1),
            _ => {
                let doublings = value.ilog2();
                let half = (value >> (doublings - 1)) & 1;
                u8::try_from(u64::from(2 * doublings) + half).unwrap_or(u8::MAX).min(Self::SIZES - 1)
            }
        }
    }

    /// Adds `count` occurrences of a value to a step.
    pub fn add(&mut self, step: u32, value: u64, count: u64) {
        *self.0.entry((step, Self::size(value))).or_default() += count;
    }

    /// Step, size and count of every nonzero count.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u8, u64)> {
        self.0.iter().map(|((step, size), count)| (*step, *size, *count))
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(place, count)| *self.0.entry(*place).or_default() += count);
    }
}

impl History {
    /// The distribution of a hop value.
    ///
    /// # Errors
    /// The question exceeds its time limit, or history cannot be read.
    pub fn spread(&self, question: &SpreadQuestion, limits: Limits) -> Result<Spread, QueryError> {
        let budget = self.budget(limits);
        let shape = OBSERVATIONS.shape();
        let Some(columns) = Columns::of(&shape, question.column) else { return Ok(Spread::default()) };
        let mut chunks = self.chunks(&shape, question.range).map_err(QueryError::Store)?;
        let bounds = columns.tests(question);
        chunks.retain(|chunk| bounds.iter().all(|(column, value)| chunk.may_hold(*column, *value, *value)));
        let share = chunks.len().div_ceil(WORKERS).max(1);
        let parts: Vec<Spread> = thread::scope(|scope| {
            let (columns, bounds, budget) = (&columns, &bounds, &budget);
            let count = |chunks| scope.spawn(move || self.count(chunks, columns, bounds, question, budget));
            let handles: Vec<_> = chunks.chunks(share).map(count).collect();
            handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
        });
        if budget.is_late() {
            return Err(QueryError::Time(limits.time));
        }
        self.check_shortage().map_err(QueryError::Store)?;
        let mut whole = Spread::default();
        parts.iter().for_each(|part| whole.merge(part));
        Ok(whole)
    }

    fn count(
        &self,
        chunks: &[Chunk],
        columns: &Columns,
        tests: &[(usize, i64)],
        question: &SpreadQuestion,
        budget: &Budget,
    ) -> Spread {
        let mut spread = Spread::default();
        let first = tests.first().map_or(columns.value, |(column, _)| *column);
        let ahead = Ahead::of(chunks, vec![first]);
        // The rows of one chunk are read while the disk reads those of the next ones.
        let mut waiting: VecDeque<(&Chunk, Vec<u32>)> = VecDeque::new();
        while let Some(chunk) = chunks.get(ahead.take()).filter(|_| !budget.is_late()) {
            if let Some(rows) = self.rows_that_are(chunk, tests).filter(|rows| !rows.is_empty()) {
                chunk.announce(&[columns.time, columns.value]);
                waiting.push_back((chunk, rows));
            }
            if waiting.len() > MAX_WAITING
                && let Some((chunk, rows)) = waiting.pop_front()
            {
                self.count_rows(chunk, &rows, columns, question, &mut spread);
            }
        }
        for (chunk, rows) in waiting {
            self.count_rows(chunk, &rows, columns, question, &mut spread);
        }
        spread
    }

    /// Counts some rows of a chunk, unless a column is damaged.
    fn count_rows(
        &self,
        chunk: &Chunk,
        rows: &[u32],
        columns: &Columns,
        question: &SpreadQuestion,
        spread: &mut Spread,
    ) {
        let read = |column| self.rows_of_column(chunk, column, rows);
        let (Some(times), Some(values)) = (read(columns.time), read(columns.value)) else { return };
        for place in 0..rows.len() {
            let (Some(time), Some(value)) = (times.integer(place), values.integer(place)) else { continue };
            let time = time.cast_unsigned();
            if (question.range.from.0..=question.range.to.0).contains(&time) {
                let step = (time - question.range.from.0) / question.step_ns.max(1);
                spread.add(u32::try_from(step).unwrap_or(u32::MAX), value.max(0).cast_unsigned(), 1);
            }
        }
    }

    /// The rows whose columns have these values; `None` if a column is damaged.
    pub(crate) fn rows_that_are(&self, chunk: &Chunk, tests: &[(usize, i64)]) -> Option<Vec<u32>> {
        let all = || (0..u32::try_from(chunk.rows()).unwrap_or(u32::MAX)).collect();
        let mut rows: Option<Vec<u32>> = None;
        for (column, value) in tests {
            let test = ValueTest::Range(*value, *value);
            let found = self.rows_with(chunk, *column, rows.as_deref(), test)?;
            let found = match (found, rows) {
                (Some(found), _) => found,
                (None, before) => {
                    let data = match &before {
                        Some(rows) => self.rows_of_column(chunk, *column, rows)?,
                        None => self.column(chunk, *column)?,
                    };
                    let found = before.unwrap_or_else(all).into_iter().enumerate();
                    let found = found.filter(|(place, _)| data.integer(*place) == Some(*value));
                    found.map(|(_, row)| row).collect()
                }
            };
            if found.is_empty() {
                return Some(found);
            }
            rows = Some(found);
        }
        Some(rows.unwrap_or_else(all))
    }
}

/// Positions of the columns.
struct Columns {
    time: usize,
    value: usize,
    node: usize,
    interface: usize,
    queue: usize,
    flow: usize,
}

impl Columns {
    fn of(shape: &Shape, value: &str) -> Option<Self> {
        Some(Self {
            time: shape.column("time")?,
            value: shape.column(value)?,
            node: shape.column("node_id")?,
            interface: shape.column("egress_interface")?,
            queue: shape.column("queue_id")?,
            flow: shape.column("flow_id")?,
        })
    }

    /// The values that columns must have.
    fn tests(&self, question: &SpreadQuestion) -> Vec<(usize, i64)> {
        let flow = question.flow.map(|flow| (self.flow, flow.0.cast_signed()));
        let small =
            [(self.node, question.node), (self.interface, question.interface), (self.queue, question.queue)];
        let small = small.into_iter().filter_map(|(column, value)| Some((column, i64::from(value?))));
        flow.into_iter().chain(small).collect()
    }
}

/// Chunks whose rows were tested and are not yet read.
const MAX_WAITING: usize = 4;
/// Threads that read at once.
const WORKERS: usize = 2;

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn every_value_is_of_the_last_size_that_does_not_exceed_it() {
        for value in (0..5_000).chain([1 << 20, (1 << 20) - 1, (1 << 31) + 5, u64::MAX]) {
            let size = Spread::size(value);
            assert!(Spread::edge(size) <= value, "{value}");
            assert!(size + 1 == Spread::SIZES || Spread::edge(size + 1) > value, "{value}");
        }
        assert!((1..Spread::SIZES).all(|size| Spread::edge(size) > Spread::edge(size - 1)));
    }
}
