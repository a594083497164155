//! Tests of questions over more segments than a process may have open.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use inband_model::Nanos;
use inband_model::table::TOTALS;

use crate::history::History;
use crate::layout;
use crate::question::{Cell, Limits};
use crate::range::TimeRange;
use crate::sample::{Folder, START, received_at, reports};
use crate::store::{Offered, Store};

/// Hours with one report each.
const HOURS: u32 = 100;
const FOLDER: &str = "INBAND_STORE_FILES_TEST";

fn fill(folder: &Folder) {
    let store = Store::open(folder.settings()).unwrap();
    for hour in 0..HOURS {
        let at = Nanos(START.0 + u64::from(hour) * 3_600_000_000_000);
        assert_eq!(store.offer(received_at(at, reports(hour, 1))), Offered::Queued);
    }
    assert_eq!(store.close().stored, u64::from(HOURS));
}

#[test]
fn a_question_answers_from_more_segments_than_files_may_be_open() {
    let folder = Folder::new();
    fill(&folder);
    let script = "ulimit -n 64 || exit 77; exec \"$0\" \"$@\"";
    let child = Command::new("sh")
        .args(["-c", script])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "store::tests::open_files::child_with_few_descriptors", "--ignored"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    if child.status.code() == Some(77) {
        eprintln!("skipped: open files cannot be limited here");
        return;
    }
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_with_few_descriptors() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    let history = History::open(&folder).unwrap();
    let all = Cell::Integer(HOURS.into());

    let count = history.query("SELECT count(*) FROM observations", Limits::default()).unwrap();
    let values = history.query("SELECT count(DISTINCT sequence) FROM observations", Limits::default());
    let values = values.unwrap();

    assert_eq!((&count.rows[0][0], count.findings.is_damaged()), (&all, false));
    assert_eq!((&values.rows[0][0], values.findings.is_damaged()), (&all, false));

    // With no descriptor left, a question fails, and no file is called damaged.
    let held: Vec<fs::File> = (0..64).map_while(|_| fs::File::open("/dev/null").ok()).collect();
    let failed = history.query("SELECT sum(sequence) FROM observations", Limits::default());
    drop(held);
    assert!(failed.is_err(), "{failed:?}");
    assert!(!history.findings().is_damaged());
}

#[test]
fn a_file_that_is_replaced_or_removed_during_a_question_is_no_damage() {
    let folder = Folder::new();
    fill(&folder);
    let history = History::open(folder.path()).unwrap();
    let shape = TOTALS.shape();
    let chunks = history.chunks(&shape, TimeRange::ALL).unwrap();
    let files = layout::segments(folder.path(), TOTALS.name).unwrap();
    fs::rename(&files[0].path, files[0].path.with_extension(layout::REPLACED)).unwrap();
    fs::remove_file(&files[1].path).unwrap();

    let read: Vec<bool> = chunks.iter().map(|chunk| history.column(chunk, 0).is_some()).collect();

    assert_eq!((read[0], read[1], read[2]), (true, false, true));
    assert!(!history.findings().is_damaged());
    assert!(history.check_shortage().is_ok());
}
