//! Tests that each line is written once and whole, and that all others are counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::{ExportLedger, Output, Phase};
use serde_json::Value;

use super::{Files, JsonlSettings, Topic, start};
use crate::sample::{Folder, event};
use crate::stage::Stage;
use crate::tally::Tally;

#[test]
fn each_message_is_a_line() {
    let folder = Folder::new();
    let ledger = write(&settings(&folder.path("out")), 0..1_000);
    assert_eq!((ledger.offered, ledger.exported, ledger.trouble), (1_000, 1_000, None));
    assert_eq!(keys(&folder.path("out")), (0..1_000).collect::<Vec<_>>());
}

#[test]
fn a_file_that_is_large_enough_is_put_aside_and_the_oldest_goes() {
    let folder = Folder::new();
    let path = folder.path("out");
    let settings = JsonlSettings { max_size: 2_000, keep: 2, ..settings(&path) };
    assert_eq!(write(&settings, 0..100).exported, 100);

    let files = [folder.path("out.2"), folder.path("out.1"), path.clone()];
    let found: Vec<_> = files.iter().flat_map(|file| keys(file)).collect();
    assert_eq!(found, (found[0]..100).collect::<Vec<_>>());
    assert!(found[0] > 0, "the oldest are gone");
    assert!(files.iter().all(|file| fs::metadata(file).unwrap().len() <= 2_000));
    assert!(!folder.path("out.3").exists());

    // The next run appends to the same file.
    write(&settings, 100..102);
    let last = keys(&path);
    assert_eq!(last.last(), Some(&101));
}

#[test]
fn a_line_larger_than_a_file_stands_alone() {
    let folder = Folder::new();
    let settings = JsonlSettings { max_size: 1, keep: 3, ..settings(&folder.path("out")) };
    assert_eq!(write(&settings, 0..10).exported, 10);
    assert_eq!((keys(&folder.path("out")), keys(&folder.path("out.3"))), (vec![9], vec![6]));
}

#[test]
fn nothing_is_kept_aside_where_that_is_wanted() {
    let folder = Folder::new();
    let settings = JsonlSettings { max_size: 1, keep: 0, ..settings(&folder.path("out")) };
    assert_eq!(write(&settings, 0..10).exported, 10);
    assert_eq!((keys(&folder.path("out")), folder.path("out.1").exists()), (vec![9], false));
}

