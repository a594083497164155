use std::cell::Cell as Counter;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use inband_model::HopRecord;
use inband_model::table::{HOURS, TOTALS};

use super::{hours, merge_hour, merged_tables};
use crate::batch::Batch;
use crate::error::StoreError;
use crate::history::History;
use crate::layout;
use crate::question::{Cell, Limits};
use crate::sample::{Folder, Numbers, START, any_hop};
use crate::settings::StoreSettings;
use crate::store::tests::roll_ups;
use crate::store::{Offered, Store};

/// Hops of few queues within three hours, in as many generations as batches.
fn filled(seed: u64, batches: usize, segment_rows: usize) -> Folder {
    let (folder, mut numbers) = (Folder::new(), Numbers(seed));
    let store = Store::open(StoreSettings { segment_rows, ..folder.settings() }).unwrap();
    for _ in 0..batches {
        let hops: Vec<HopRecord> = (0..60).map(|_| hop(&mut numbers)).collect();
        assert_eq!(store.offer(batch(&hops)), Offered::Queued);
        store.sync();
    }
    store.close();
    folder
}

fn hop(numbers: &mut Numbers) -> HopRecord {
    let at = inband_model::Nanos(START.0 + numbers.below(3 * 3_600_000_000_000));
    let hop = any_hop(numbers, at);
    HopRecord {
        hop_index: 0,
        hop_count: 1,
        node_id: inband_model::NodeId(hop.node_id.0 % 5),
        egress_interface: hop.egress_interface.map(|interface| interface % 3),
        queue_id: hop.queue_id.map(|queue| queue % 2),
        ..hop
    }
}

fn batch(hops: &[HopRecord]) -> Batch {
    Batch { reports: hops.len() as u64, hops: hops.into(), ..Batch::default() }
}

fn merge_all(folder: &Path, is_closing: &dyn Fn() -> bool) -> Result<u64, StoreError> {
    let mut merged = 0;
    for shape in merged_tables() {
        for (_, files) in hours(folder, &shape, None)? {
            merged += merge_hour(&shape, files, is_closing)?;
        }
    }
    Ok(merged)
}

fn rows(history: &History, table: &str) -> Vec<Vec<Cell>> {
    let sql = format!("SELECT * FROM {table} ORDER BY 1, 2, 3, 4");
    history.query(&sql, Limits::default()).unwrap().rows
}

fn files(folder: &Path, table: &str) -> usize {
    layout::segments(folder, table).unwrap().len()
}

#[test]
fn merged_hours_say_what_one_segment_says_and_have_one_row_for_each_key() {
    let (parts, whole) = (filled(3, 40, 50), filled(3, 40, 100_000));
    let before = History::open(parts.path()).unwrap();
    assert!(rows(&before, HOURS.name).len() > rows(&History::open(whole.path()).unwrap(), HOURS.name).len());

    let merged = merge_all(parts.path(), &|| false).unwrap();

    assert!(merged > 100, "{merged}");
    let after = History::open(parts.path()).unwrap();
    let expected = History::open(whole.path()).unwrap();
    for table in [HOURS.name, TOTALS.name] {
        assert_eq!(files(parts.path(), table), files(whole.path(), table));
        for (merged, whole) in rows(&after, table).into_iter().zip(rows(&expected, table)) {
            assert_eq!(merged, whole);
        }
        assert_eq!(rows(&after, table).len(), rows(&expected, table).len());
    }
    roll_ups::check(&after);
    // A question that had listed the files before still finds them.
    roll_ups::check(&before);
    assert!(!before.findings().is_damaged());
}

