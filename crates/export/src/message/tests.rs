//! Tests that messages have the keys that docs/exporting.md names.

use inband_model::table::{Cells, OBSERVATIONS};
use inband_model::{
    Flow, Hop, HopColumns, HopRecord, Ledger, LedgerView, Names, Nanos, NodeId, Observation, Origin, Output,
    Path, PathObservation, Phase,
};
use serde_json::{Value, json};

use super::{Message, Topic, Topics};
use crate::delivery::{Choice, Chosen};
use crate::queue::Messages;
use crate::sample::event;

#[test]
fn a_path_has_its_flow_and_hops() {
    let hop = Hop { node_id: NodeId(7), ingress_interface: Some(1), egress_interface: None };
    let path = PathObservation {
        flow: Flow::default(),
        path: Path::new(&[hop]),
        hop_latency: vec![Some(900)],
        hops_expected: None,
        received_at: Nanos(5),
        origin: Origin::MdStack,
    };
    let (key, line) = only(Message::Path(Box::new(path.clone())));
    assert_eq!(key, path.flow.to_string());
    assert_eq!(
        (&line["kind"], &line["received_at"], &line["origin"]),
        (&json!("path"), &json!(5), &json!("md-stack"))
    );
    assert_eq!(line["path"], json!([{"node_id": 7, "ingress_interface": 1, "egress_interface": null}]));
    assert_eq!(line["hop_latency"], json!([900]));
    assert_eq!(serde_json::from_value::<Observation>(line).unwrap(), Observation::Path(path));
}

#[test]
fn an_event_has_its_id_and_kind() {
    let told = event(3, Phase::Begin);
    let (key, line) = only(Message::Event(Box::new(told.clone())));
    assert_eq!(
        (key.as_str(), &line["kind"], &line["event"]),
        ("node 3", &json!("event"), &json!("unknown-node"))
    );
    assert_eq!((&line["id"], &line["phase"]), (&json!(told.id()), &json!("begin")));
}

#[test]
fn a_ledger_has_the_totals_and_the_time() {
    let total = Ledger { received: 3, accepted: 3, ..Ledger::default() };
    let (_, line) = only(Message::Ledger(Nanos(9), Box::new(total)));
    assert_eq!((&line["kind"], &line["time"], &line["received"]), (&json!("ledger"), &json!(9), &json!(3)));
}

#[test]
fn a_hop_has_the_columns_of_its_table_that_have_a_value() {
    let flow = Some(Flow::default());
    let full =
        HopRecord { flow, queue_occupancy: Some(7), latency: Some(Nanos(900)), ..HopRecord::default() };
    let hops = Message::Hops(Box::new(HopColumns::from(&[HopRecord::default(), full][..])));
    assert_eq!(hops.messages(), 2);
    let mut lines: Vec<Value> = Vec::new();
    hops.each_json(&Names::default(), |_, json| lines.push(serde_json::from_slice(json).unwrap()));
    for (line, hop) in lines.iter().zip([HopRecord::default(), full]) {
        assert_eq!(line["kind"], "observation");
        let names = OBSERVATIONS.columns.iter().filter(|column| match column.cells {
            Cells::OptionalInteger(of) => of(&hop).is_some(),
            Cells::OptionalAddress(of) => of(&hop).is_some(),
            _ => true,
        });
        let expected: Vec<_> = names.map(|column| column.name).chain(["kind"]).collect();
        assert_eq!(line.as_object().unwrap().len(), expected.len(), "{line}");
        assert!(expected.iter().all(|name| line.get(name).is_some()), "{line}");
    }
    assert_eq!((&lines[1]["queue_occupancy"], &lines[1]["hop_latency"]), (&json!(7), &json!(900)));
    assert_eq!((&lines[1]["source"], &lines[1]["dropped"]), (&json!("0.0.0.0"), &json!(false)));
}

#[test]
fn only_the_topics_that_are_wanted_are_taken() {
    for wanted in Topic::ALL {
        let mut topics = Topics::new(&[wanted]);
        let told = Output::Event(event(1, Phase::Once));
        assert_eq!(is_delivered(&topics.choose(&told)), wanted == Topic::Events);
        assert_eq!(topics.wants_hops(), wanted == Topic::Observations);
        assert_eq!(
            is_delivered(&topics.choose_hops(&HopColumns::from(&[HopRecord::default()][..]))),
            wanted == Topic::Observations
        );
        let now = Nanos::from_secs(100);
        assert_eq!(topics.wants_ledger(now), wanted == Topic::Ledger);
        assert_eq!(
            is_delivered(&topics.choose_ledger(now, now, &LedgerView::default())),
            wanted == Topic::Ledger
        );
        assert!(!topics.wants_ledger(Nanos::from_secs(109)));
        assert_eq!(topics.wants_ledger(Nanos::from_secs(110)), wanted == Topic::Ledger);
    }
}

fn is_delivered(chosen: &Chosen<Message>) -> bool {
    matches!(chosen, Chosen::Deliver(_))
}

fn only(message: Message) -> (String, Value) {
    let mut lines = Vec::new();
    message.each_json(&Names::default(), |key, json| {
        lines.push((key.to_owned(), serde_json::from_slice(json).unwrap()));
    });
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}
