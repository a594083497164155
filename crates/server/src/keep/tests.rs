use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use inband_export::Stage;
use inband_model::{HopColumns, HopRecord, Nanos};
use inband_store::{Batch, Disk, LogFile, RealDisk, Store, StoreSettings};

use super::Keep;

/// A disk whose syncs take a while.
struct Slow;

struct SlowFile(Box<dyn LogFile>);

impl Disk for Slow {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(SlowFile(RealDisk.create(path)?)))
    }
}

impl LogFile for SlowFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(300));
        self.0.sync()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.cut(length)
    }
}

#[test]
fn what_is_left_at_the_end_waits_for_room_in_the_store() {
    let folder = Folder::new();
    let forever = Duration::from_secs(100 * 365 * 24 * 3600);
    let (path, sync_after) = (folder.0.clone(), Duration::ZERO);
    let settings =
        StoreSettings { path, retain: forever, queue_rows: 10, sync_after, ..StoreSettings::default() };
    let store = Arc::new(Store::open_on(settings, Slow).unwrap());
    let batch = || Batch { hops: hops(10), reports: 10, ..Batch::default() };
    while store.tally().shed == 0 {
        let _ = store.offer(batch());
    }
    let shed = store.tally().shed;
    let mut keep = Keep::new(Arc::clone(&store));
    keep.handle_hops(&hops(1), 1);

    keep.settle();

    let tally = store.tally();
    assert_eq!((tally.shed, tally.others_shed, tally.failed, tally.waiting), (shed, 0, 0, 0));
}

fn hops(count: usize) -> HopColumns {
    let received_at = Nanos::from_secs(1_700_000_000);
    vec![HopRecord { received_at, hop_count: 1, ..HopRecord::default() }; count][..].into()
}

/// A temporary directory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("inband-keep-{}", std::process::id()));
        // It may be left from an earlier process.
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
