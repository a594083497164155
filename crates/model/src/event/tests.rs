//! The JSON form of events.

use serde_json::{Value, json};

use super::{Confidence, Event, Phase, ReportReference, Severity};
use crate::{EventDetail, EventId, EventKind, Flow, Hop, Nanos, NodeId, Path, PathChange, PathChangeKind};

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
    for kind in EventKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), Value::String(kind.to_string()));
    }
}

#[test]
fn an_event_from_before_it_had_a_course_happened_once() {
    let mut json = serde_json::to_value(path_change()).unwrap();
    json.as_object_mut().unwrap().remove("phase");

    assert_eq!(serde_json::from_value::<Event>(json).unwrap(), path_change());
}

#[test]
fn an_id_is_that_of_the_beginning_and_differs_in_kind_key_and_time() {
    let event = path_change();
    let ended = Event { last: Nanos(9_000), phase: Phase::End, count: 7, ..event.clone() };
    assert_eq!(ended.id(), event.id());

    let others =
        [Event { first: Nanos(1_001), ..event.clone() }, Event { key: "a flov".into(), ..event.clone() }];

    assert!(others.iter().all(|other| other.id() != event.id()));
}

#[test]
fn an_id_is_hexadecimal_in_json_and_reads_back() {
    let id = EventId(0x00ab_0000_0000_0001);

    assert_eq!(serde_json::to_value(id).unwrap(), json!("00ab000000000001"));
    assert_eq!(serde_json::from_value::<EventId>(json!("00ab000000000001")).unwrap(), id);
    assert!(serde_json::from_value::<EventId>(json!("no id")).is_err());
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
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}
