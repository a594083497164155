//! The files of segments that a snapshot keeps open from one read to the next.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::found::{Found, Seen};

/// The most recently read files, at most [`MAX_OPEN`] of them: a snapshot may list more files than a process
/// may have open.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles(Mutex<Vec<(Seen, Arc<File>)>>);

impl OpenFiles {
    /// Opens a file, unless it is open.
    ///
    /// # Errors
    /// It cannot be opened, or another one has taken its place.
    pub(super) fn open(&self, found: &Found) -> io::Result<Arc<File>> {
        if let Some(file) = self.find(found.seen()) {
            return Ok(file);
        }
        let file = Arc::new(found.open_again()?);
        let mut files = self.files();
        if files.len() >= MAX_OPEN {
            files.remove(0);
        }
        files.push((found.seen(), Arc::clone(&file)));
        Ok(file)
    }

    /// The open file, which becomes the most recently read one.
    fn find(&self, seen: Seen) -> Option<Arc<File>> {
        let mut files = self.files();
        let place = files.iter().rposition(|(known, _)| *known == seen)?;
        let last = files.len() - 1;
        files[place..=last].rotate_left(1);
        Some(Arc::clone(&files[last].1))
    }

    fn files(&self) -> MutexGuard<'_, Vec<(Seen, Arc<File>)>> {
        // The list is valid at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum files open at once: some for each thread of a question, and those that are read next.
const MAX_OPEN: usize = 24;

#[cfg(test)]
mod tests;
