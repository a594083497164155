//! Tests of a directory that is removed or replaced while in use.

use std::fs;
use std::time::{Duration, Instant};

use crate::history::History;
use crate::sample::{Folder, integers, reports};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

/// A store in a subdirectory, with ten reports in its log.
fn ten_reports(folder: &Folder) -> Store {
    let settings = StoreSettings { path: folder.path().join("history"), ..folder.settings() };
    let store = Store::open(settings).unwrap();
    keep(&store, 0);
    assert_eq!((store.tally().stored, store.trouble()), (10, None));
    store
}

fn keep(store: &Store, first: u32) {
    assert_eq!(store.offer(reports(first, 10)), Offered::Queued);
    store.sync();
}

/// Waits until `is_so`, for at most five seconds.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn balances(store: &Store, offered: u64) {
    let tally = store.tally();
    assert_eq!(tally.stored + tally.failed + tally.shed + tally.waiting, offered, "{tally:?}");
}

#[test]
fn a_directory_that_is_removed_is_told_soon_and_nothing_in_it_counts_as_stored() {
    let folder = Folder::new();
    let store = ten_reports(&folder);

    fs::remove_dir_all(folder.path().join("history")).unwrap();

    until("it is told", || store.trouble().is_some());
    let trouble = store.trouble().unwrap();
    assert!(trouble.contains("history was removed"), "{trouble}");
    assert_eq!((store.tally().stored, store.tally().gone), (0, 10));
    balances(&store, 10);
}

#[test]
fn rows_of_a_lost_log_are_written_again_and_storing_goes_on() {
    let folder = Folder::new();
    let store = ten_reports(&folder);
    let path = folder.path().join("history");
    fs::remove_dir_all(&path).unwrap();

    until("it is told", || store.trouble().is_some());
    until("the rows are on disk again", || store.tally().stored == 10);
    keep(&store, 10);

    assert_eq!((store.tally().stored, store.tally().gone), (20, 0));
    assert_eq!(integers(&store.history().unwrap(), "sequence"), Vec::from_iter(0..20));
    assert_eq!(store.close().stored, 20);
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(0..20));
}

#[test]
fn what_was_in_segments_of_a_removed_directory_is_gone_for_good() {
    let folder = Folder::new();
    let path = folder.path().join("history");
    let settings = StoreSettings { path: path.clone(), segment_after: Duration::ZERO, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    keep(&store, 0);
    until("the log has become a segment", || path.join("observations").exists() && !has_log(&path));
    // Lets the flusher make the directory durable; until then it would write the rows again.
    std::thread::sleep(Duration::from_millis(500));
    fs::remove_dir_all(&path).unwrap();

    until("the directory is there again", || path.join("log").exists());
    keep(&store, 10);

    let tally = store.close();
    assert_eq!((tally.stored, tally.failed, tally.gone), (10, 10, 10));
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(10..20));
}

fn has_log(path: &std::path::Path) -> bool {
    fs::read_dir(path.join("log")).is_ok_and(|mut logs| logs.next().is_some())
}

#[test]
fn a_directory_that_comes_back_has_lost_nothing() {
    let folder = Folder::new();
    let store = ten_reports(&folder);
    let (path, away) = (folder.path().join("history"), folder.path().join("away"));
    fs::rename(&path, &away).unwrap();
    until("it is told", || store.trouble().is_some());
    assert_eq!(store.tally().stored, 0);
    fs::rename(&away, &path).unwrap();

    until("it counts again", || store.trouble().is_some_and(|why| why.contains("back")));
    keep(&store, 10);

    assert_eq!((store.tally().stored, store.tally().gone), (20, 0));
    store.close();
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(0..20));
}

#[test]
fn a_directory_that_is_replaced_is_told_and_the_new_one_is_written() {
    let folder = Folder::new();
    let store = ten_reports(&folder);
    let (path, away) = (folder.path().join("history"), folder.path().join("away"));
    fs::rename(&path, &away).unwrap();
    fs::create_dir(&path).unwrap();

    until("it is told", || store.trouble().is_some());
    until("the rows are on disk again", || store.tally().stored == 10);
    let tally = store.close();

    assert_eq!((tally.stored, tally.failed), (10, 0));
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(0..10));
    assert_eq!(integers(&History::open(&away).unwrap(), "sequence"), Vec::from_iter(0..10));
}

#[test]
fn a_log_that_is_removed_alone_is_written_as_segments() {
    let folder = Folder::new();
    let store = ten_reports(&folder);
    let path = folder.path().join("history");
    let log = fs::read_dir(path.join("log")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(log).unwrap();
    keep(&store, 10);

    let tally = store.close();

    assert_eq!((tally.stored, tally.failed), (20, 0));
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(0..20));
}
