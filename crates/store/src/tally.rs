//! The counts of a store.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::Amount;

/// Counts since the store was opened, of individual reports unless stated.
///
/// Each offered report is in exactly one of `stored`, `failed`, `shed` and `waiting`. When the directory is
/// removed or replaced, reports stored in it move to `failed`, and back when it returns or they are written
/// again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Durable in the log, or in a segment.
    pub stored: u64,
    /// Lost because the disk refused them, or gone with their directory.
    pub failed: u64,
    /// Of the failed ones, those that were stored before the directory was removed or replaced.
    pub gone: u64,
    /// Lost because the queue was full.
    pub shed: u64,
    /// Not yet decided.
    pub waiting: u64,
    /// Paths, events, ledgers and reports behind events that the disk refused.
    pub others_failed: u64,
    /// Paths, events, ledgers and reports behind events that were lost because the queue was full.
    pub others_shed: u64,
    /// Found in logs when the store was opened.
    pub recovered: u64,
    /// Bytes of torn ends that were cut off logs at opening.
    pub torn_bytes: u64,
    /// Logs with a torn end.
    pub torn_logs: u64,
    /// Damaged blocks of logs found at opening. What cannot be read of them is left out.
    pub damaged_blocks: u64,
    /// Damaged places of segments that questions have found, each counted once, up to 1,000.
    pub damaged_places: u64,
    /// Failed attempts to flush a log; each is retried.
    pub flush_failures: u64,
    /// Segments removed for their age or for the total size.
    pub removed_segments: u64,
    /// Segments of roll-ups that were replaced by one for their hour.
    pub merged_segments: u64,
    /// Blocks of logs decoded for questions, each once as long as it is cached.
    pub decoded_blocks: u64,
    /// Bytes of decoded logs in memory, approximately.
    pub decoded_bytes: u64,
    /// Bytes of segment footers in memory, approximately.
    pub footer_bytes: u64,
}

/// The live counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) offered: AtomicU64,
    pub(crate) stored: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Of the stored ones, those that are not on disk anymore.
    pub(crate) gone: AtomicU64,
    pub(crate) shed: AtomicU64,
    pub(crate) others_failed: AtomicU64,
    pub(crate) others_shed: AtomicU64,
    pub(crate) recovered: AtomicU64,
    pub(crate) torn_bytes: AtomicU64,
    pub(crate) torn_logs: AtomicU64,
    pub(crate) damaged_blocks: AtomicU64,
    pub(crate) flush_failures: AtomicU64,
    pub(crate) removed_segments: AtomicU64,
    pub(crate) merged_segments: AtomicU64,
}

impl Counters {
    /// Counts rows that the disk refused.
    pub(crate) fn fail(&self, amount: Amount) {
        count(&self.failed, amount.reports);
        count(&self.others_failed, amount.others);
    }

    /// Counts rows that found the queue full.
    pub(crate) fn shed(&self, amount: Amount) {
        count(&self.shed, amount.reports);
        count(&self.others_shed, amount.others);
    }

    pub(crate) fn tally(&self) -> Tally {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        let (stored, failed, shed) = (read(&self.stored), read(&self.failed), read(&self.shed));
        let gone = read(&self.gone).min(stored);
        Tally {
            stored: stored - gone,
            failed: failed + gone,
            gone,
            shed,
            // Read last: every decided report was offered before.
            waiting: read(&self.offered).saturating_sub(stored + failed + shed),
            others_failed: read(&self.others_failed),
            others_shed: read(&self.others_shed),
            recovered: read(&self.recovered),
            torn_bytes: read(&self.torn_bytes),
            torn_logs: read(&self.torn_logs),
            damaged_blocks: read(&self.damaged_blocks),
            damaged_places: 0,
            merged_segments: read(&self.merged_segments),
            decoded_blocks: 0,
            decoded_bytes: 0,
            footer_bytes: 0,
            flush_failures: read(&self.flush_failures),
            removed_segments: read(&self.removed_segments),
        }
    }
}

/// Subtracts from a count, down to 0.
pub(crate) fn discount(counter: &AtomicU64, less: u64) {
    // The closure always returns a number.
    let _ =
        counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| Some(count.saturating_sub(less)));
}

pub(crate) fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::AcqRel);
}
