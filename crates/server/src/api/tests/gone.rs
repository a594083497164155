//! A query ends when its caller has gone, and keeps its permit until then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use inband_store::Cell;

use super::made::{self, Answers};

/// An archive whose queries last until they are stopped, and then a little longer.
#[derive(Debug, Default)]
struct Endless {
    /// Queries that run, and the most that ever did.
    running: AtomicU32,
    most: AtomicU32,
    ended: AtomicU32,
}

impl Answers for Endless {
    fn rows(&self, sql: &str, stop: &AtomicBool) -> Vec<Vec<Cell>> {
        // The events of earlier runs, which the API reads at its start.
        if !sql.contains("endless") {
            return Vec::new();
        }
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let begun = Instant::now();
        while !stop.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(100));
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.ended.fetch_add(u32::from(stop.load(Ordering::SeqCst)), Ordering::SeqCst);
        Vec::new()
    }
}

#[test]
fn queries_of_callers_that_have_gone_end_and_do_not_pile_up() {
    let archive = Arc::new(Endless::default());
    let system = made::start(Arc::clone(&archive));
    for round in 1..=4 {
        let body = r#"{"sql": "SELECT endless"}"#;
        let callers: Vec<_> = (0..2).map(|_| system.open("post", "/api/v1/query", &[], body)).collect();
        wait_until("they run", || archive.running.load(Ordering::SeqCst) == 2);

        drop(callers);
        wait_until("they end", || archive.ended.load(Ordering::SeqCst) == 2 * round);
    }
    assert_eq!(archive.most.load(Ordering::SeqCst), 2);
}

/// An archive whose queries do not end when they are stopped.
#[derive(Debug, Default)]
struct Deaf {
    runs: AtomicBool,
    may_end: AtomicBool,
}

impl Answers for Deaf {
    fn rows(&self, sql: &str, _: &AtomicBool) -> Vec<Vec<Cell>> {
        if sql.contains("endless") {
            self.runs.store(true, Ordering::SeqCst);
            let begun = Instant::now();
            while !self.may_end.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(90) {
                thread::sleep(Duration::from_millis(20));
            }
        }
        Vec::new()
    }
}

#[test]
fn a_query_that_goes_on_does_not_keep_the_api_from_stopping() {
    let archive = Arc::new(Deaf::default());
    let system = made::start(Arc::clone(&archive));
    let caller = system.open("post", "/api/v1/query", &[], r#"{"sql": "SELECT endless"}"#);
    wait_until("it runs", || archive.runs.load(Ordering::SeqCst));

    let begun = Instant::now();
    system._api.stop();

    let took = begun.elapsed();
    archive.may_end.store(true, Ordering::SeqCst);
    assert!(took < Duration::from_secs(60), "{took:?}");
    drop(caller);
}

/// An archive whose queries take more than 4 MiB of the stack, as patterns with many wildcards do.
#[derive(Debug)]
struct Deep;

impl Answers for Deep {
    fn rows(&self, _: &str, _: &AtomicBool) -> Vec<Vec<Cell>> {
        assert_eq!(deep(4_096), 4_096);
        Vec::new()
    }
}

#[inline(never)]
fn deep(kib: usize) -> usize {
    let room = std::hint::black_box([1_u8; 1_024]);
    if kib == 0 { 0 } else { deep(kib - 1) + usize::from(room[kib % room.len()]) }
}

#[test]
fn a_query_may_take_megabytes_of_the_stack() {
    let system = made::start(Arc::new(Deep));
    assert_eq!(system.send("post", "/api/v1/query", &[], r#"{"sql": "SELECT 1"}"#).0, 200);
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}
