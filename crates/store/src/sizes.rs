//! Counts by size for each time of a roll-up, from its sketches.

use std::collections::BTreeMap;
use std::thread;

use inband_model::Nanos;
use inband_model::table::{MINUTES, Shape, TOTALS};

use crate::ahead::Ahead;
use crate::budget::Budget;
use crate::history::{Chunk, History};
use crate::question::{Limits, QueryError};
use crate::range::TimeRange;
use crate::sketch::{BUCKETS, middle};
use crate::spread::Spread;

/// Which sketches are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizesQuestion {
    /// The table and its column of sketches.
    pub of: SizesOf,
    /// The times of the rows.
    pub range: TimeRange,
}

/// A column of sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizesOf {
    /// The hop latencies of all hops, by second.
    Latencies,
    /// The queue occupancies of all hops, by second.
    Occupancies,
    /// The hop latencies of some queues, by minute.
    LatenciesOfQueues {
        /// Only hops at this node.
        node: Option<u32>,
        /// Only hops that leave through this interface.
        interface: Option<u32>,
        /// Only hops through this queue.
        queue: Option<u32>,
    },
}

/// For each time of a row, the number of values of each size, as in [`Spread`].
pub type Sizes = BTreeMap<Nanos, [u64; Spread::SIZES as usize]>;

impl History {
    /// Counts by size from the sketches of a roll-up.
    ///
    /// # Errors
    /// The question exceeds its time limit, or history cannot be read.
    pub fn sizes(&self, question: &SizesQuestion, limits: Limits) -> Result<Sizes, QueryError> {
        let budget = self.budget(limits);
        let shape = question.of.shape();
        let Some(columns) = Columns::of(&shape, question.of) else { return Ok(Sizes::new()) };
        let mut chunks = self.chunks(&shape, question.range).map_err(QueryError::Store)?;
        let may_hold =
            |chunk: &Chunk, (column, value): &(usize, i64)| chunk.may_hold(*column, *value, *value);
        chunks.retain(|chunk| columns.tests.iter().all(|test| may_hold(chunk, test)));
        let first = columns.tests.first().map_or(columns.time, |(column, _)| *column);
        let ahead = Ahead::of(&chunks, vec![first]).with_sketches(Some(columns.sketch));
        let count = || self.count_sizes(&chunks, &ahead, &columns, question.range, &budget);
        let mut sizes: Sizes = Sizes::new();
        let parts: Vec<Sizes> = thread::scope(|scope| {
            let other = (chunks.len() > 1).then(|| scope.spawn(count));
            let own = count();
            // A panic of a thread has been printed.
            std::iter::once(own).chain(other.and_then(|other| other.join().ok())).collect()
        });
        if budget.is_late() {
            return Err(QueryError::Time(limits.time));
        }
        self.check_shortage().map_err(QueryError::Store)?;
        for (time, counts) in parts.into_iter().flatten() {
            let all = sizes.entry(time).or_insert([0; Spread::SIZES as usize]);
            all.iter_mut().zip(counts).for_each(|(all, count)| *all = all.saturating_add(count));
        }
        Ok(sizes)
    }

    /// The counts of one thread.
    fn count_sizes(
        &self,
        chunks: &[Chunk],
        ahead: &Ahead<'_>,
        columns: &Columns,
        range: TimeRange,
        budget: &Budget,
    ) -> Sizes {
        let sizes_of = sizes_of_buckets();
        let mut sizes = Sizes::new();
        while let Some(chunk) = chunks.get(ahead.take()).filter(|_| !budget.is_late()) {
            let Some(mut rows) = self.rows_that_are(chunk, &columns.tests).filter(|rows| !rows.is_empty())
            else {
                continue;
            };
            let Some(data) = self.rows_of_column(chunk, columns.time, &rows) else { continue };
            let is_in = |time: &u64| (range.from.0..=range.to.0).contains(time);
            let time = |place: usize| data.integer(place).map(i64::cast_unsigned).filter(is_in);
            let (mut times, mut place) = (Vec::with_capacity(rows.len()), 0);
            rows.retain(|_| {
                let time = time(place);
                times.extend(time);
                place += 1;
                time.is_some()
            });
            if rows.is_empty() {
                continue;
            }
            let Some(sketches) = self.sketches(chunk, columns.sketch, &rows) else { continue };
            for (time, number) in times.into_iter().zip(sketches.numbers(&rows)) {
                let Some(number) = number else { continue };
                let counts = sizes.entry(Nanos(time)).or_insert([0; Spread::SIZES as usize]);
                sketches.each(number, |bucket, count| {
                    let Some(size) = sizes_of.get(bucket as usize) else { return };
                    let there = &mut counts[usize::from(*size)];
                    *there = there.saturating_add(count);
                });
            }
        }
        sizes
    }
}

impl SizesOf {
    fn shape(self) -> Shape {
        match self {
            Self::Latencies | Self::Occupancies => TOTALS.shape(),
            Self::LatenciesOfQueues { .. } => MINUTES.shape(),
        }
    }
}

/// Positions of the columns, and the values that some must have.
struct Columns {
    time: usize,
    sketch: usize,
    tests: Vec<(usize, i64)>,
}

impl Columns {
    fn of(shape: &Shape, of: SizesOf) -> Option<Self> {
        let sketch = match of {
            SizesOf::Occupancies => "queue_occupancy_sketch",
            SizesOf::Latencies | SizesOf::LatenciesOfQueues { .. } => "latency_sketch",
        };
        let wanted = match of {
            SizesOf::LatenciesOfQueues { node, interface, queue } => {
                [("node_id", node), ("egress_interface", interface), ("queue_id", queue)]
            }
            SizesOf::Latencies | SizesOf::Occupancies => Default::default(),
        };
        let test = |(name, value): (&str, Option<u32>)| Some((shape.column(name)?, i64::from(value?)));
        Some(Self {
            time: shape.column("time")?,
            sketch: shape.column(sketch)?,
            tests: wanted.into_iter().filter_map(test).collect(),
        })
    }
}

/// The size of the values of each bucket.
fn sizes_of_buckets() -> Vec<u8> {
    let buckets = 0..u32::try_from(BUCKETS).unwrap_or(u32::MAX);
    buckets.map(|bucket| Spread::size(middle(bucket))).collect()
}

#[cfg(test)]
mod tests;
