//! The file of a segment, opened for each read: a question may list more files than a process may have open.
//!
//! A merged file is renamed when it is replaced, and is found under that name until no question needs it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::layout;

/// The file that was read: device and inode, length, modification time.
pub(crate) type Seen = ([u64; 2], u64, [i64; 2]);

/// A file that was opened once.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    path: PathBuf,
    seen: Seen,
}

impl Found {
    /// Opens the file with this name, or the one it was renamed to when it was replaced.
    pub(crate) fn open(path: &Path) -> io::Result<(Found, File)> {
        let file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                File::open(path.with_extension(layout::REPLACED))?
            }
            other => other?,
        };
        let about = file.metadata()?;
        let times = [about.mtime(), about.mtime_nsec()];
        let seen = ([about.dev(), about.ino()], about.len(), times);
        Ok((Found { path: path.to_owned(), seen }, file))
    }

    /// Opens the same file again.
    ///
    /// # Errors
    /// It cannot be opened, or another one has taken its place.
    pub(crate) fn open_again(&self) -> io::Result<File> {
        let (found, file) = Found::open(&self.path)?;
        match found.seen == self.seen {
            true => Ok(file),
            false => Err(io::Error::new(ErrorKind::InvalidData, "it has changed since it was opened")),
        }
    }

    /// The name under which it was listed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen
    }
}
