//! The distribution of packet times over a link, per time step.

use std::collections::{HashMap, HashSet};
use std::thread;

use inband_model::FlowId;
use inband_model::table::{OBSERVATIONS, Shape};

use crate::ahead::Ahead;
use crate::budget::Budget;
use crate::history::{Chunk, History};
use crate::mixer::Seed;
use crate::question::{Limits, QueryError};
use crate::range::TimeRange;
use crate::spread::Spread;

/// Which packets are counted: those that crossed this link, with both ends in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkQuestion {
    /// The time range; steps start at its beginning.
    pub range: TimeRange,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// The node that packets leave.
    pub node: u32,
    /// The interface through which they leave it.
    pub interface: u32,
    /// Only packets through this queue.
    pub queue: Option<u32>,
    /// Only packets of this flow.
    pub flow: Option<FlowId>,
}

/// A hop's key: report time, reporter, its `hw_id`, sequence number, position in the datagram, hop index.
type Key = [i64; 6];

/// The result of one thread.
#[derive(Debug, Default)]
struct Part {
    spread: Spread,
    /// Egress timestamps by the key of the next hop, if that is in another chunk.
    open: HashMap<Key, i64, Seed>,
}

impl History {
    /// The distribution of packet times over a link.
    ///
    /// # Errors
    /// The question exceeds its time limit, or history cannot be read.
    pub fn link_spread(&self, question: &LinkQuestion, limits: Limits) -> Result<Spread, QueryError> {
        let budget = self.budget(limits);
        let shape = OBSERVATIONS.shape();
        let Some(columns) = Columns::of(&shape) else { return Ok(Spread::default()) };
        let chunks = self.chunks(&shape, question.range).map_err(QueryError::Store)?;
        let first = columns.tests(question).first().map(|(column, _)| *column);
        let ahead = Ahead::of(&chunks, first.into_iter().collect());
        let parts = in_turn(&chunks, &budget, &ahead, |chunk, part: &mut Part| {
            // Damaged columns are noted and left out.
            let _ = self.pair_hops(chunk, &columns, question, part);
        });
        let (mut spread, mut open) = (Spread::default(), HashMap::default());
        for part in parts {
            spread.merge(&part.spread);
            open.extend(part.open);
        }
        if !open.is_empty() {
            // In earlier versions the next hop may be in any chunk.
            let ahead = Ahead::of(&chunks, vec![columns.key[SEQUENCE]]);
            let more = in_turn(&chunks, &budget, &ahead, |chunk, part: &mut Part| {
                let _ = self.find_hops(chunk, &columns, &open, question, &mut part.spread);
            });
            more.iter().for_each(|part| spread.merge(&part.spread));
        }
        self.check_shortage().map_err(QueryError::Store)?;
        match budget.is_late() {
            true => Err(QueryError::Time(limits.time)),
            false => Ok(spread),
        }
    }

    /// Counts the packets of a chunk that left over the link and whose next hop is in it too.
    fn pair_hops(
        &self,
        chunk: &Chunk,
        columns: &Columns,
        question: &LinkQuestion,
        part: &mut Part,
    ) -> Option<()> {
        let tests = columns.tests(question);
        let may_hold = |(column, value): &(usize, i64)| chunk.may_hold(*column, *value, *value);
        if !tests.iter().all(may_hold) {
            return Some(());
        }
        let rows = self.rows_that_are(chunk, &tests)?;
        if rows.is_empty() {
            return Some(());
        }
        chunk.announce(&[&columns.key[..], &[columns.count, columns.egress, columns.ingress]].concat());
        let read = |column: usize| self.rows_of_column(chunk, column, &rows);
        let (times, stamps, counts) = (read(columns.key[0])?, read(columns.egress)?, read(columns.count)?);
        let keys: Vec<_> = columns.key.iter().map(|column| read(*column)).collect::<Option<_>>()?;
        let mut open: HashMap<Key, i64, Seed> = HashMap::default();
        for row in 0..rows.len() {
            let is_in = times.integer(row).is_some_and(|time| question.range.has(time));
            let stamp = stamps.integer(row).filter(|stamp| *stamp > MAX_NARROW);
            let (Some(stamp), true) = (stamp, is_in) else { continue };
            let mut key: Key = std::array::from_fn(|at| keys[at].integer(row).unwrap_or(0));
            key[5] += 1;
            if key[5] < counts.integer(row).unwrap_or(0) {
                open.insert(key, stamp);
            }
        }
        let found = self.find_hops(chunk, columns, &open, question, &mut part.spread)?;
        open.retain(|key, _| !found.contains(key));
        part.open.extend(open);
        Some(())
    }

