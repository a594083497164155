//! A cache of segment footers.
//!
//! A segment never changes under its name. A file that was replaced or damaged since differs in inode, length
//! or modification time, and is read again.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inband_model::table::Shape;

use crate::error::StoreError;
use crate::segment::{Footer, Found, OpenFiles, Seen, SegmentReader};

/// The most recently used footers, at most [`MAX_BYTES`] of them.
#[derive(Debug, Default)]
pub(crate) struct Footers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By path.
    footers: HashMap<OsString, KeptFooter>,
    bytes: usize,
    /// Counts lookups.
    turn: u64,
}

#[derive(Debug)]
struct KeptFooter {
    seen: Seen,
    footer: Arc<Footer>,
    bytes: usize,
    /// The most recent lookup.
    turn: u64,
}

impl Footers {
    /// A reader of a segment of a table, which keeps its file open in `files`.
    ///
    /// # Errors
    /// It cannot be opened, or its footer is damaged.
    pub(crate) fn open(
        &self,
        path: &Path,
        shape: &Shape,
        files: &Arc<OpenFiles>,
    ) -> Result<SegmentReader, StoreError> {
        let found = Found::look(path).map_err(StoreError::io("open", path))?;
        if let Some(footer) = self.find(path, &found.seen()) {
            return Ok(SegmentReader::new(found, footer, Arc::clone(files)));
        }
        let (found, file) = Found::open(path).map_err(StoreError::io("open", path))?;
        let seen = found.seen();
        let footer = Arc::new(SegmentReader::read_footer(&file, path, shape)?);
        self.keep(path, seen, &footer);
        Ok(SegmentReader::new(found, footer, Arc::clone(files)))
    }

    /// Bytes of memory in use, approximately.
    pub(crate) fn bytes(&self) -> u64 {
        self.kept().bytes as u64
    }

    /// Whether the footer of this file is kept.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.kept().footers.contains_key(path.as_os_str())
    }

    fn find(&self, path: &Path, seen: &Seen) -> Option<Arc<Footer>> {
        let mut kept = self.kept();
        kept.turn += 1;
        let turn = kept.turn;
        let found = kept.footers.get_mut(path.as_os_str()).filter(|found| found.seen == *seen)?;
        found.turn = turn;
        Some(Arc::clone(&found.footer))
    }

    fn keep(&self, path: &Path, seen: Seen, footer: &Arc<Footer>) {
        let bytes = footer.bytes() + path.as_os_str().len() + size_of::<(OsString, KeptFooter)>();
        let mut kept = self.kept();
        let turn = kept.turn;
        kept.bytes += bytes;
        let new = KeptFooter { seen, footer: Arc::clone(footer), bytes, turn };
        if let Some(replaced) = kept.footers.insert(path.as_os_str().to_owned(), new) {
            kept.bytes -= replaced.bytes;
        }
        if kept.bytes > MAX_BYTES {
            kept.forget_half();
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What is kept is valid at any time.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Evicts the least recently used footers until half of the room is free.
    fn forget_half(&mut self) {
        let mut turns: Vec<(u64, usize)> =
            self.footers.values().map(|footer| (footer.turn, footer.bytes)).collect();
        turns.sort_unstable();
        let mut bytes = self.bytes;
        let rest = turns.iter().skip_while(|(_, of_one)| {
            let is_dropped = bytes > MAX_BYTES / 2;
            bytes -= if is_dropped { *of_one } else { 0 };
            is_dropped
        });
        let least = rest.map(|(turn, _)| *turn).next().unwrap_or(u64::MAX);
        self.footers.retain(|_, footer| footer.turn >= least);
        self.bytes = self.footers.values().map(|footer| footer.bytes).sum();
    }
}

/// Maximum bytes of footers: those of some thousand segments.
const MAX_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests;
