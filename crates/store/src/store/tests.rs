mod crash;
mod damage;
mod earlier;
mod faults;
mod model;
mod open_files;
mod place;
pub(crate) mod roll_ups;

use std::fs;
use std::time::Duration;

use inband_model::table::{OBSERVATIONS, shapes};
use inband_model::{HopRecord, Nanos};

use super::{Offered, Store};
use crate::batch::Batch;
use crate::error::StoreError;
use crate::history::History;
use crate::layout;
use crate::range::TimeRange;
use crate::sample::{Folder, START, integers, received_at, reports};
use crate::settings::StoreSettings;

#[test]
fn what_is_stored_can_be_read_at_once_and_after_the_store_is_closed() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    assert_eq!(store.offer(reports(0, 100)), Offered::Queued);
    store.sync();
    assert_eq!((store.tally().stored, store.tally().waiting), (100, 0));
    assert_eq!(integers(&store.history().unwrap(), "sequence"), Vec::from_iter(0..100));

    let tally = store.close();

    assert_eq!((tally.stored, tally.failed, tally.shed), (100, 0, 0));
    assert!(layout::logs(folder.path()).unwrap().is_empty());
    assert_eq!(integers(&History::open(folder.path()).unwrap(), "sequence"), Vec::from_iter(0..100));
}

#[test]
fn rows_lie_in_directories_of_their_hour() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    // The hour ends one second later.
    assert_eq!(store.offer(reports(0, 2_000)), Offered::Queued);
    store.close();
    for (hour, rows) in [("hour=21", 1_000), ("hour=22", 1_000)] {
        let path = folder.path().join("observations/date=2023-11-14").join(hour);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "{hour}");
        let path = path.join("00000000000000000001.parquet");
        let segment = crate::segment::SegmentReader::open(&path, &OBSERVATIONS.shape()).unwrap();
        assert_eq!(segment.rows(0), rows, "{hour}");
    }
}

#[test]
fn all_first_hops_stand_before_second_ones_flow_by_flow_in_the_order_of_time() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    for first in [500, 0] {
        let batch = reports(first, 500);
        let two = |hop: HopRecord| [0, 1].map(|hop_index| HopRecord { hop_index, ..hop });
        let hops = batch.hops.iter().flat_map(two).collect();
        assert_eq!(store.offer(Batch { hops, ..batch }), Offered::Queued);
    }
    store.close();
    let shape = OBSERVATIONS.shape();
    let history = History::open(folder.path()).unwrap();
    let chunks = history.chunks(&shape, TimeRange::ALL).unwrap();
    let column = |name: &str| chunks[0].column(shape.column(name).unwrap()).unwrap();
    let columns = ["hop_index", "flow_id", "time"].map(column);
    let key = |row| [0, 1, 2].map(|index: usize| columns[index].value(row));
    let keys: Vec<_> = (0..chunks[0].rows()).map(key).collect();
    assert_eq!(keys.len(), 2_000);
    assert!(keys.is_sorted());
}

#[test]
fn a_full_log_becomes_segments_while_more_comes() {
    let folder = Folder::new();
    let store = Store::open(StoreSettings { segment_rows: 100, ..folder.settings() }).unwrap();
    for first in (0..1_000).step_by(50) {
        assert_eq!(store.offer(reports(first, 50)), Offered::Queued);
        store.sync();
        let expected: Vec<i64> = (0..i64::from(first) + 50).collect();
        assert_eq!(integers(&store.history().unwrap(), "sequence"), expected);
    }
    let before = layout::segments(folder.path(), "observations").unwrap().len();
    assert!(before >= 5, "{before} segments");
    assert_eq!(store.close().stored, 1_000);
}

#[test]
fn a_quiet_log_becomes_segments_after_a_while() {
    let folder = Folder::new();
    let settings = StoreSettings { segment_after: Duration::ZERO, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    assert_eq!(store.offer(reports(0, 1)), Offered::Queued);
    store.sync();
    let appeared = (0..6_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !layout::segments(folder.path(), "observations").unwrap().is_empty()
    });
    assert!(appeared);
}

#[test]
fn a_store_belongs_to_one_process_at_a_time() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    assert!(matches!(Store::open(folder.settings()), Err(StoreError::InUse(_))));
    store.close();
    // The child of another test briefly holds every lock of this process between fork and exec.
    let is_open = || Store::open(folder.settings()).is_ok();
    assert!((0..6_000).any(|_| is_open() || wait_a_moment()));
}

#[test]
fn a_replay_waits_for_a_slow_disk_and_sheds_nothing() {
    let folder = Folder::new();
    let settings = StoreSettings { queue_rows: 20, segment_rows: 100, ..folder.settings() };
    let store = Store::open(settings).unwrap();

    // Batches of 50 are larger than the queue.
    for first in (0..1_000).step_by(50) {
        assert_eq!(store.put(reports(first, 50)), Offered::Queued);
    }
    for first in 1_000..1_500 {
        assert_eq!(store.put(reports(first, 1)), Offered::Queued);
    }

    let tally = store.close();
    assert_eq!((tally.stored, tally.shed, tally.failed), (1_500, 0, 0));
}

/// Waits; returns `false`, so that it can end an alternative.
fn wait_a_moment() -> bool {
    std::thread::sleep(std::time::Duration::from_millis(10));
    false
}

#[test]
fn a_directory_without_history_is_told_from_an_empty_history() {
    let folder = Folder::new();
    assert!(matches!(History::open(folder.path()), Err(StoreError::NoHistory(_))));
    drop(Store::open(folder.settings()).unwrap());
    let history = History::open(folder.path()).unwrap();
    for shape in shapes() {
        assert!(history.chunks(&shape, TimeRange::ALL).unwrap().is_empty());
    }
}

#[test]
fn a_clock_that_is_set_back_loses_no_row() {
    let folder = Folder::new();
    let store = Store::open(StoreSettings { segment_rows: 10, ..folder.settings() }).unwrap();
    for (index, step) in [0i64, 7_200, -7_200, -86_400, 1].into_iter().enumerate() {
        let at = Nanos(START.0.saturating_add_signed(step * 1_000_000_000));
        let batch = received_at(at, reports(u32::try_from(index).unwrap() * 10, 10));
        assert_eq!(store.offer(batch), Offered::Queued);
    }
    assert_eq!(store.close().stored, 50);
    assert_eq!(integers(&History::open(folder.path()).unwrap(), "sequence"), Vec::from_iter(0..50));
}

#[test]
fn a_segment_of_another_schema_is_refused_by_name() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    assert_eq!(store.offer(reports(0, 1)), Offered::Queued);
    store.close();
    let segment = layout::segments(folder.path(), "observations").unwrap().remove(0).path;
    let mut bytes = fs::read(&segment).unwrap();
    let key = crate::segment::VERSION_KEY.as_bytes();
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    // After the key: a type, a length, and the digit of the version.
    bytes[at + key.len() + 2] = b'9';
    crate::segment::seal_again(&mut bytes);
    fs::write(&segment, bytes).unwrap();

    let error =
        History::open(folder.path()).unwrap().chunks(&OBSERVATIONS.shape(), TimeRange::ALL).unwrap_err();

    assert!(error.to_string().contains("observations/date=2023-11-14"), "{error}");
}
