//! A part of a log's rows, with the times of their reports.

use inband_model::Nanos;

use crate::batch::Batch;
use crate::memory::Memory;

/// A part of a log's rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogPart {
    pub(crate) memory: Memory,
    times: Option<(Nanos, Nanos)>,
}

impl LogPart {
    /// When the first and the last report arrived; `None` without reports.
    pub(crate) fn times(&self) -> Option<(Nanos, Nanos)> {
        self.times
    }

    pub(super) fn add(&mut self, batch: Batch) {
        for report in batch.hops.reports() {
            let (first, last) = self.times.unwrap_or((report.received_at, report.received_at));
            self.times = Some((first.min(report.received_at), last.max(report.received_at)));
        }
        drop(self.memory.add(batch));
    }
}
