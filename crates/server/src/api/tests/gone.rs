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
        while !stop.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(20) {
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

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}