#[test]
fn what_comes_later_for_an_hour_that_was_merged_counts_beside_it_and_is_merged_again() {
    let folder = filled(4, 20, 50);
    merge_all(folder.path(), &|| false).unwrap();
    let store = Store::open(StoreSettings { segment_rows: 50, ..folder.settings() }).unwrap();
    let mut numbers = Numbers(5);
    for _ in 0..10 {
        let hops: Vec<HopRecord> = (0..60).map(|_| hop(&mut numbers)).collect();
        assert_eq!(store.offer(batch(&hops)), Offered::Queued);
        store.sync();
    }
    store.close();
    assert!(files(folder.path(), HOURS.name) > 4);
    roll_ups::check(&History::open(folder.path()).unwrap());

    merge_all(folder.path(), &|| false).unwrap();

    assert!(files(folder.path(), HOURS.name) <= 4);
    roll_ups::check(&History::open(folder.path()).unwrap());
}

#[test]
fn a_merge_that_is_ended_leaves_everything_as_it_was() {
    let folder = filled(6, 10, 50);
    let before = rows(&History::open(folder.path()).unwrap(), HOURS.name);
    let asked = Counter::new(0);

    let ended = merge_all(folder.path(), &|| asked.replace(asked.get() + 1) > 0);

    assert!(matches!(ended, Err(StoreError::Io { .. })), "{ended:?}");
    assert_eq!(rows(&History::open(folder.path()).unwrap(), HOURS.name), before);
    assert_eq!(layout::replaced(folder.path(), HOURS.name).unwrap(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn files_that_were_replaced_count_no_more_also_where_a_crash_left_their_names() {
    let folder = filled(7, 10, 50);
    merge_all(folder.path(), &|| false).unwrap();
    let expected = rows(&History::open(folder.path()).unwrap(), HOURS.name);
    let replaced = layout::replaced(folder.path(), HOURS.name).unwrap();
    for path in replaced.iter().skip(1).step_by(2) {
        fs::rename(path, path.with_extension("parquet")).unwrap();
    }
    assert_eq!(layout::covered(folder.path(), HOURS.name).unwrap().len(), replaced.len() / 2);
    let history = History::open(folder.path()).unwrap();
    assert_eq!(rows(&history, HOURS.name), expected);
    roll_ups::check(&history);
}

#[test]
fn a_damaged_file_is_not_merged_and_stays_named() {
    let folder = filled(8, 10, 50);
    let file = layout::segments(folder.path(), HOURS.name).unwrap().pop().unwrap().path;
    let mut bytes = fs::read(&file).unwrap();
    bytes[40] ^= 1;
    fs::write(&file, bytes).unwrap();

    assert!(merge_all(folder.path(), &|| false).is_err());

    let history = History::open(folder.path()).unwrap();
    rows(&history, HOURS.name);
    assert!(history.findings().damage.iter().any(|damage| damage.file == file));
}

#[test]
fn after_kill_9_while_hours_are_merged_everything_counts_once() {
    let folder = filled(9, 150, 50);
    let mut numbers = Numbers(11);
    let mut is_done = false;
    for _ in 0..60 {
        is_done = merge_and_kill(folder.path(), numbers.below(60));
        roll_ups::check(&History::open(folder.path()).unwrap());
        if is_done {
            break;
        }
    }
    if !is_done {
        // Ends the merge, however slow the machine is.
        layout::remove_unfinished(folder.path(), &[HOURS.name, TOTALS.name]).unwrap();
        merge_all(folder.path(), &|| false).unwrap();
    }
    assert!(files(folder.path(), HOURS.name) <= 4);
    roll_ups::check(&History::open(folder.path()).unwrap());
}

/// Starts a process that merges, and kills it after a while; returns whether it had finished.
fn merge_and_kill(folder: &Path, after_ms: u64) -> bool {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "merge::tests::child_that_merges_until_it_is_killed", "--nocapture", "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "begins"), "the child does not begin");
    std::thread::sleep(Duration::from_millis(after_ms));
    child.kill().unwrap();
    child.wait().unwrap();
    lines.any(|line| line == "ends")
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_that_merges_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    println!("\nbegins");
    merge_all(folder.as_ref(), &|| false).unwrap();
    println!("\nends");
}

const FOLDER: &str = "INBAND_STORE_MERGE_TEST";
