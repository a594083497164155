//! Why a lab could not be made, changed or taken down.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::topology::Mistake;

/// Why something could not be done to a lab.
#[derive(Debug, Error)]
pub enum LabError {
    /// The topology is wrong.
    #[error("{0}")]
    Topology(#[from] Mistake),
    /// The lab cannot be there, or is not there; nothing was changed.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot use {}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// An error of the system.
        #[source]
        error: io::Error,
    },
    /// The kernel, or a program of the lab, did not do its part.
    #[error("{what}")]
    Kernel {
        /// What was to be done.
        what: String,
        /// An error of the system.
        #[source]
        error: io::Error,
    },
    /// A program of the lab did not start, or has ended.
    #[error("{0}")]
    Program(String),
}

impl LabError {
    pub(crate) fn files(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Files { path, error }
    }

    pub(crate) fn kernel(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Kernel { what, error }
    }
}
