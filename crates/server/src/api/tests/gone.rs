//! A query ends when its caller has gone, and keeps its permit until then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use inband_model::Nanos;
use inband_store::{
    Answer, Findings, Interface, InterfaceSums, InterfacesQuestion, Limits, LinkQuestion, Naming, QueryError,
    Spread, SpreadQuestion, StoreError, Tally,
};

use super::System;
use crate::archive::{Archive, Snapshot};
use crate::settings::ApiSettings;

/// An archive whose queries last until they are stopped, and then a little longer.
#[derive(Debug, Default, Clone)]
struct Endless {
    stop: Arc<AtomicBool>,
    /// Queries that run, and the most that ever did.
    running: Arc<AtomicU32>,
    most: Arc<AtomicU32>,
    ended: Arc<AtomicU32>,
}

impl Archive for Endless {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(self.clone()))
    }

    fn trouble(&self) -> Option<String> {
        None
    }

    fn tally(&self) -> Tally {
        Tally::default()
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

impl Snapshot for Endless {
    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    fn query_named(&self, sql: &str, _: Limits, _: &Arc<dyn Naming>) -> Result<Answer, QueryError> {
        // The events of earlier runs, which the API reads at its start.
        if !sql.contains("endless") {
            return Ok(Answer::default());
        }
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let begun = Instant::now();
        while !self.stop.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(100));
        self.running.fetch_sub(1, Ordering::SeqCst);
        let is_stopped = self.stop.load(Ordering::SeqCst);
        self.ended.fetch_add(u32::from(is_stopped), Ordering::SeqCst);
        Ok(Answer::default())
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
        0
    }
}

#[test]
fn queries_of_callers_that_have_gone_end_and_do_not_pile_up() {
    let archive = Endless::default();
    let system =
        System::start_of(PathBuf::new(), ApiSettings::default(), Arc::new(archive.clone()), Vec::new());
    for round in 1..=4 {
        let body = r#"{"sql": "SELECT endless"}"#;
        let callers: Vec<_> = (0..2).map(|_| system.open("post", "/api/v1/query", &[], body)).collect();
        wait_until("they run", || archive.running.load(Ordering::SeqCst) == 2);

        drop(callers);
        wait_until("they end", || archive.ended.load(Ordering::SeqCst) == 2 * round);
    }
    assert_eq!(archive.most.load(Ordering::SeqCst), 2);
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}