    /// Counts the hops of a chunk that follow those in `left`, and returns their keys.
    fn find_hops(
        &self,
        chunk: &Chunk,
        columns: &Columns,
        left: &HashMap<Key, i64, Seed>,
        question: &LinkQuestion,
        spread: &mut Spread,
    ) -> Option<HashSet<Key>> {
        let mut found = HashSet::new();
        if left.is_empty() {
            return Some(found);
        }
        let sequences: HashSet<i64, Seed> = left.keys().map(|key| key[SEQUENCE]).collect();
        let data = self.column(chunk, columns.key[SEQUENCE])?;
        let is_wanted =
            |row: &u32| data.integer(*row as usize).is_some_and(|sequence| sequences.contains(&sequence));
        let rows: Vec<u32> = (0..u32::try_from(chunk.rows()).unwrap_or(u32::MAX)).filter(is_wanted).collect();
        let read = |column: usize| self.rows_of_column(chunk, column, &rows);
        let keys: Vec<_> = columns.key.iter().map(|column| read(*column)).collect::<Option<_>>()?;
        let stamps = read(columns.ingress)?;
        for row in 0..rows.len() {
            let key: Key = std::array::from_fn(|at| keys[at].integer(row).unwrap_or(0));
            let Some(left) = left.get(&key) else { continue };
            found.insert(key);
            if let Some(came) = stamps.integer(row).filter(|stamp| *stamp > MAX_NARROW) {
                let step = (key[0].cast_unsigned() - question.range.from.0) / question.step_ns.max(1);
                let latency = u64::try_from(came.saturating_sub(*left)).unwrap_or(0);
                spread.add(u32::try_from(step).unwrap_or(u32::MAX), latency, 1);
            }
        }
        Some(found)
    }
}

/// Distributes chunks over two threads, each with a result of its own.
fn in_turn<T: Default + Send>(
    chunks: &[Chunk],
    budget: &Budget,
    ahead: &Ahead<'_>,
    take: impl Fn(&Chunk, &mut T) + Sync,
) -> Vec<T> {
    let work = || {
        let mut found = T::default();
        while let Some(chunk) = chunks.get(ahead.take()) {
            if budget.is_late() {
                break;
            }
            take(chunk, &mut found);
        }
        found
    };
    thread::scope(|scope| {
        let other = (chunks.len() > 1).then(|| scope.spawn(work));
        let own = work();
        let other = other.and_then(|other| other.join().ok());
        std::iter::once(own).chain(other).collect()
    })
}

/// Positions of the columns.
struct Columns {
    key: [usize; 6],
    count: usize,
    node: usize,
    interface: usize,
    queue: usize,
    flow: usize,
    ingress: usize,
    egress: usize,
}

impl Columns {
    fn of(shape: &Shape) -> Option<Self> {
        let place = |name| shape.column(name);
        Some(Self {
            key: [
                place("time")?,
                place("reporter")?,
                place("hw_id")?,
                place("sequence")?,
                place("report_index")?,
                place("hop_index")?,
            ],
            count: place("hop_count")?,
            node: place("node_id")?,
            interface: place("egress_interface")?,
            queue: place("queue_id")?,
            flow: place("flow_id")?,
            ingress: place("ingress_timestamp")?,
            egress: place("egress_timestamp")?,
        })
    }

    /// The values that columns of the hop before the link must have.
    fn tests(&self, question: &LinkQuestion) -> Vec<(usize, i64)> {
        let flow = question.flow.map(|flow| (self.flow, flow.0.cast_signed()));
        let place = [(self.node, question.node.into()), (self.interface, question.interface.into())];
        let queue = question.queue.map(|queue| (self.queue, queue.into()));
        flow.into_iter().chain(place).chain(queue).collect()
    }
}

/// Position of the sequence number in a key.
const SEQUENCE: usize = 3;
/// A 32-bit clock wraps within seconds and cannot be compared with another.
const MAX_NARROW: i64 = 0xffff_ffff;

#[cfg(test)]
mod tests;
