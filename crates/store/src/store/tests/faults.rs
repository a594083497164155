//! Tests what becomes of reports when the disk is full, slow or broken.

use std::env;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use inband_model::LedgerView;

use crate::batch::Batch;
use crate::disk::{Disk, LogFile, RealDisk};
use crate::history::History;
use crate::sample::{Folder, START, integers, reports};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};
use crate::tally::Tally;

/// A disk that a test controls.
#[derive(Clone, Default)]
struct Played {
    /// Bytes that still fit; negative if unlimited.
    room: Arc<AtomicI64>,
    /// How long each sync takes, milliseconds.
    sync_ms: Arc<AtomicU64>,
    /// Whether syncs fail.
    failing_syncs: Arc<AtomicU64>,
}

struct PlayedFile(Played, Box<dyn LogFile>);

impl Disk for Played {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(PlayedFile(self.clone(), RealDisk.create(path)?)))
    }
}

impl LogFile for PlayedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.0.room.load(Ordering::SeqCst);
        let length = i64::try_from(bytes.len()).unwrap();
        if room >= 0 && room < length {
            // A full disk accepts a part.
            let part = usize::try_from(room).unwrap();
            self.1.append(&bytes[..part])?;
            self.0.room.store(0, Ordering::SeqCst);
            return Err(ErrorKind::StorageFull.into());
        }
        if room >= 0 {
            self.0.room.fetch_sub(length, Ordering::SeqCst);
        }
        self.1.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(self.0.sync_ms.load(Ordering::SeqCst)));
        match self
            .0
            .failing_syncs
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
        {
            Ok(_) => Err(ErrorKind::Other.into()),
            Err(_) => self.1.sync(),
        }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.1.cut(length)
    }
}

fn played() -> Played {
    let disk = Played::default();
    disk.room.store(-1, Ordering::SeqCst);
    disk
}

fn balances(tally: Tally, offered: u64) {
    assert_eq!(tally.stored + tally.failed + tally.shed + tally.waiting, offered, "{tally:?}");
}

#[test]
fn a_full_disk_fails_reports_and_takes_them_again_when_there_is_room() {
    let (folder, disk) = (Folder::new(), played());
    let store = Store::open_on(folder.settings(), disk.clone()).unwrap();
    assert_eq!(store.offer(reports(0, 10)), Offered::Queued);
    store.sync();
    disk.room.store(20, Ordering::SeqCst);
    assert_eq!(store.offer(reports(10, 10)), Offered::Queued);
    store.sync();
    assert_eq!((store.tally().stored, store.tally().failed), (10, 10));
    assert_eq!(store.trouble().unwrap(), "cannot write the log: no storage space");
    disk.room.store(-1, Ordering::SeqCst);
    assert_eq!(store.offer(reports(20, 10)), Offered::Queued);
    store.sync();
    assert_eq!((store.tally().stored, store.tally().failed), (20, 10));
    assert_eq!(store.trouble(), None);
    balances(store.tally(), 30);

    // What a new process would find if this one were killed here.
    let expected: Vec<i64> = (0..10).chain(20..30).collect();
    assert_eq!(integers(&store.history().unwrap(), "sequence"), expected);
    store.close();
    assert_eq!(integers(&History::open(folder.path()).unwrap(), "sequence"), expected);
}

#[test]
fn reports_of_a_sync_that_failed_are_not_acknowledged_and_not_kept() {
    let (folder, disk) = (Folder::new(), played());
    let store = Store::open_on(folder.settings(), disk.clone()).unwrap();
    assert_eq!(store.offer(reports(0, 10)), Offered::Queued);
    store.sync();
    disk.failing_syncs.store(1, Ordering::SeqCst);
    assert_eq!(store.offer(reports(10, 10)), Offered::Queued);
    store.sync();
    assert_eq!(store.offer(reports(20, 10)), Offered::Queued);
    let tally = store.close();
    assert_eq!((tally.stored, tally.failed), (20, 10));
    let expected: Vec<i64> = (0..10).chain(20..30).collect();
    assert_eq!(integers(&History::open(folder.path()).unwrap(), "sequence"), expected);
}

#[test]
fn rows_of_other_tables_that_are_lost_are_counted_beside_the_reports() {
    let (folder, disk) = (Folder::new(), played());
    let settings = StoreSettings { queue_rows: 100, ..folder.settings() };
    let store = Store::open_on(settings, disk.clone()).unwrap();
    let ledgers = || Batch { ledgers: vec![(START, LedgerView::default()); 3], ..reports(0, 10) };
    disk.failing_syncs.store(1, Ordering::SeqCst);
    assert_eq!(store.offer(ledgers()), Offered::Queued);
    store.sync();
    assert_eq!(store.offer(Batch { ledgers: ledgers().ledgers, ..reports(10, 100) }), Offered::Shed);

    let tally = store.close();

    assert_eq!((tally.failed, tally.others_failed), (10, 3));
    assert_eq!((tally.shed, tally.others_shed), (100, 3));
}

