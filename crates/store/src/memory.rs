//! The rows of a log in memory.

use inband_model::table::{EventRow, LedgerRow};
use inband_model::{Event, EventId, HopColumns, PathObservation, ReportBytes};

use crate::batch::{Batch, evidence_rows};

/// The rows of one log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub(crate) hops: HopColumns,
    pub(crate) paths: Vec<PathObservation>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) ledger: Vec<LedgerRow>,
    pub(crate) evidence: Vec<ReportBytes>,
}

/// A position in the rows: reports with their hops, and rows of each other table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark([usize; 5]);

impl Memory {
    /// Adds the rows of a batch; returns its hop columns, emptied.
    pub(crate) fn add(&mut self, mut batch: Batch) -> HopColumns {
        self.hops.append(&batch.hops);
        batch.hops.clear();
        self.paths.extend(batch.paths);
        self.events.extend(batch.events.iter().map(event_row));
        self.ledger.extend(batch.ledgers.iter().flat_map(|(taken_at, view)| LedgerRow::of(*taken_at, view)));
        self.evidence.extend(batch.evidence);
        batch.hops
    }

    pub(crate) fn mark(&self) -> Mark {
        let Self { hops, paths, events, ledger, evidence } = self;
        Mark([hops.reports().len(), paths.len(), events.len(), ledger.len(), evidence.len()])
    }

    /// Removes everything after `mark`.
    pub(crate) fn cut(&mut self, mark: Mark) {
        let Mark([reports, paths, events, ledger, evidence]) = mark;
        self.hops.truncate(reports);
        self.paths.truncate(paths);
        self.events.truncate(events);
        self.ledger.truncate(ledger);
        self.evidence.truncate(evidence);
    }

    /// Removes all rows; keeps the allocated memory of hops.
    pub(crate) fn clear(&mut self) {
        self.cut(Mark::default());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows of all tables; evidence, whose rows are long, is weighted by its size.
    pub(crate) fn len(&self) -> usize {
        let others = self.paths.len() + self.events.len() + self.ledger.len();
        self.hops.len() + others + evidence_rows(&self.evidence)
    }

    /// Bytes of memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let texts = |event: &EventRow| {
            event.key.len() + event.detail.len() + event.evidence.len() + event.nodes.len()
        };
        self.hops.bytes()
            + self.paths.len() * size_of::<PathObservation>()
            + self.paths.iter().map(|path| size_of_val(path.path.hops())).sum::<usize>()
            + self.events.len() * size_of::<EventRow>()
            + self.events.iter().map(texts).sum::<usize>()
            + self.ledger.len() * size_of::<LedgerRow>()
            + self.evidence.iter().map(ReportBytes::size).sum::<usize>()
    }

    /// Whether the rows other than hops are sorted as in segments.
    pub(crate) fn is_sorted(&self) -> bool {
        self.paths.is_sorted_by_key(|row| (row.flow.id(), row.received_at))
            && self.events.is_sorted_by_key(|row| row.last)
            && self.ledger.is_sorted_by_key(|row| row.taken_at)
            && self.evidence.is_sorted_by_key(|row| row.report.received_at)
    }

    /// Sorts the rows other than hops as in segments.
    pub(crate) fn sort(&mut self) {
        self.paths.sort_by_key(|row| (row.flow.id(), row.received_at));
        self.events.sort_by_key(|row| row.last);
        self.ledger.sort_by_key(|row| row.taken_at);
        self.evidence.sort_by_key(|row| row.report.received_at);
    }
}

fn event_row(event: &Event) -> EventRow {
    let json = |value: serde_json::Result<String>| value.unwrap_or_else(|_| "null".to_owned());
    let detail =
        serde_json::to_value(&event.detail).ok().and_then(|mut value| Some(value.get_mut("detail")?.take()));
    EventRow {
        kind: event.kind().to_string(),
        severity: event.severity,
        confidence: event.confidence,
        key: event.key.clone(),
        first: event.first,
        last: event.last,
        count: event.count,
        detail: detail.unwrap_or_default().to_string(),
        evidence: json(serde_json::to_string(&event.evidence)),
        phase: event.phase,
        silenced: event.silenced,
        end_reason: event.end_reason,
        id: EventId::of(event.kind(), &event.key, event.first),
        nodes: event.nodes().into_iter().fold(" ".to_owned(), |nodes, node| format!("{nodes}{} ", node.0)),
    }
}
