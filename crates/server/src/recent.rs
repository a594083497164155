//! The newest datagrams, as they arrived.
//!
//! A batch is kept as it came out of the queue, so that nothing is copied and nothing is done for a single datagram.
//! Batches stand in blocks, which questions share: the thread that understands reports neither locks them nor waits for
//! who reads them. A block that somebody reads is not added to; the next batch begins another one.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use inband_collector::ReportName;
use inband_model::{Nanos, ReportReference};

use crate::receive::Batch;

/// The newest datagrams, up to a number of bytes.
#[derive(Debug)]
pub(crate) struct Recent {
    blocks: VecDeque<Arc<Block>>,
    bytes: usize,
    max_bytes: usize,
}

/// Batches that came after one another.
#[derive(Debug, Default)]
pub(crate) struct Block {
    batches: Vec<KeptBatch>,
    bytes: usize,
    /// The times of arrival are in it.
    times: Option<(Nanos, Nanos)>,
}

/// A batch, and the time of day at which it arrived.
#[derive(Debug)]
struct KeptBatch {
    time: Nanos,
    batch: Batch,
}

/// A datagram as it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrived<'a> {
    /// When, by the time of day.
    pub(crate) time: Nanos,
    /// Who sent it.
    pub(crate) from: SocketAddr,
    /// The socket it was sent to.
    pub(crate) to: SocketAddr,
    pub(crate) bytes: &'a [u8],
}

impl Recent {
    /// Keeps so many bytes; 0: nothing.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { blocks: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Keeps a batch that arrived at `time` by the time of day, and forgets the oldest ones.
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

    /// Joins the last two blocks where they are small since somebody read them, and nobody does now: a question makes
    /// one more block, and a batch one less.
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

    /// The blocks, oldest first, for a question that reads them elsewhere.
    pub(crate) fn blocks(&self) -> Vec<Arc<Block>> {
        self.blocks.iter().cloned().collect()
    }

    /// The datagram that a reference means; `None` where it is not kept any more.
    pub(crate) fn find(&self, report: &ReportReference) -> Option<(Arrived<'_>, ReportName)> {
        let time = report.received_at;
        let is_in = |block: &&Arc<Block>| block.may_hold(time, time);
        let mut datagrams = self.blocks.iter().rev().filter(is_in).flat_map(|block| block.at(time));
        datagrams.find_map(|arrived| {
            let name = ReportName::of(arrived.bytes).filter(|name| name.is_of(report))?;
            Some((arrived, name))
        })
    }

    /// Bytes it takes in memory.
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

    /// When the first and the last of its datagrams arrived.
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

/// Bytes of a block: what one question keeps alive beyond its time is as much.
const BLOCK_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
