//! Costly answers about the present are shared by equal requests; answers about past times are not.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use inband_model::Nanos;
use inband_store::{
    Answer, Findings, Interface, InterfaceSums, InterfacesQuestion, Limits, LinkQuestion, Naming, QueryError,
    Spread, SpreadQuestion, StoreError, Tally,
};

use super::System;
use crate::archive::{Archive, Snapshot};
use crate::settings::ApiSettings;

/// An archive that is slow to return interfaces, and counts its queries.
#[derive(Debug, Default, Clone)]
struct Slow(Arc<AtomicU32>);

impl Archive for Slow {
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

impl Snapshot for Slow {
    fn query_named(&self, _: &str, _: Limits, _: &Arc<dyn Naming>) -> Result<Answer, QueryError> {
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
        let sums =
            InterfaceSums { count: self.0.fetch_add(1, Ordering::AcqRel).into(), ..InterfaceSums::default() };
        thread::sleep(COST);
        // Enough interfaces that the answer is compressed.
        Ok((0..100).map(|interface| ((7, Some(interface)), sums)).collect())
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
fn a_costly_answer_of_now_is_made_once_for_all_who_ask_the_same() {
    let slow = Slow::default();
    let archive = Arc::new(slow.clone());
    let system = System::start_of(PathBuf::new(), ApiSettings::default(), archive, Vec::new());
    let begin = Barrier::new(CALLERS);
    let answers: Vec<(u16, String)> = thread::scope(|scope| {
        let ask = || {
            begin.wait();
            system.get("/api/v1/map?live=1h")
        };
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(ask)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert!(
        answers.iter().all(|(status, body)| *status == 200 && body.contains("\"interfaces\"")),
        "{answers:?}"
    );
    // The answer is used for three seconds; only a machine that stalls for as long computes it again.
    let made = slow.0.load(Ordering::Acquire);
    assert!((1..=2).contains(&made), "{made} times for {CALLERS} callers");

    // A different request, and one about a time range, have answers of their own.
    system.get("/api/v1/map?live=2h");
    for _ in 0..2 {
        assert_eq!(system.get("/api/v1/map?from=0&to=60000000000").0, 200);
    }
    assert_eq!(slow.0.load(Ordering::Acquire), made + 3);
}

#[test]
fn an_answer_that_is_given_again_says_the_same_to_who_takes_it_packed() {
    let slow = Slow::default();
    let archive = Arc::new(slow.clone());
    let system = System::start_of(PathBuf::new(), ApiSettings::default(), archive, Vec::new());
    for _ in 0..2 {
        let mut answer = Vec::new();
        let packed = [("Accept-Encoding", "gzip")];
        system.open("get", "/api/v1/map?live=1h", &packed, "").read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        let head = answer.split_once("\r\n\r\n").unwrap().0;
        assert!(head.contains("content-encoding: gzip"), "{head}");
        assert_eq!(head.matches("vary: accept-encoding").count(), 1, "{head}");
    }
    let (status, body) = system.get("/api/v1/map?live=1h");
    assert!(status == 200 && body.starts_with('{'), "{status}");
}

const CALLERS: usize = 8;
/// Time that a query takes.
const COST: Duration = Duration::from_millis(300);
