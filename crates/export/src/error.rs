//! Why an output cannot be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an output cannot be started.
#[derive(Debug, Error)]
pub enum ExportError {
    /// A setting is invalid.
    #[error("{output}: {what}")]
    Setting {
        /// The output's name.
        output: String,
        /// What is wrong.
        what: String,
    },
    /// Two outputs have the same name, so their counts could not be told apart.
    #[error("two outputs are named \"{0}\"")]
    Name(String),
    /// A file it needs cannot be read.
    #[error("{output}: cannot read {}", path.display())]
    Read {
        /// The output's name.
        output: String,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file it needs cannot be written.
    #[error("{output}: cannot write {}", path.display())]
    Write {
        /// The output's name.
        output: String,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Its thread cannot be started.
    #[error("{output}: cannot start a thread")]
    Start {
        /// The output's name.
        output: String,
        /// The operating system's error.
        source: io::Error,
    },
}
