//! Why could history not be kept or read?

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

/// What went wrong, and with which file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or directory cannot be read or written.
    #[error("cannot {what} {path}", path = .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A segment cannot be read or written.
    #[error("cannot {what} segment {path}", path = .path.display())]
    Segment {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: ParquetError,
    },
    /// A part of a segment is damaged.
    #[error("{path}, {place}: {cause}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The part of it.
        place: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Another process writes to this store.
    #[error("{path} is in use by another process", path = .0.display())]
    InUse(PathBuf),
    /// The directory was removed or replaced while it was written.
    #[error("{path} was removed or replaced", path = .0.display())]
    Gone(PathBuf),
    /// There is no history here.
    #[error("there is no history in {path}", path = .0.display())]
    NoHistory(PathBuf),
}

impl StoreError {
    /// Says with which file an input or output failed.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        move |source| StoreError::Io { what, path: path.to_owned(), source }
    }

    /// Says with which segment something failed.
    pub(crate) fn segment(what: &'static str, path: &Path) -> impl FnOnce(ParquetError) -> StoreError {
        move |source| StoreError::Segment { what, path: path.to_owned(), source }
    }
}
