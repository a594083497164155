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

/// A store in a subdirectory, with ten reports in its segments, which are durable.
fn ten_reports_in_segments(folder: &Folder) -> Store {
    let path = folder.path().join("history");
    let settings = StoreSettings { path: path.clone(), segment_after: Duration::ZERO, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    keep(&store, 0);
    until("the log has become a segment", || path.join("observations").exists() && !has_log(&path));
    // Lets the flusher make the directory durable; until then it would write the rows again.
    std::thread::sleep(Duration::from_millis(500));
    store
}

fn keep(store: &Store, first: u32) {
    assert_eq!(store.offer(reports(first, 10)), Offered::Queued);
    store.sync();
}

/// Removes a folder to which the store may add a file meanwhile.
fn remove(folder: &std::path::Path) {
    while let Err(error) = fs::remove_dir_all(folder) {
        assert_eq!(error.kind(), std::io::ErrorKind::DirectoryNotEmpty, "{folder:?}: {error}");
    }
}

/// Waits until `is_so`, for at most a minute.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
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

    remove(&folder.path().join("history"));

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
    remove(&path);

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
    let store = ten_reports_in_segments(&folder);
    remove(&path);

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

#[test]
fn rows_that_come_while_the_directory_is_missing_wait_for_it() {
    let folder = Folder::new();
    let store = ten_reports(&folder);
    let path = folder.path().join("history");
    remove(&path);
    until("it is told", || store.trouble().is_some());

    keep(&store, 10);
    until("all rows are on disk", || store.tally().stored == 20);

    assert_eq!((store.tally().failed, store.close().failed), (0, 0));
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(0..20));
}

#[test]
fn a_lock_or_log_directory_that_is_removed_alone_takes_nothing_stored_with_it() {
    for part in ["LOCK", "log"] {
        let folder = Folder::new();
        drop(ten_reports(&folder));
        let path = folder.path().join("history");
        let settings = StoreSettings { path: path.clone(), ..folder.settings() };
        let store = Store::open(settings).unwrap();
        keep(&store, 10);
        keep(&store, 20);
        match part {
            "LOCK" => fs::remove_file(path.join(part)).unwrap(),
            _ => remove(&path.join(part)),
        }

        until("it is told", || store.trouble().is_some_and(|why| why.contains("a part of")));
        assert_eq!((store.tally().stored, store.tally().gone), (20, 0), "{part}");
        until("it is back", || store.trouble().is_some_and(|why| why.contains("it is back")));
        keep(&store, 30);

        let tally = store.close();
        assert_eq!((tally.stored, tally.failed), (30, 0), "{part}");
        let found = integers(&History::open(&path).unwrap(), "sequence");
        assert_eq!(found, Vec::from_iter(0..40), "{part}");
    }
}

#[test]
fn another_history_in_the_place_of_the_directory_is_not_written() {
    let folder = Folder::new();
    let other = folder.path().join("other");
    let store = Store::open(StoreSettings { path: other.clone(), ..folder.settings() }).unwrap();
    keep(&store, 100);
    store.close();
    let store = ten_reports(&folder);
    let (path, away) = (folder.path().join("history"), folder.path().join("away"));
    fs::rename(&path, &away).unwrap();
    fs::rename(&other, &path).unwrap();

    until("it is told", || store.trouble().is_some_and(|why| why.contains("another history")));
    assert_eq!((store.tally().stored, store.tally().gone), (0, 10));
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(100..110));

    // The first one is put back.
    fs::rename(&path, &other).unwrap();
    fs::rename(&away, &path).unwrap();
    until("it counts again", || store.tally().stored == 10);
    assert_eq!(store.close().stored, 10);
    assert_eq!(integers(&History::open(&path).unwrap(), "sequence"), Vec::from_iter(0..10));
}

#[test]
fn what_was_in_a_directory_that_is_emptied_is_gone() {
    let folder = Folder::new();
    let path = folder.path().join("history");
    let store = ten_reports_in_segments(&folder);
    // As by a removal that takes a while: the directory itself is left.
    fs::remove_file(path.join("LOCK")).unwrap();
    remove(&path.join("observations"));

    until("it is counted", || store.tally().gone == 10);
    until("it is written again", || store.trouble().is_some_and(|why| why.contains("written again")));
    keep(&store, 10);

    let tally = store.close();
    assert_eq!((tally.stored, tally.gone), (10, 10));
}
