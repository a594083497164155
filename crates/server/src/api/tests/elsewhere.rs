//! The API answers from history that is not kept by a local store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use inband_model::Nanos;
use inband_store::{
    Answer, Cell, Findings, Interface, InterfaceSums, InterfacesQuestion, Limits, LinkQuestion, Naming,
    QueryError, Spread, SpreadQuestion, StoreError, Tally,
};
use serde_json::{Value, json};

use super::System;
use crate::archive::{Archive, Snapshot};
use crate::settings::ApiSettings;

/// History on another machine.
#[derive(Debug)]
struct Elsewhere;

/// Answers each query with its own text.
struct Echo;

impl Archive for Elsewhere {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(Echo))
    }

    fn trouble(&self) -> Option<String> {
        Some("the other machine is away".to_owned())
    }

    fn tally(&self) -> Tally {
        Tally { stored: 3, failed: 5, gone: 4, shed: 1, waiting: 7, ..Tally::default() }
    }

    fn retains(&self, _: &str) -> Duration {
        Duration::from_secs(60)
    }

    fn max_bytes(&self) -> u64 {
        1_000
    }

    fn directory(&self) -> Option<&Path> {
        None
    }
}

impl Snapshot for Echo {
    fn query_named(&self, sql: &str, _: Limits, _: &Arc<dyn Naming>) -> Result<Answer, QueryError> {
        let rows = vec![vec![Cell::Text(sql.to_owned())]];
        Ok(Answer { columns: vec!["question".to_owned()], rows, ..Answer::default() })
    }

    fn spread(&self, _: &SpreadQuestion, _: Limits) -> Result<Spread, QueryError> {
        Ok(Spread::default())
    }

    fn link_spread(&self, _: &LinkQuestion, _: Limits) -> Result<Spread, QueryError> {
        Ok(Spread::default())
    }

    fn interfaces(
        &self,
        _: &InterfacesQuestion,
        _: Limits,
    ) -> Result<BTreeMap<Interface, InterfaceSums>, QueryError> {
        Ok(BTreeMap::new())
    }

    fn findings(&self) -> Findings {
        Findings::default()
    }

    fn oldest(&self) -> Option<Nanos> {
        None
    }

    fn oldest_of(&self, _: &str) -> Option<Nanos> {
        None
    }

    fn bytes(&self) -> u64 {
        42
    }
}

#[test]
fn history_that_no_store_keeps_is_answered_and_measured_like_a_store() {
    let archive = Arc::new(Elsewhere);
    let system = System::start_of(PathBuf::new(), ApiSettings::default(), archive, Vec::new());

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
