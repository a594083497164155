//! A lack of descriptors or memory: the file that could not be opened is intact, so the question fails.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::StoreError;

/// The first such error of a question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shortage(Arc<OnceLock<(PathBuf, i32)>>);

impl Shortage {
    /// Records an error of reading a file; `false` if it is about the file.
    pub(crate) fn note(&self, path: &Path, error: &io::Error) -> bool {
        let code = error.raw_os_error().filter(|_| is_shortage(error));
        code.is_some_and(|code| {
            self.0.get_or_init(|| (path.to_owned(), code));
            true
        })
    }

    /// # Errors
    /// The first error that was recorded.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let error =
            |(path, code): &(PathBuf, i32)| StoreError::io("open", path)(io::Error::from_raw_os_error(*code));
        self.0.get().map_or(Ok(()), |first| Err(error(first)))
    }
}

/// Whether an error is a lack of descriptors or memory: about this process or machine, and not about the file.
#[must_use]
pub fn is_shortage(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| [ENOMEM, ENFILE, EMFILE].contains(&code))
}

/// Error numbers of Linux.
const ENOMEM: i32 = 12;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
