use std::time::Duration;

use inband_model::Nanos;

use super::apply;
use crate::history::History;
use crate::layout::{self, SegmentFile};
use crate::sample::{Folder, START, integers, received_at, reports};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

/// Ten hours with 10 reports each; the last one begins at `START` + 9 h.
fn ten_hours(folder: &Folder) -> StoreSettings {
    let store = Store::open(folder.settings()).unwrap();
    for hour in 0..10 {
        let batch = received_at(hours_later(u64::from(hour)), reports(hour * 10, 10));
        assert_eq!(store.offer(batch), Offered::Queued);
    }
    store.close();
    folder.settings()
}

fn hours_later(hours: u64) -> Nanos {
    Nanos(START.0 + hours * 3_600_000_000_000)
}

fn left(folder: &Folder) -> Vec<i64> {
    integers(&History::open(folder.path()).unwrap(), "sequence")
}

#[test]
fn whole_hours_go_when_all_of_them_is_too_old() {
    let folder = Folder::new();
    let settings = StoreSettings { retain: Duration::from_secs(4 * 3600), ..ten_hours(&folder) };
    // `START` is one second before the hour ends.
    let now = hours_later(9);
    // Of observations, and of their roll-ups by flow.
    assert_eq!(apply(&settings, now).unwrap(), 2 * 5);
    assert_eq!(left(&folder), Vec::from_iter(50..100));
    assert_eq!(apply(&settings, now).unwrap(), 0);
    assert_eq!(layout::segments(folder.path(), "minutes").unwrap().len(), 10);
}

#[test]
fn a_table_with_a_time_of_its_own_is_kept_for_that_time() {
    let folder = Folder::new();
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    let tables = [("observations", hours(2)), ("minutes", hours(3))];
    let retain_tables = tables.map(|(name, time)| (name.to_owned(), time)).into();
    let settings = StoreSettings { retain: hours(8), retain_tables, ..ten_hours(&folder) };
    apply(&settings, hours_later(9)).unwrap();
    let left = |table| layout::segments(folder.path(), table).unwrap().len();
    assert_eq!((left("observations"), left("minutes")), (3, 4));
}

#[test]
fn directories_go_with_their_last_segment() {
    let folder = Folder::new();
    let settings = StoreSettings { retain: Duration::ZERO, ..ten_hours(&folder) };
    apply(&settings, hours_later(5_000)).unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("observations")).unwrap().count(), 0);
    assert!(left(&folder).is_empty());
}

#[test]
fn the_oldest_hours_go_when_there_is_too_much() {
    let folder = Folder::new();
    let settings = ten_hours(&folder);
    let bytes = History::open(folder.path()).unwrap().bytes();
    let max_size_bytes = bytes - of_table(&folder, "observations");
    let settings = StoreSettings { max_size_bytes, ..settings };
    apply(&settings, hours_later(9)).unwrap();
    let left = left(&folder);
    assert!(History::open(folder.path()).unwrap().bytes() <= max_size_bytes);
    assert!(!left.is_empty() && left.len() < 100);
    assert_eq!(left, Vec::from_iter(100 - left.len() as i64..100));
    assert_eq!(layout::segments(folder.path(), "minutes").unwrap().len(), 10, "roll-ups stay");
}

#[test]
fn where_roll_ups_have_grown_large_the_latest_rows_stay() {
    let folder = Folder::new();
    let settings = ten_hours(&folder);
    let large = ["observations", "paths", "flow_minutes", "reports"].map(|table| of_table(&folder, table));
    let large: u64 = large.iter().sum();
    // Roll-ups alone take more.
    let max_size_bytes = (History::open(folder.path()).unwrap().bytes() - large) * 3 / 4;
    apply(&StoreSettings { max_size_bytes, ..settings }, hours_later(9)).unwrap();
    assert_eq!(left(&folder).last(), Some(&99));
    assert!(History::open(folder.path()).unwrap().bytes() <= max_size_bytes);
}

#[test]
fn roll_ups_go_when_nothing_else_is_left() {
    let folder = Folder::new();
    let settings = ten_hours(&folder);
    let max_size_bytes = of_table(&folder, "hours") / 2;
    apply(&StoreSettings { max_size_bytes, ..settings }, hours_later(9)).unwrap();
    assert!(left(&folder).is_empty());
    assert!(History::open(folder.path()).unwrap().bytes() <= max_size_bytes);
}

fn of_table(folder: &Folder, table: &str) -> u64 {
    layout::segments(folder.path(), table).unwrap().iter().map(SegmentFile::bytes).sum()
}

#[test]
fn a_clock_that_was_set_back_removes_nothing() {
    let folder = Folder::new();
    let settings = StoreSettings { retain: Duration::from_secs(3600), ..ten_hours(&folder) };
    assert_eq!(apply(&settings, hours_later(0)).unwrap(), 0);
    assert_eq!(apply(&settings, Nanos::ZERO).unwrap(), 0);
    assert_eq!(left(&folder).len(), 100);
}
