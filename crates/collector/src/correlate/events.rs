//! How is a change of path announced?

use inband_model::{Event, EventDetail, Flow, Path, PathChange, PathChangeKind, Phase, Severity};

use super::finding::Finding;

/// Announces that a flow takes another path.
pub(super) fn path_change(
    flow: Flow,
    change: PathChangeKind,
    old: &Path,
    new: &Path,
    finding: &Finding,
    changes: u64,
) -> Event {
    let detail = PathChange { flow, change, old: old.clone(), new: new.clone() };
    let severity = match change {
        PathChangeKind::Reroute | PathChangeKind::Flap => Severity::Warning,
        PathChangeKind::EcmpMove => Severity::Info,
    };
    Event {
        detail: EventDetail::PathChange(detail),
        severity,
        key: flow.to_string(),
        first: finding.received_at,
        last: finding.received_at,
        count: changes,
        confidence: finding.confidence,
        evidence: vec![finding.report],
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}
