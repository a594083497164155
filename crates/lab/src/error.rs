//! Errors of creating, changing and removing a lab.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

use crate::topology::Mistake;

/// An error of an operation on a lab.
#[derive(Debug, Error)]
pub enum LabError {
    /// The topology has a mistake.
    #[error("{0}")]
    Topology(#[from] Mistake),
    /// The lab exists already, or does not exist; nothing was changed.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot use {}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The kernel, or a program of the lab, failed.
    #[error("{what}")]
    Kernel {
        /// The operation that failed.
        what: String,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// A program of the lab did not start, or has ended.
    #[error("{0}")]
    Program(String),
    /// It was stopped before everything was running.
    #[error("stopped before everything was running")]
    Stopped,
}

impl LabError {
    /// `Stopped` if `stop` is set.
    pub(crate) fn if_stopped(stop: &AtomicBool) -> Result<(), Self> {
        if stop.load(Ordering::Relaxed) { Err(Self::Stopped) } else { Ok(()) }
    }

    pub(crate) fn files(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Files { path, error }
    }

    pub(crate) fn kernel(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Kernel { what, error }
    }
}
