//! What keeps the store from writing.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, LogFile};

/// The current errors of log and segments; empty if both are written.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    log: Mutex<Option<String>>,
    segments: Mutex<Option<String>>,
}

impl Trouble {
    /// The current error; that of the log first, as rows that it refuses are lost.
    pub(crate) fn text(&self) -> Option<String> {
        open(&self.log).clone().or_else(|| open(&self.segments).clone())
    }

    /// Records the result of flushing a log.
    pub(crate) fn note_segments<E: std::error::Error>(&self, outcome: Result<(), &E>) {
        *open(&self.segments) = outcome.err().map(|error| {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{error}{cause}")
        });
    }

    fn note_log<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &outcome {
            *open(&self.log) = Some(format!("cannot write the log: {error}"));
        }
        outcome
    }
}

/// A disk that records errors of the one that it wraps.
pub(crate) struct Watched<D> {
    pub(crate) disk: D,
    pub(crate) trouble: Arc<Trouble>,
}

struct WatchedFile {
    file: Box<dyn LogFile>,
    trouble: Arc<Trouble>,
    /// Whether anything was appended since the last sync.
    has_news: bool,
}

impl<D: Disk> Disk for Watched<D> {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        let file = self.trouble.note_log(self.disk.create(path))?;
        Ok(Box::new(WatchedFile { file, trouble: Arc::clone(&self.trouble), has_news: false }))
    }
}

impl LogFile for WatchedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.trouble.note_log(self.file.append(bytes))?;
        self.has_news = true;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.trouble.note_log(self.file.sync())?;
        // Only a sync after an append shows that the disk works.
        if std::mem::take(&mut self.has_news) {
            *open(&self.trouble.log) = None;
        }
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.has_news = false;
        self.file.cut(length)
    }
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The text is valid at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
