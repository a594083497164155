//! Tests that flipped bits and truncated files lose only what they touch, and that each loss is reported.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use inband_model::table::{OBSERVATIONS, Shape, shapes};
use inband_model::{HopRecord, LedgerView, Nanos};

use super::model;
use crate::batch::Batch;
use crate::damage::Findings;
use crate::error::StoreError;
use crate::history::{ColumnData, History};
use crate::question::{Cell, Limits};
use crate::range::TimeRange;
use crate::sample::{Folder, Numbers, START, integers, reports, with_evidence};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};
use crate::{layout, log};

/// Each distinct row of a history, by table, with its count.
type Rows = BTreeMap<(usize, String), usize>;

#[test]
fn random_flips_and_cuts_give_no_wrong_answer_and_every_loss_is_named() {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let (cases, seed) = (number("INBAND_FLIPS").unwrap_or(24), number("INBAND_FLIPS_SEED").unwrap_or(1));
    let template = Template::new(seed);
    let mut damaged = 0;
    for case in 0..cases {
        damaged += u64::from(template.check(seed.wrapping_add(case)));
    }
    println!("{damaged} of {cases} cases lost rows, seed {seed}");
    assert!(damaged > cases / 4, "{damaged} of {cases}");
}

/// A store with segments of several hours and two logs.
struct Template {
    folder: Folder,
    files: Vec<PathBuf>,
    rows: Rows,
}

impl Template {
    fn new(seed: u64) -> Self {
        let (folder, source, mut numbers) = (Folder::new(), Folder::new(), Numbers(seed));
        let store = Store::open(StoreSettings { segment_rows: 300, ..source.settings() }).unwrap();
        for _ in 0..6 {
            assert_eq!(store.offer(batch(&mut numbers)), Offered::Queued);
        }
        store.close();
        let store = Store::open(source.settings()).unwrap();
        for _ in 0..5 {
            assert_eq!(store.offer(batch(&mut numbers)), Offered::Queued);
            store.sync();
        }
        // The files as they are when a process is killed.
        copy(source.path(), folder.path());
        let (rows, findings) = rows(&History::open(folder.path()).unwrap());
        assert_eq!(findings, Findings::default());
        let mut files = Vec::new();
        list(folder.path(), &mut files);
        files.retain(|file| file.file_name().is_some_and(|name| name != "LOCK"));
        files.sort();
        assert!(files.len() > 10, "{files:?}");
        Self { folder, files, rows }
    }

    /// Damages a file of a copy; returns whether rows were lost.
    fn check(&self, seed: u64) -> bool {
        let (folder, mut numbers) = (Folder::new(), Numbers(seed));
        copy(self.folder.path(), folder.path());
        let file = &self.files[usize::try_from(numbers.below(self.files.len() as u64)).unwrap()];
        let file = folder.path().join(file.strip_prefix(self.folder.path()).unwrap());
        let mut bytes = fs::read(&file).unwrap();
        damage(&mut bytes, &mut numbers);
        if file.extension().is_some_and(|kind| kind == "log") && log::decode(&bytes, drop) == whole(&bytes) {
            // Cut between two blocks: nothing in the file shows that rows are missing.
            return false;
        }
        fs::write(&file, &bytes).unwrap();

        let (found, findings) = rows(&History::open(folder.path()).unwrap());
        let is_lost = self.compare(&found, &findings, &file, seed);
        // A question over each table answers, and reports the same damage.
        let history = History::open(folder.path()).unwrap();
        for shape in shapes() {
            let answer = history.query(&format!("SELECT * FROM {}", shape.name), Limits::default()).unwrap();
            let rows = found.iter().filter(|((table, _), _)| shapes()[*table].name == shape.name);
            assert_eq!(answer.rows.len(), rows.map(|(_, count)| count).sum::<usize>(), "seed {seed}");
            let counted =
                history.query(&format!("SELECT count(*) FROM {}", shape.name), Limits::default()).unwrap();
            let whole = self.rows.iter().filter(|((table, _), _)| shapes()[*table].name == shape.name);
            let all = i64::try_from(whole.map(|(_, count)| count).sum::<usize>()).unwrap();
            let Cell::Integer(count) = counted.rows[0][0] else { panic!("no count") };
            assert!(
                count == all || (count < all && counted.findings.is_damaged()),
                "seed {seed}: {count} of {all}"
            );
        }
        // A new process recovers the logs, and reports their losses.
        let store =
            Store::open(StoreSettings { retain: crate::sample::FOREVER, ..folder.settings() }).unwrap();
        let named = store.findings();
        store.close();
        let (found, mut findings) = rows(&History::open(folder.path()).unwrap());
        findings.damage.extend(named.damage);
        self.compare(&found, &findings, &file, seed);
        is_lost
    }

    /// Checks that all rows found were written, and that a loss is reported with its file.
    fn compare(&self, found: &Rows, findings: &Findings, file: &Path, seed: u64) -> bool {
        let wrong = found.iter().find(|(row, count)| self.rows.get(row).is_none_or(|there| there < *count));
        // Roll-ups are recomputed from hops that are still in a log.
        let is_rolled_up = |table: usize| ROLL_UPS.contains(&shapes()[table].name);
        let wrong = wrong.filter(|((table, _), _)| !is_rolled_up(*table));
        assert_eq!(wrong, None, "seed {seed}, {}", file.display());
        let is_lost = found.values().sum::<usize>() < self.rows.values().sum::<usize>();
        let is_named = findings.damage.iter().any(|damage| damage.file == file);
        assert!(is_named || !is_lost, "seed {seed}, {}: {findings:?}", file.display());
        is_lost
    }
}

