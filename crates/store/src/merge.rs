//! Merging of roll-ups after an hour: many files with a row per key become one file with one row per key.
//!
//! The new file is named after its first and last generation, and replaces their files as soon as it has that
//! name: readers ignore files that another one covers. A crash at any point loses nothing and counts nothing
//! twice. Replaced files are renamed at once, found under that name by questions that had listed them, and
//! removed later.

mod hour;
mod rows;
mod rules;
mod source;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use inband_model::table::{HOURS, Shape, TOTALS};

use self::hour::{merge_hour, put_aside};
use crate::civil::Hour;
use crate::error::StoreError;
use crate::flusher::Signals;
use crate::layout::{self, SegmentFile};
use crate::place::Place;
use crate::retention::remove_empty;
use crate::settings::StoreSettings;
use crate::tally::{Counters, count};
use crate::today::Today;

/// Merges roll-ups in its own thread.
pub(crate) struct Merger {
    pub(crate) settings: StoreSettings,
    pub(crate) place: Arc<Place>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) today: Today,
    /// Disconnected when the store closes.
    pub(crate) closing: Receiver<()>,
    /// Hours with several files, by table.
    pub(crate) waiting: HashMap<(&'static str, Hour), Waiting>,
    /// Replaced files, and when they were first seen.
    pub(crate) replaced: HashMap<PathBuf, Instant>,
}

/// An hour with several files.
pub(crate) struct Waiting {
    files: usize,
    /// When that number was first seen; `None` if merging them failed.
    since: Option<Instant>,
}

impl Merger {
    /// Runs until the store closes.
    pub(crate) fn run(mut self) {
        while self.closing.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if self.place.watch() {
                // A directory that cannot be listed is retried later.
                let _ = self.look();
            }
        }
    }

    fn look(&mut self) -> Result<(), StoreError> {
        let root = self.settings.path.clone();
        let first_log = layout::logs(&root)?.first().map(|(generation, _)| *generation);
        for shape in merged_tables() {
            for (hour, files) in hours(&root, &shape, first_log)? {
                if files.len() < 2 || hour.end() > self.today.now() {
                    continue;
                }
                let new = || Waiting { files: files.len(), since: Some(Instant::now()) };
                let waiting = self.waiting.entry((shape.name, hour)).or_insert_with(new);
                if waiting.files != files.len() {
                    *waiting = new();
                }
                if waiting.since.is_none_or(|since| since.elapsed() < QUIET) {
                    continue;
                }
                let is_closing = || self.signals.is_closing.load(atomic::Ordering::Acquire);
                match merge_hour(&shape, files, &is_closing) {
                    Ok(merged) => {
                        count(&self.counters.merged_segments, merged);
                        self.waiting.remove(&(shape.name, hour));
                    }
                    // A damaged file is left alone, so that each question reports what is missing.
                    Err(_) => waiting.since = None,
                }
            }
        }
        self.remove_replaced()
    }

    fn remove_replaced(&mut self) -> Result<(), StoreError> {
        let mut found = Vec::new();
        for shape in merged_tables() {
            // A crash may have come before they were renamed.
            for covered in layout::covered(&self.settings.path, shape.name)? {
                put_aside(&covered.path)?;
            }
            found.extend(layout::replaced(&self.settings.path, shape.name)?);
        }
        self.replaced.retain(|path, _| found.contains(path));
        for path in found {
            let since = self.replaced.entry(path.clone()).or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
                remove_empty(&self.settings.path, &path);
            }
        }
        Ok(())
    }
}

/// The tables that are merged to one file per hour.
pub(crate) fn merged_tables() -> [Shape; 2] {
    [HOURS.shape(), TOTALS.shape()]
}

/// The files of each hour of a table, without those whose rows are still in a log.
pub(crate) fn hours(
    root: &Path,
    shape: &Shape,
    first_log: Option<u64>,
) -> Result<Vec<(Hour, Vec<SegmentFile>)>, StoreError> {
    let mut files = layout::segments(root, shape.name)?;
    files.retain(|file| first_log.is_none_or(|first| file.generation < first));
    let alike = files.chunk_by(|one, next| one.hour == next.hour);
    Ok(alike.map(|files| (files[0].hour, files.to_vec())).collect())
}

/// Time between two checks for hours to merge.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// An hour that is over is merged when no file has been added for this long.
const QUIET: Duration = Duration::from_secs(60);
/// How long replaced files are kept for questions that have listed them; no question takes as long.
const GRACE: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests;
