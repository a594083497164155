//! Nodes that restart the numbering of their reports.

use inband_model::{Confidence, Event, EventDetail, Nanos, ReportReference, SequenceReset, Severity};

use crate::ledger::StreamKey;
use crate::outbox::Outbox;

use super::detector::{Elsewhere, NoSettings};

pub(crate) type Settings = NoSettings;
/// The state is kept by the streams.
pub(crate) type State = Elsewhere<Settings>;

/// The restarts of a stream.
#[derive(Debug, Default)]
pub(crate) struct StreamResets {
    announced_at: Option<Nanos>,
}

impl StreamResets {
    /// Announces that a stream restarts with `report`, where another number was expected; at most once a
    /// second, in case a sender forges restarts.
    pub(crate) fn announce(
        &mut self,
        stream: &StreamKey,
        report: ReportReference,
        expected: u32,
        outbox: &mut Outbox,
    ) {
        let now = report.received_at;
        if self.announced_at.is_some_and(|announced_at| now.since(announced_at) < Nanos::from_secs(1)) {
            return;
        }
        self.announced_at = Some(now);
        let StreamKey { node_id, hw_id, session, .. } = *stream;
        let detail = SequenceReset { node_id, hw_id, session, expected, sequence: report.sequence };
        let (detail, key) = (EventDetail::SequenceReset(detail), stream.event_key());
        outbox.announce(Event::of_report(detail, Severity::Info, key, Confidence::Probable, report));
    }
}
