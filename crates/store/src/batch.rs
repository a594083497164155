//! The unit of writing to the store.

use std::ops::AddAssign;

use inband_model::{Event, HopColumns, LedgerView, Nanos, PathObservation, ReportBytes};

/// Rows that become durable together, or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Hops of reports; the hops of one report are in one batch.
    pub hops: HopColumns,
    /// How many individual reports the hops come from.
    pub reports: u64,
    /// Paths that are new or have changed.
    pub paths: Vec<PathObservation>,
    /// Announced events.
    pub events: Vec<Event>,
    /// The ledger, and when it was read.
    pub ledgers: Vec<(Nanos, LedgerView)>,
    /// The reports behind events.
    pub evidence: Vec<ReportBytes>,
}

/// What rows count as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Individual reports.
    pub(crate) reports: u64,
    /// Paths, events, ledgers and reports behind events.
    pub(crate) others: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, more: Self) {
        self.reports += more.reports;
        self.others += more.others;
    }
}

impl Batch {
    /// What it counts as.
    pub(crate) fn amount(&self) -> Amount {
        let others = self.paths.len() + self.events.len() + self.ledgers.len() + self.evidence.len();
        Amount { reports: self.reports, others: others as u64 }
    }

    /// Whether it contains nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weight() == 0
    }

    /// Rows it will make, approximately.
    pub(crate) fn weight(&self) -> usize {
        let streams: usize = self.ledgers.iter().map(|(_, view)| 1 + view.streams.len()).sum();
        self.hops.len() + self.paths.len() + self.events.len() + streams + evidence_rows(&self.evidence)
    }
}

/// How many hops take as much memory as this evidence.
pub(crate) fn evidence_rows(evidence: &[ReportBytes]) -> usize {
    evidence.iter().map(|report| report.size().div_ceil(HOP_BYTES)).sum()
}

/// Bytes of a hop in memory, approximately.
const HOP_BYTES: usize = 100;
