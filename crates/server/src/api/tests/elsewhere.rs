//! The API answers from history that is not kept by a local store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inband_store::{Cell, Tally};
use serde_json::{Value, json};

use super::made::{self, Answers};

/// History on another machine, which answers each query with its own text.
#[derive(Debug)]
struct Elsewhere;

impl Answers for Elsewhere {
    fn rows(&self, sql: &str, _: &AtomicBool) -> Vec<Vec<Cell>> {
        vec![vec![Cell::Text(sql.to_owned())]]
    }

    fn trouble(&self) -> Option<String> {
        Some("the other machine is away".to_owned())
    }

    fn tally(&self) -> Tally {
        Tally { stored: 3, failed: 5, gone: 4, shed: 1, waiting: 7, ..Tally::default() }
    }

    fn bytes(&self) -> u64 {
        42
    }
}

#[test]
fn history_that_no_store_keeps_is_answered_and_measured_like_a_store() {
    let system = made::start(Arc::new(Elsewhere));

    let (status, rows) = system.send("post", "/api/v1/query", &[], r#"{"sql": "SELECT 1"}"#);

    assert_eq!(status, 200, "{rows}");
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows["rows"], json!([["SELECT 1"]]), "{rows}");
    let about: Value = serde_json::from_str(&system.get("/api/v1/about").1).unwrap();
    assert_eq!((&about["history"], &about["bytes"]), (&json!(true), &json!(42)), "{about}");
    let (status, ready) = system.get("/readyz");
    assert!(status == 503 && ready.contains("the other machine is away"), "{status} {ready}");
    let metrics = system.get("/metrics").1;
    for line in [
        "inband_store_waiting_reports 7",
        // What is gone was written once, and counters never fall.
        "inband_reports_stored_total 7",
        "inband_reports_store_failed_total 2",
        "inband_store_lost_reports_total{reason=\"disk\"} 1",
        "inband_store_gone_reports 4",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }
}
