//! What is handed to the store at once?

use inband_model::{Event, HopColumns, LedgerView, Nanos, PathObservation, ReportBytes};

/// Rows that become durable together, or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Hops of reports; those of one report are in one batch.
    pub hops: HopColumns,
    /// How many individual reports the hops are of.
    pub reports: u64,
    /// Paths that are known for the first time, or have changed.
    pub paths: Vec<PathObservation>,
    /// Events that were announced.
    pub events: Vec<Event>,
    /// The ledger, and when it was read.
    pub ledgers: Vec<(Nanos, LedgerView)>,
    /// Reports that events rest on.
    pub evidence: Vec<ReportBytes>,
}

impl Batch {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weight() == 0
    }

    /// Rows it will make, about.
    pub(crate) fn weight(&self) -> usize {
        let streams: usize = self.ledgers.iter().map(|(_, view)| 1 + view.streams.len()).sum();
        self.hops.len() + self.paths.len() + self.events.len() + streams + evidence_rows(&self.evidence)
    }
}

/// How many rows of hops take as much room as this evidence.
pub(crate) fn evidence_rows(evidence: &[ReportBytes]) -> usize {
    evidence.iter().map(|report| report.size().div_ceil(HOP_BYTES)).sum()
}

/// What a hop takes in memory, about.
const HOP_BYTES: usize = 100;
