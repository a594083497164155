//! The file of a segment, which is opened when it is read: a question may list more files than a process may
//! have open.
//!
//! A merged file is renamed when it is replaced, and is found under that name until no question needs it.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::announce::announce_ends;
use crate::layout;

/// The file that was read: device and inode, length, modification time.
pub(crate) type Seen = ([u64; 2], u64, [i64; 2]);

/// A file that was opened or looked at once.
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
        let seen = seen(&file.metadata()?);
        Ok((Found { path: path.to_owned(), seen }, file))
    }

    /// Looks at the file like [`open`](Found::open), without opening it.
    pub(crate) fn look(path: &Path) -> io::Result<Found> {
        let about = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::metadata(path.with_extension(layout::REPLACED))?
            }
            other => other?,
        };
        Ok(Found { path: path.to_owned(), seen: seen(&about) })
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

    /// Announces that this file will be opened and its footer read. Returns at once.
    pub(crate) fn announce(path: &Path) {
        // A file that cannot be opened is noted when it is opened again.
        if let Ok((found, file)) = Found::open(path) {
            announce_ends(&file, found.seen.1);
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

fn seen(about: &Metadata) -> Seen {
    ([about.dev(), about.ino()], about.len(), [about.mtime(), about.mtime_nsec()])
}
