//! What keeps the store from writing?

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, LogFile};

/// What keeps log and segments from being written; nothing where both are.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    log: Mutex<Option<String>>,
    segments: Mutex<Option<String>>,
}

impl Trouble {
    /// What is in the way, in words; the log first, as what it does not take is lost.
    pub(crate) fn text(&self) -> Option<String> {
        open(&self.log).clone().or_else(|| open(&self.segments).clone())
    }

    /// Notes whether a log became segments.
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

/// A disk that notes what goes wrong on it.
pub(crate) struct Watched<D> {
    pub(crate) disk: D,
    pub(crate) trouble: Arc<Trouble>,
}

struct WatchedFile {
    file: Box<dyn LogFile>,
    trouble: Arc<Trouble>,
    /// Whether something was appended that has not been made durable.
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
        // Only something new that became durable shows that the disk takes it.
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
    // A text is whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
