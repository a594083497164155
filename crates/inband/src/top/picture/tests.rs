use std::time::{Duration, Instant};

use inband_model::{
    Confidence, Event, EventDetail, EventView, FaultCount, Ledger, LedgerView, Nanos, NodeId, Phase,
    Severity, UnknownNode,
};

use super::{Rate, picture};
use crate::top::client::{Flow, Interface, Latency, Queue, Seen, TitledEvent};

fn seen(at: Instant, reports: u64) -> Seen {
    let total = Ledger {
        received: 1_234_567,
        accepted: 1_234_000,
        accepted_reports: reports,
        lost: 17,
        store_failed: 3,
        ..Ledger::default()
    };
    let hop = |node_id, p99| Interface {
        node_id,
        node_name: (node_id == 3).then(|| "device:leaf3".to_owned()),
        egress_interface: Some(2),
        interface_name: (node_id == 3).then(|| "5/0".to_owned()),
        latency: Some(Latency { last: 900, max: p99 * 2, p50: 1_000, p99 }),
    };
    Seen {
        at,
        collector: "http://127.0.0.1:8080".to_owned(),
        ledger: LedgerView { total, ..LedgerView::default() },
        interfaces: vec![hop(1, 5_000), hop(2, 9_000_000), hop(3, 7_000)],
        queues: Vec::new(),
        flows: Vec::new(),
        events: Vec::new(),
    }
}

#[test]
fn the_slowest_hop_comes_first_and_every_loss_is_named() {
    let lines: Vec<String> =
        picture(&seen(Instant::now(), 0), None, (100, 40)).into_iter().map(|line| line.text).collect();
    let at = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or(usize::MAX);
    assert!(at("node 2 if 2") < at("leaf3 if 5/0") && at("leaf3 if 5/0") < at("node 1 if 2"), "{lines:#?}");
    assert!(at("1,234,567 received, 1,234,000 accepted, 17 lost") < usize::MAX, "{lines:#?}");
    assert!(at("3 not stored") < usize::MAX, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| *line == "none").count(), 3, "{lines:#?}");
}

#[test]
fn queues_are_in_the_picture_and_in_json() {
    let mut seen = seen(Instant::now(), 0);
    seen.queues = vec![Queue {
        node_id: 1,
        node_name: Some("leaf1".to_owned()),
        egress_interface: Some(2),
        interface_name: None,
        queue_id: 3,
        recent: 4,
        max: 1_000,
        unit: None,
        recent_bytes: None,
        max_bytes: None,
        congested: true,
    }];

    let lines: Vec<String> = picture(&seen, None, (100, 40)).into_iter().map(|line| line.text).collect();
    let json = seen.json();

    assert!(lines.iter().any(|line| line.starts_with("leaf1 if 2 q3 ")), "{lines:#?}");
    let queue = &json["queues"][0];
    assert_eq!((&queue["queue_id"], &queue["max"]), (&3.into(), &1_000.into()), "{json}");
}

#[test]
fn what_was_most_often_wrong_with_malformed_datagrams_is_named() {
    let mut seen = seen(Instant::now(), 0);
    let fault = |header: &str, count| FaultCount { header: header.into(), fault: "cut short".into(), count };
    seen.ledger.malformed = vec![fault("IPv4", 1), fault("report", 4), fault("UDP", 3), fault("TCP", 2)];

    let lines: Vec<String> = picture(&seen, None, (100, 40)).into_iter().map(|line| line.text).collect();

    let expected = "Malformed: 4 report: cut short, 3 UDP: cut short, 2 TCP: cut short";
    assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
}

#[test]
fn events_that_go_on_and_matter_come_first_with_their_severity() {
    let mut seen = seen(Instant::now(), 0);
    let event = |key: &str, severity: Severity, phase: Phase, last: u64| {
        let event = Event {
            detail: EventDetail::UnknownNode(UnknownNode { node_id: NodeId(7), address: None }),
            severity,
            key: key.to_owned(),
            first: Nanos(last),
            last: Nanos(last),
            count: 1,
            confidence: Confidence::Certain,
            evidence: Vec::new(),
            phase,
            silenced: false,
            end_reason: None,
        };
        TitledEvent { view: EventView { id: event.id(), event, acknowledged: None }, title: key.to_owned() }
    };
    seen.events = vec![
        event("fresh", Severity::Info, Phase::Begin, 9),
        event("old trouble", Severity::Warning, Phase::Begin, 1),
        event("past", Severity::Critical, Phase::End, 5),
    ];

    let lines: Vec<String> = picture(&seen, None, (100, 40)).into_iter().map(|line| line.text).collect();

    let at = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
    assert!(
        at("warning   unknown-node begins: old trouble") < at("unknown-node begins: fresh"),
        "{lines:#?}"
    );
    assert!(at("unknown-node begins: fresh") < at("CRITICAL  unknown-node ends: past"), "{lines:#?}");
}

#[test]
fn pictures_fit_terminals_of_every_height_above_the_least() {
    for height in [24, 30, 60] {
        assert!(picture(&seen(Instant::now(), 0), None, (80, height)).len() <= height);
    }
}

#[test]
fn flows_have_what_the_other_parts_leave_of_a_terminal() {
    let mut seen = seen(Instant::now(), 0);
    let flow = inband_model::Flow {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        protocol: 6,
        source_port: 1,
        destination_port: 2,
    };
    let flow = Flow {
        flow,
        source_name: None,
        destination_name: None,
        path: None,
        path_names: Vec::new(),
        hop_latency: Vec::new(),
        reports: 1,
    };
    seen.flows = vec![flow; 50];

    for height in [20, 22, 28] {
        assert_eq!(picture(&seen, None, (80, height)).len(), height);
    }
}

#[test]
fn the_rate_is_that_between_two_looks() {
    let (mut rate, start) = (Rate::default(), Instant::now());
    assert_eq!(rate.next(&seen(start, 100)), None);
    assert_eq!(rate.next(&seen(start + Duration::from_secs(2), 1_100)), Some(500));
    assert_eq!(rate.next(&seen(start + Duration::from_secs(3), 0)), Some(0));
}
