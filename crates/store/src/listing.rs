//! The segments of a store as listed last, for the next questions.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use inband_model::table::shapes;

use crate::error::StoreError;
use crate::layout::{self, SegmentFile};

/// The segments of each table, in the order of `shapes`.
pub(crate) type Tables = Arc<Vec<Vec<SegmentFile>>>;

/// The last listing, which is used until the store has written further segments, for at most [`MAX_AGE`]: a
/// store may have a hundred thousand of them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// How often segments were added.
    additions: AtomicU64,
    listed: Mutex<Option<Listed>>,
}

#[derive(Debug)]
struct Listed {
    additions: u64,
    at: Instant,
    tables: Tables,
}

impl Listing {
    /// The segments of all tables. A listed segment may have been merged or removed since.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub(crate) fn tables(&self, root: &Path) -> Result<Tables, StoreError> {
        let (additions, at) = (self.additions.load(Ordering::SeqCst), Instant::now());
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |listed: &&Listed| listed.additions == additions && at - listed.at < MAX_AGE;
        if let Some(listed) = listed.as_ref().filter(is_current) {
            return Ok(Arc::clone(&listed.tables));
        }
        let tables =
            shapes().iter().map(|shape| layout::segments(root, shape.name)).collect::<Result<_, _>>()?;
        let tables = Arc::new(tables);
        *listed = Some(Listed { additions, at, tables: Arc::clone(&tables) });
        Ok(tables)
    }

    /// Notes that all segments of a log are in place, before the log is removed: a question that does not
    /// find the log finds its segments.
    pub(crate) fn note_addition(&self) {
        self.additions.fetch_add(1, Ordering::SeqCst);
    }
}

/// Merged segments are found under their earlier names for longer than this.
const MAX_AGE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::fs;

    use inband_model::table::{OBSERVATIONS, shapes};

    use super::Listing;
    use crate::sample::{Folder, integers, reports};
    use crate::settings::StoreSettings;
    use crate::store::{Offered, Store};

    #[test]
    fn segments_are_listed_again_when_some_were_added() {
        let folder = Folder::new();
        let hour = folder.path().join("observations/date=2026-11-28/hour=16");
        fs::create_dir_all(&hour).unwrap();
        let listing = Listing::default();
        let table = shapes().iter().position(|shape| shape.name == OBSERVATIONS.name).unwrap();
        let listed = || listing.tables(folder.path()).unwrap()[table].len();
        let add = |number: u32| fs::write(hour.join(format!("{number:020}.parquet")), b"rows").unwrap();
        add(1);
        assert_eq!(listed(), 1);
        add(2);
        assert_eq!(listed(), 1, "listed a moment ago");
        listing.note_addition();
        assert_eq!(listed(), 2);
    }

    #[test]
    fn every_snapshot_has_all_rows_while_logs_become_segments() {
        let folder = Folder::new();
        let store = Store::open(StoreSettings { segment_rows: 60, ..folder.settings() }).unwrap();
        for batch in 0..60 {
            assert_eq!(store.offer(reports(batch * 20, 20)), Offered::Queued);
            store.sync();
            for _ in 0..4 {
                assert_eq!(
                    integers(&store.history().unwrap(), "sequence"),
                    Vec::from_iter(0..i64::from(batch + 1) * 20)
                );
            }
        }
    }
}
