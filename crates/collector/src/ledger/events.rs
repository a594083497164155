//! How are losses and restarts announced?

use inband_model::{Confidence, Event, EventDetail, Nanos, Phase, ReportLoss, SequenceReset, Severity};

use super::stream::{LossAlert, Stream};

/// Announces that a stream loses more reports than it may.
pub(super) fn report_loss(stream: &Stream, window: Nanos, now: Nanos, alert: &LossAlert) -> Event {
    let detail = ReportLoss {
        node_id: stream.key.node_id,
        hw_id: stream.key.hw_id,
        session: stream.key.session,
        lost: alert.recent.lost,
        accepted: alert.recent.accepted,
        lost_unknown: alert.recent.lost_unknown,
        window,
    };
    let first = alert.evidence.map_or(now, |report| report.received_at);
    Event {
        detail: EventDetail::ReportLoss(detail),
        severity: Severity::Warning,
        key: key(stream),
        first,
        last: now,
        count: alert.recent.lost + alert.recent.lost_unknown,
        confidence: if alert.recent.lost_unknown > 0 { Confidence::Probable } else { Confidence::Certain },
        evidence: alert.evidence.into_iter().collect(),
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}

/// Announces that a node started to number its reports anew.
pub(super) fn sequence_reset(stream: &Stream, now: Nanos, expected: u32, sequence: u32) -> Event {
    let detail = SequenceReset {
        node_id: stream.key.node_id,
        hw_id: stream.key.hw_id,
        session: stream.key.session,
        expected,
        sequence,
    };
    let report = stream.reference(sequence, now);
    let detail = EventDetail::SequenceReset(detail);
    Event::of_report(detail, Severity::Info, key(stream), Confidence::Probable, report)
}

fn key(stream: &Stream) -> String {
    let (hw_id, session) = (stream.key.hw_id, stream.key.session);
    match stream.key.source {
        None => format!("node {} hw {hw_id} to {session}", stream.key.node_id),
        Some(source) => format!("node at {source} hw {hw_id} to {session}"),
    }
}
