//! The JSON form of the ledger, and its balance.

use super::{ExportLedger, FaultCount, Ledger, LedgerView, RefusedSource, SocketLedger, StreamLedger};
use crate::NodeId;

#[test]
fn json_keys_are_those_of_the_public_interface() {
    let stream = StreamLedger {
        node_id: NodeId(1),
        source: None,
        hw_id: 0,
        session: "127.0.0.1:32766".parse().unwrap(),
        version: "2.0".into(),
        accepted: 0,
        duplicate: 0,
        reordered: 0,
        late: 0,
        lost: 0,
        lost_unknown: 0,
        accepted_reports: 0,
    };

    let json = serde_json::to_value(LedgerView {
        total: Ledger::default(),
        streams: vec![stream],
        exports: vec![ExportLedger { output: "webhook-1".into(), ..ExportLedger::default() }],
        malformed: vec![fault(2)],
        unreadable: vec![fault(3)],
        overflows: [("evicted_flows".to_owned(), 4)].into(),
        refused_sources: vec![RefusedSource {
            address: "127.0.0.1".parse().unwrap(),
            node_id: NodeId(9),
            datagrams: 5,
        }],
        sockets: vec![SocketLedger {
            address: "127.0.0.1:32766".parse().unwrap(),
            wanted_buffer_bytes: 7,
            buffer_bytes: 6,
            priority: "nice".to_owned(),
        }],
    })
    .unwrap();

    let expected = serde_json::json!({
        "total": {"received":0,"kernel_dropped":0,"refused":0,"malformed":0,"shed":0,"accepted":0,"duplicate":0,
            "reordered":0,"late":0,"lost":0,"lost_unknown":0,"accepted_reports":0,"stored":0,"store_failed":0,
            "exported":0,"export_failed":0},
        "streams": [{"node_id":1,"hw_id":0,"session":"127.0.0.1:32766","version":"2.0","accepted":0,
            "duplicate":0,"reordered":0,"late":0,"lost":0,"lost_unknown":0,"accepted_reports":0}],
        "exports": [{"output":"webhook-1","offered":0,"exported":0,"export_failed":0,"waiting":0,"failures":{},
            "kept_back":0,"retries":0,"spool_bytes":0,"trouble":null}],
        "malformed": [{"header":"report group header","fault":"cut short","count":2}],
        "unreadable": [{"header":"report group header","fault":"cut short","count":3}],
        "overflows": {"evicted_flows":4},
        "refused_sources": [{"address":"127.0.0.1","node_id":9,"datagrams":5}],
        "sockets": [{"address":"127.0.0.1:32766","wanted_buffer_bytes":7,"buffer_bytes":6,"priority":"nice"}]
    });
    assert_eq!(json, expected);
}

#[test]
fn a_datagram_in_no_place_or_in_two_breaks_the_balance() {
    let balanced =
        Ledger { received: 10, malformed: 1, shed: 2, duplicate: 3, accepted: 4, ..Ledger::default() };

    assert!(balanced.balances());
    assert!(!Ledger { received: 11, ..balanced }.balances());
    assert!(!Ledger { accepted: 5, ..balanced }.balances());
}

#[test]
fn a_ledger_from_before_there_were_outputs_and_reasons_is_read() {
    let mut json = serde_json::to_value(LedgerView::default()).unwrap();
    for key in ["exports", "malformed", "unreadable", "overflows", "refused_sources", "sockets"] {
        json.as_object_mut().unwrap().remove(key).unwrap();
    }
    for key in ["exported", "export_failed", "refused"] {
        json["total"].as_object_mut().unwrap().remove(key);
    }

    assert_eq!(serde_json::from_value::<LedgerView>(json).unwrap(), LedgerView::default());
}

#[test]
fn a_message_in_no_place_or_without_a_reason_breaks_the_balance() {
    let failures = [("queue-full".to_owned(), 2)].into();
    let balanced = ExportLedger {
        offered: 10,
        exported: 5,
        export_failed: 2,
        waiting: 3,
        failures,
        ..ExportLedger::default()
    };

    assert!(balanced.balances());
    assert!(!ExportLedger { waiting: 4, ..balanced.clone() }.balances());
    assert!(!ExportLedger { failures: [].into(), ..balanced }.balances());
}

#[test]
fn a_malformed_datagram_without_a_reason_breaks_the_balance() {
    let total = Ledger { received: 2, malformed: 2, ..Ledger::default() };
    let balanced = LedgerView { total, malformed: vec![fault(2)], ..LedgerView::default() };

    assert!(balanced.balances());
    assert!(!LedgerView { malformed: vec![fault(1)], ..balanced }.balances());
}

fn fault(count: u64) -> FaultCount {
    FaultCount { header: "report group header".into(), fault: "cut short".into(), count }
}