#[test]
fn a_slow_disk_sheds_and_never_makes_the_caller_wait() {
    let (folder, disk) = (Folder::new(), played());
    let settings = StoreSettings { queue_rows: 100, sync_after: Duration::ZERO, ..folder.settings() };
    let store = Store::open_on(settings, disk.clone()).unwrap();
    disk.sync_ms.store(100, Ordering::SeqCst);
    let begun = Instant::now();
    let offered = (0..1_000).map(|first| store.offer(reports(first * 10, 10)));
    let shed = offered.filter(|offered| *offered == Offered::Shed).count() as u64;
    // A thousand syncs would take 100 s.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    balances(store.tally(), 10_000);
    let tally = store.close();
    assert!(shed > 0);
    assert_eq!((tally.shed, tally.stored, tally.waiting), (shed * 10, 10_000 - shed * 10, 0));
}

#[test]
fn segments_that_cannot_be_written_stay_in_their_log_until_they_can() {
    let folder = Folder::new();
    // A file in the place of a directory.
    let obstacle = folder.path().join("observations");
    fs::write(&obstacle, b"").unwrap();
    let settings = StoreSettings { segment_rows: 10, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    for first in 0..10 {
        assert_eq!(store.offer(reports(first * 10, 10)), Offered::Queued);
        store.sync();
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while store.tally().flush_failures == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(store.tally().flush_failures > 0);
    let trouble = store.trouble().unwrap();
    assert!(trouble.contains("observations"), "{trouble}");
    balances(store.tally(), 100);
    fs::remove_file(&obstacle).unwrap();
    let tally = store.close();
    assert_eq!(tally.waiting, 0);
    let found = integers(&History::open(folder.path()).unwrap(), "sequence");
    assert_eq!(found.len() as u64, tally.stored);
}

#[test]
fn later_logs_are_left_with_one_that_could_not_be_flushed_at_the_end() {
    let folder = Folder::new();
    // A file in the place of the directory of the first log's hour.
    let day = folder.path().join("observations/date=2023-11-14");
    fs::create_dir_all(&day).unwrap();
    fs::write(day.join("hour=21"), b"").unwrap();
    let settings = StoreSettings { segment_rows: 10, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    assert_eq!(store.offer(reports(0, 10)), Offered::Queued);
    store.sync();
    // An hour later.
    assert_eq!(store.offer(reports(3_600_000, 10)), Offered::Queued);
    store.sync();

    let tally = store.close();

    assert_eq!((tally.stored, tally.failed), (20, 0));
    let found = integers(&History::open(folder.path()).unwrap(), "sequence");
    assert_eq!(found, (0..10).chain(3_600_000..3_600_010).collect::<Vec<_>>());
}

#[test]
fn a_file_size_limit_is_a_full_disk() {
    let folder = Folder::new();
    let program = env::current_exe().unwrap();
    // The shell ignores the signal that would end the process, and the process inherits this.
    let script = "trap '' XFSZ; ulimit -f 64 || exit 77; exec \"$0\" \"$@\"";
    let status = Command::new("sh")
        .args(["-c", script])
        .arg(program)
        .args(["--exact", "store::tests::faults::child_whose_files_are_limited", "--ignored"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    if status.status.code() == Some(77) {
        eprintln!("skipped: file sizes cannot be limited here");
        return;
    }
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    let acknowledged: u64 = fs::read_to_string(folder.path().join("acknowledged")).unwrap().parse().unwrap();
    let found = integers(&History::open(folder.path()).unwrap(), "sequence");
    assert!(acknowledged > 0 && acknowledged < OFFERED);
    assert_eq!(found.len() as u64, acknowledged);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_whose_files_are_limited() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = std::path::PathBuf::from(folder);
    let settings =
        StoreSettings { path: folder.clone(), retain: crate::sample::FOREVER, ..StoreSettings::default() };
    let store = Store::open(settings).unwrap();
    for first in (0..u32::try_from(OFFERED).unwrap()).step_by(100) {
        assert_eq!(store.offer(reports(first, 100)), Offered::Queued);
        store.sync();
    }
    let tally = store.tally();
    balances(tally, OFFERED);
    assert!(tally.failed > 0, "{tally:?}");
    fs::write(folder.join("acknowledged"), tally.stored.to_string()).unwrap();
    // As if killed: the log remains.
    std::process::exit(0);
}

/// More reports than fit the limited file.
const OFFERED: u64 = 20_000;
const FOLDER: &str = "INBAND_STORE_LIMIT_TEST";