#[test]
fn a_file_that_cannot_be_opened_after_the_rotation_is_not_rotated_again() {
    let folder = Folder::new();
    let path = folder.path("logs").join("out");
    fs::create_dir(folder.path("logs")).unwrap();
    let mut files = Files::open(&path, 10, 3).unwrap();
    assert_eq!(files.append(b"12345678\n", &[9]).0, 1);
    fs::remove_dir_all(folder.path("logs")).unwrap();
    assert_eq!(files.append(b"12345678\n", &[9]).0, 0);

    // With another program's line in it, there is room for two more letters.
    fs::create_dir(folder.path("logs")).unwrap();
    fs::write(&path, "1234\n").unwrap();
    let (written, error) = files.append(b"1\n", &[2]);

    assert!(error.is_none() && written == 1, "{error:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "1234\n1\n");
    assert!(!folder.path("logs").join("out.1").exists());
}

#[test]
fn a_file_that_another_program_moves_removes_or_cuts_takes_no_further_line_along() {
    let folder = Folder::new();
    let (path, moved) = (folder.path("out"), folder.path("moved"));
    let mut files = Files::open(&path, 10, 3).unwrap();
    let mut append = |line: &[u8]| assert_eq!(files.append(line, &[line.len()]).0, 1);
    append(b"123\n");
    fs::rename(&path, &moved).unwrap();
    append(b"456\n");
    assert_eq!((fs::read(&moved).unwrap(), fs::read(&path).unwrap()), (b"123\n".into(), b"456\n".into()));
    fs::remove_file(&path).unwrap();
    append(b"12345678\n");
    assert_eq!(fs::read(&path).unwrap(), b"12345678\n");
    // Now it has room again.
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    append(b"789\n");
    assert_eq!((fs::read(&path).unwrap(), folder.path("out.1").exists()), (b"789\n".into(), false));
}

#[test]
fn half_a_line_that_a_crash_has_left_is_not_joined_with_the_next() {
    let folder = Folder::new();
    let path = folder.path("out");
    fs::write(&path, "{\"kind\":\"ev").unwrap();
    write(&settings(&path), 0..2);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().next(), Some("{\"kind\":\"ev"));
    assert_eq!(text.lines().skip(1).map(key).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_full_disk_is_counted_and_nobody_waits_for_it() {
    let started = Instant::now();
    let ledger = write(&settings(Path::new("/dev/full")), 0..500);
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!((ledger.offered, ledger.exported, ledger.waiting), (500, 0, 0));
    assert_eq!(ledger.failures, [("disk".to_owned(), 500)].into());
    let trouble = ledger.trouble.unwrap();
    assert!(trouble.starts_with("cannot write: No space left on device"), "{trouble}");
}

#[test]
fn a_disk_that_stalls_holds_nothing_up_and_what_it_has_not_taken_is_not_exported() {
    let folder = Folder::new();
    let path = folder.path("pipe");
    // A full pipe accepts nothing, like a disk that stalls.
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let reader = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let tally = Arc::new(Tally::new("jsonl".to_owned()));
    let settings = JsonlSettings { queue: 1_000, ..settings(&path) };
    let mut export = start(&settings, &Arc::default(), Arc::clone(&tally)).unwrap();
    let started = Instant::now();
    for node in 0..20_000 {
        export.handle_output(&Output::Event(event(node, Phase::Once)));
    }
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let ledger = tally.ledger();
    assert!(ledger.balances() && ledger.failures["queue-full"] > 0 && ledger.waiting > 0, "{ledger:?}");
    let ending = Instant::now();
    export.finish();
    assert!(ending.elapsed() < Duration::from_secs(30), "{:?}", ending.elapsed());
    let ledger = tally.ledger();
    assert!(ledger.balances() && ledger.exported < 1_000 && ledger.failures["stopped"] > 0, "{ledger:?}");
    // The disk may go on meanwhile: what is given up stays so.
    drop(reader);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!((tally.ledger(), ledger.waiting), (ledger, 0));
}

#[test]
fn as_many_files_may_be_kept_as_a_disk_has_room_for() {
    let folder = Folder::new();
    let settings = JsonlSettings { max_size: 1, keep: u32::MAX, ..settings(&folder.path("out")) };
    assert_eq!(write(&settings, 0..5).exported, 5);
    assert_eq!((keys(&folder.path("out.4")), folder.path("out.5").exists()), (vec![0], false));
    // A number without a file takes the one before it.
    fs::remove_file(folder.path("out.2")).unwrap();
    write(&settings, 5..6);
    let files = ["out", "out.1", "out.2", "out.3", "out.4"].map(|name| keys(&folder.path(name)));
    assert_eq!(files.concat(), [5, 4, 3, 1, 0]);
}

#[test]
fn a_file_that_cannot_be_made_is_told_at_the_start() {
    let tally = Arc::new(Tally::new("jsonl".to_owned()));
    let error = start(&settings(Path::new("/nowhere/out")), &Arc::default(), tally).unwrap_err();
    assert_eq!(error.to_string(), "jsonl: cannot write /nowhere/out");
}

/// Writes events of these nodes, then ends the output.
fn write(settings: &JsonlSettings, nodes: std::ops::Range<u32>) -> ExportLedger {
    let tally = Arc::new(Tally::new("jsonl".to_owned()));
    let mut export = start(settings, &Arc::default(), Arc::clone(&tally)).unwrap();
    for node in nodes {
        export.handle_output(&Output::Event(event(node, Phase::Once)));
    }
    export.finish();
    let ledger = tally.ledger();
    assert!(ledger.balances());
    ledger
}

fn settings(path: &Path) -> JsonlSettings {
    let path: PathBuf = path.to_owned();
    JsonlSettings { path, what: vec![Topic::Events], ..JsonlSettings::default() }
}

fn keys(file: &Path) -> Vec<u32> {
    fs::read_to_string(file).unwrap().lines().map(key).collect()
}

fn key(line: &str) -> u32 {
    let line: Value = serde_json::from_str(line).unwrap();
    line["key"].as_str().unwrap().strip_prefix("node ").unwrap().parse().unwrap()
}
