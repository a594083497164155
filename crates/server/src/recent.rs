//! The newest datagrams, as received.
//!
//! A batch is kept as it came out of the queue, so that nothing is copied and single datagrams need no work.
//! Batches are kept in blocks, which queries share: the thread that processes reports neither locks them nor
//! waits for readers. A block that is being read is not appended to; the next batch starts another one.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use inband_collector::ReportName;
use inband_model::{Nanos, ReportReference};

use crate::receive::Batch;

/// The newest datagrams, up to a bound in bytes.
#[derive(Debug)]
pub(crate) struct Recent {
    blocks: VecDeque<Arc<Block>>,
    bytes: usize,
    max_bytes: usize,
}

/// Consecutive batches.
#[derive(Debug, Default)]
pub(crate) struct Block {
    batches: Vec<KeptBatch>,
    bytes: usize,
    /// The first and last time of arrival.
    times: Option<(Nanos, Nanos)>,
}

/// A batch, and the system time of its arrival.
#[derive(Debug)]
struct KeptBatch {
    time: Nanos,
    batch: Batch,
}

/// A received datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrived<'a> {
    /// System time of its arrival.
    pub(crate) time: Nanos,
    /// Sender.
    pub(crate) from: SocketAddr,
    /// The socket it was sent to.
    pub(crate) to: SocketAddr,
    pub(crate) bytes: &'a [u8],
}

impl Recent {
    /// Keeps up to `max_bytes`; 0: nothing.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { blocks: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Keeps a batch that arrived at the system time `time`, and evicts the oldest ones.
    pub(crate) fn keep(&mut self, time: Nanos, batch: Batch) {
        let cost = batch.cost();
        if cost > self.max_bytes {
            return;
        }
        self.join();
        let has_room = |block: &mut Arc<Block>| block.bytes < BLOCK_BYTES && Arc::get_mut(block).is_some();
        if !self.blocks.back_mut().is_some_and(has_room) {
            self.blocks.push_back(Arc::default());
        }
        if let Some(block) = self.blocks.back_mut().and_then(Arc::get_mut) {
            block.push(cost, KeptBatch { time, batch });
            self.bytes += cost;
        }
        while self.bytes > self.max_bytes
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.bytes -= oldest.bytes;
        }
    }

    /// Joins the last two blocks if both are small, because a query split them, and neither is being read: a
    /// query adds one block, and a batch removes one.
    fn join(&mut self) {
        let Some(last) = self.blocks.len().checked_sub(1).filter(|last| *last > 0) else { return };
        if self.blocks[last - 1].bytes + self.blocks[last].bytes > BLOCK_BYTES {
            return;
        }
        let mut is_free = |at| self.blocks.get_mut(at).is_some_and(|block| Arc::get_mut(block).is_some());
        if is_free(last - 1)
            && is_free(last)
            && let Some(later) = self.blocks.pop_back().and_then(Arc::into_inner)
            && let Some(before) = self.blocks.back_mut().and_then(Arc::get_mut)
        {
            before.take(later);
        }
    }

    /// The blocks, oldest first, for a query on another thread.
    pub(crate) fn blocks(&self) -> Vec<Arc<Block>> {
        self.blocks.iter().cloned().collect()
    }

    /// The datagram of a reference; `None` if it is no longer kept.
    pub(crate) fn find(&self, report: &ReportReference) -> Option<(Arrived<'_>, ReportName)> {
        let time = report.received_at;
        let is_in = |block: &&Arc<Block>| block.may_hold(time, time);
        let mut datagrams = self.blocks.iter().rev().filter(is_in).flat_map(|block| block.at(time));
        datagrams.find_map(|arrived| {
            let name = ReportName::of(arrived.bytes).filter(|name| name.is_of(report))?;
            Some((arrived, name))
        })
    }

    /// Memory use, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Block {
    fn push(&mut self, cost: usize, kept: KeptBatch) {
        self.note(kept.time, kept.time);
        self.bytes += cost;
        self.batches.push(kept);
    }

    fn take(&mut self, later: Self) {
        if let Some((first, last)) = later.times {
            self.note(first, last);
        }
        self.bytes += later.bytes;
        self.batches.extend(later.batches);
    }

    fn note(&mut self, first: Nanos, last: Nanos) {
        let (known_first, known_last) = self.times.unwrap_or((first, last));
        self.times = Some((known_first.min(first), known_last.max(last)));
    }

    /// Arrival of the first and of the last datagram.
    pub(crate) fn times(&self) -> Option<(Nanos, Nanos)> {
        self.times
    }

    /// Whether it may hold datagrams that arrived from `from` to `to`.
    pub(crate) fn may_hold(&self, from: Nanos, to: Nanos) -> bool {
        self.times.is_some_and(|(first, last)| first <= to && last >= from)
    }

    /// Its datagrams that arrived at `time`.
    fn at(&self, time: Nanos) -> impl Iterator<Item = Arrived<'_>> {
        self.batches.iter().filter(move |kept| kept.time == time).flat_map(KeptBatch::datagrams)
    }

    /// All its datagrams, oldest first.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = Arrived<'_>> {
        self.batches.iter().flat_map(KeptBatch::datagrams)
    }
}

impl KeptBatch {
    fn datagrams(&self) -> impl Iterator<Item = Arrived<'_>> {
        let (time, to) = (self.time, self.batch.session);
        self.batch.iter().map(move |(from, bytes)| Arrived { time, from, to, bytes })
    }
}

/// Size of a block, bytes: also what one query keeps alive beyond its time.
const BLOCK_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
