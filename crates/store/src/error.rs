//! The errors of a store.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

/// What failed, and on which file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or directory cannot be read or written.
    #[error("cannot {what} {path}", path = .path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A segment cannot be read or written.
    #[error("cannot {what} segment {path}", path = .path.display())]
    Segment {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: ParquetError,
    },
    /// A part of a segment is damaged.
    #[error("{path}, {place}: {cause}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damaged part.
        place: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Another process writes to this store.
    #[error("{path} is in use by another process", path = .0.display())]
    InUse(PathBuf),
    /// A log is of a version that this program does not know.
    #[error("{path} is a log of another version of this program", path = .0.display())]
    OtherVersion(PathBuf),
    /// The directory was removed or replaced while in use.
    #[error("{path} was removed or replaced", path = .0.display())]
    Gone(PathBuf),
    /// The directory contains no history.
    #[error("there is no history in {path}", path = .0.display())]
    NoHistory(PathBuf),
}

impl StoreError {
    /// Adds the file to an I/O error.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        move |source| StoreError::Io { what, path: path.to_owned(), source }
    }

    /// The error of the operating system, if that is the cause.
    pub(crate) fn of_system(&self) -> Option<&io::Error> {
        match self {
            StoreError::Io { source, .. } => Some(source),
            StoreError::Segment { source: ParquetError::External(cause), .. } => cause.downcast_ref(),
            _ => None,
        }
    }

    /// Adds the segment to an error.
    pub(crate) fn segment(what: &'static str, path: &Path) -> impl FnOnce(ParquetError) -> StoreError {
        move |source| StoreError::Segment { what, path: path.to_owned(), source }
    }
}
