//! Tests that everything acknowledged is there after kill -9, exactly once.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::history::History;
use crate::question::{Cell, Limits};
use crate::sample::{Folder, Numbers, integers, reports, with_evidence};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

#[test]
fn after_kill_9_every_acknowledged_report_is_there_exactly_once() {
    let folder = Folder::new();
    let mut numbers = Numbers(7);
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        acknowledged = acknowledged.max(write_and_kill(folder.path(), numbers.below(40)));
        if round % 2 == 0 {
            check(&History::open(folder.path()).unwrap(), acknowledged);
        }
    }
    let store = Store::open(folder.settings()).unwrap();
    store.close();
    check(&History::open(folder.path()).unwrap(), acknowledged);
    assert!(acknowledged > 0);
}

/// Rows are numbered from 0 without gaps or duplicates, and include the last acknowledged one.
fn check(history: &History, acknowledged: u64) {
    let found = integers(history, "sequence");
    assert!(found.len() as u64 >= acknowledged, "{} of {acknowledged} acknowledged reports", found.len());
    assert_eq!(found, Vec::from_iter(0..found.len() as i64));
    super::roll_ups::check(history);
    let sql = "SELECT sequence, event, length, bytes FROM reports ORDER BY sequence";
    let evidence = history.query(sql, Limits::default()).unwrap().rows;
    let of = |sequence: i64| {
        let bytes = format!("{sequence:08x}").repeat(1 + usize::try_from(sequence).unwrap() % 300);
        vec![
            Cell::Integer(sequence),
            Cell::Text(format!("{sequence:016x}")),
            Cell::Integer(4_000),
            Cell::Text(bytes),
        ]
    };
    assert_eq!(evidence, Vec::from_iter((0..found.len() as i64).step_by(3).map(of)));
}

/// Starts a process that writes, and kills it after a while; returns how many reports it had acknowledged.
fn write_and_kill(folder: &Path, after_ms: u64) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "store::tests::crash::child_that_writes_until_it_is_killed",
            "--nocapture",
            "--ignored",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Waits for the first acknowledgement; earlier lines are the test harness's.
    let begun = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with(ACKNOWLEDGED));
    std::thread::sleep(Duration::from_millis(after_ms));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = lines.map_while(Result::ok).chain(begun);
    said.filter_map(|line| line.strip_prefix(ACKNOWLEDGED)?.trim().parse().ok()).max().unwrap_or(0)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_that_writes_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let settings = StoreSettings {
        path: folder.into(),
        retain: crate::sample::FOREVER,
        segment_rows: 200,
        sync_after: Duration::from_millis(1),
        ..StoreSettings::default()
    };
    let store = Store::open(settings).unwrap();
    let there = integers(&store.history().unwrap(), "sequence").len();
    let mut next = u32::try_from(there).unwrap();
    for _ in 0..MAX_BATCHES {
        assert_eq!(store.offer(with_evidence(reports(next, 17))), Offered::Queued);
        next += 17;
        if next % 3 == 0 {
            store.sync();
        }
        println!("\n{ACKNOWLEDGED}{}", there as u64 + store.tally().stored);
    }
}

/// Number of processes that are killed.
const ROUNDS: usize = 25;
/// Batches that a process writes if it is not killed.
const MAX_BATCHES: usize = 20_000;
const FOLDER: &str = "INBAND_STORE_CRASH_TEST";
const ACKNOWLEDGED: &str = "acknowledged ";
