//! Does an event look in JSON as users expect it?

use serde_json::{Value, json};

use super::{Confidence, Event, EventKind, ReportReference, Severity};
use crate::{EventDetail, Flow, Hop, Nanos, NodeId, Path, PathChange, PathChangeKind};

#[test]
fn json_has_the_kind_under_event_and_the_rest_under_detail() {
    let event = path_change();

    let json = serde_json::to_value(&event).unwrap();

    assert_eq!(json["event"], "path-change");
    assert_eq!(json["key"], "a flow");
    assert_eq!(json["severity"], "warning");
    assert_eq!(json["confidence"], "certain");
    assert_eq!(json["detail"]["change"], "ecmp-move");
    assert_eq!(json["detail"]["new"][0]["node_id"], 2);
    assert_eq!(json["evidence"], json!([{"node_id":3,"hw_id":0,"sequence":17,"received_at":2_000}]));
    assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
}

#[test]
fn every_kind_is_written_the_same_in_json_and_in_text() {
    let kinds = [
        EventKind::ReportLoss,
        EventKind::SequenceReset,
        EventKind::PathChange,
        EventKind::Loop,
        EventKind::LatencySpike,
        EventKind::QueueCongestion,
    ];
    for kind in kinds {
        assert_eq!(serde_json::to_value(kind).unwrap(), Value::String(kind.to_string()));
    }
}

fn path_change() -> Event {
    let path = |node_id| Path::new(&[Hop { node_id: NodeId(node_id), ..Hop::default() }]);
    let change =
        PathChange { flow: Flow::default(), change: PathChangeKind::EcmpMove, old: path(1), new: path(2) };
    Event {
        detail: EventDetail::PathChange(change),
        severity: Severity::Warning,
        key: "a flow".into(),
        first: Nanos(1_000),
        last: Nanos(2_000),
        count: 1,
        confidence: Confidence::Certain,
        evidence: vec![ReportReference {
            node_id: NodeId(3),
            hw_id: 0,
            sequence: 17,
            received_at: Nanos(2_000),
        }],
    }
}