/// The tables that are computed from others.
const ROLL_UPS: [&str; 5] = ["minutes", "hours", "flow_minutes", "link_minutes", "totals"];

fn whole(log: &[u8]) -> log::Outcome {
    log::Outcome { whole: log.len(), ..log::Outcome::default() }
}

/// Flips up to three bits, cuts the end off, or overwrites a part.
fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    let length = bytes.len() as u64;
    let place = |numbers: &mut Numbers| usize::try_from(numbers.below(length)).unwrap();
    match numbers.below(4) {
        0 => bytes.truncate(place(numbers)),
        1 => {
            let start = place(numbers);
            let end = (start + 1 + usize::try_from(numbers.below(600)).unwrap()).min(bytes.len());
            bytes[start..end].fill_with(|| numbers.next().to_le_bytes()[0]);
        }
        flips => (1..flips).for_each(|_| bytes[place(numbers)] ^= 1 << numbers.below(8)),
    }
}

fn batch(numbers: &mut Numbers) -> Batch {
    let hops: Vec<HopRecord> = (0..100).map(|_| model::hop(numbers)).collect();
    let ledgers = vec![(Nanos(START.0 + numbers.below(1 << 40)), LedgerView::default())];
    with_evidence(Batch { reports: hops.len() as u64, hops: hops[..].into(), ledgers, ..Batch::default() })
}

fn rows(history: &History) -> (Rows, Findings) {
    let mut found = Rows::new();
    for (table, shape) in shapes().iter().enumerate() {
        for row in rows_of(history, shape) {
            *found.entry((table, row)).or_default() += 1;
        }
    }
    (found, history.findings())
}

fn rows_of(history: &History, shape: &Shape) -> Vec<String> {
    let mut rows = Vec::new();
    for chunk in history.chunks(shape, TimeRange::ALL).unwrap() {
        let columns: Option<Vec<ColumnData>> =
            (0..shape.columns.len()).map(|column| history.column(&chunk, column)).collect();
        let Some(columns) = columns else { continue };
        rows.extend(model::lines(&columns, chunk.rows(), TimeRange::ALL));
    }
    rows
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => list(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}

#[test]
fn a_damaged_column_costs_the_questions_that_read_it_its_row_group_alone() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    assert_eq!(store.offer(reports(0, 100)), Offered::Queued);
    store.close();
    let file = layout::segments(folder.path(), OBSERVATIONS.name).unwrap().remove(0).path;
    let mut bytes = fs::read(&file).unwrap();
    // The first column, after the magic, is the time.
    bytes[40] ^= 1;
    fs::write(&file, bytes).unwrap();
    let history = History::open(folder.path()).unwrap();
    let ask = |sql| history.query(sql, Limits::default()).unwrap();

    let (sequences, times) =
        (ask("SELECT count(sequence) FROM observations"), ask("SELECT count(time) FROM observations"));

    assert_eq!((sequences.rows, sequences.findings.is_damaged()), (vec![vec![Cell::Integer(100)]], false));
    assert_eq!(times.rows, [[Cell::Integer(0)]]);
    let damage = times.findings.damage.first().unwrap();
    assert_eq!((damage.place.as_str(), damage.rows), ("row group 0, column time", Some(100)));
    assert_eq!(damage.file, file);
}

#[test]
fn a_damaged_segment_is_named_and_the_rest_of_the_table_answers() {
    let folder = Folder::new();
    for first in [0, 100] {
        let store = Store::open(folder.settings()).unwrap();
        assert_eq!(store.offer(reports(first, 100)), Offered::Queued);
        store.close();
    }
    let file = layout::segments(folder.path(), OBSERVATIONS.name).unwrap().remove(0).path;
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();

    let history = History::open(folder.path()).unwrap();

    assert_eq!(integers(&history, "sequence"), Vec::from_iter(100..200));
    let findings = history.findings();
    let named: Vec<_> = findings.damage.iter().map(|damage| (&damage.file, damage.place.as_str())).collect();
    assert_eq!(named, [(&file, "footer")]);
}

#[test]
fn a_damaged_log_is_taken_up_without_the_damaged_block_and_counted() {
    let folder = Folder::new();
    let other = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    for first in 0..5 {
        assert_eq!(store.offer(reports(first * 10, 10)), Offered::Queued);
        store.sync();
    }
    copy(folder.path(), other.path());
    drop(store);
    let file = layout::logs(other.path()).unwrap().remove(0).1;
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();

    let store = Store::open(other.settings()).unwrap();

    let tally = store.tally();
    assert_eq!((tally.recovered, tally.damaged_blocks, tally.torn_logs), (40, 1, 0));
    assert_eq!(store.findings().damage.first().unwrap().file, file);
    store.close();
    let expected: Vec<i64> = (0..20).chain(30..50).collect();
    assert_eq!(integers(&History::open(other.path()).unwrap(), "sequence"), expected);
    // The damaged log is kept.
    assert_eq!(layout::damaged_logs(other.path()).unwrap(), [(1, file.with_extension("damaged"))]);
}

#[test]
fn a_log_of_an_unknown_version_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    drop(Store::open(folder.settings()).unwrap());
    let log = layout::log_file(folder.path(), 7);
    let later = b"INBLOGv4 and something that this version cannot read";
    fs::write(&log, later).unwrap();

    let error = Store::open(folder.settings()).unwrap_err();

    assert!(matches!(&error, StoreError::OtherVersion(path) if *path == log), "{error}");
    assert_eq!(fs::read(&log).unwrap(), later);
}
