//! Changes of path.

use inband_model::{
    Confidence, Event, EventDetail, EventKind, Flow, Path, PathChange, PathChangeKind, ReportReference, Severity,
};

use crate::outbox::Outbox;

use super::detector::{Elsewhere, NoSettings};

pub(crate) type Settings = NoSettings;
/// What is known of a change is kept by the flow.
pub(crate) type State = Elsewhere<Settings>;

/// Announces that a flow takes another path.
pub(crate) fn path_change(
    flow: Flow,
    change: PathChangeKind,
    [old, new]: [&Path; 2],
    report: ReportReference,
    confidence: Confidence,
) -> Event {
    let detail = PathChange { flow, change, old: old.clone(), new: new.clone() };
    let severity = match change {
        PathChangeKind::Reroute | PathChangeKind::Flap => Severity::Warning,
        PathChangeKind::EcmpMove => Severity::Info,
    };
    Event::of_report(EventDetail::PathChange(detail), severity, flow.to_string(), confidence, report)
}

/// Announces what a change turned out to be, where its beginning has been announced.
pub(crate) fn end_change(event: Event, outbox: &mut Outbox) {
    if outbox.is_active(EventKind::PathChange, &event.key) {
        outbox.end(event);
    }
}
