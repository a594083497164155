//! Why this host cannot do INT.

use std::io;
use std::path::{Path, PathBuf};

use crate::drops::BtfError;

/// Why this host cannot do INT as configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The programs cannot be read.
    #[error("cannot read the programs for the kernel")]
    Object(#[source] aya::EbpfError),
    /// The kernel refuses a program.
    #[error("the kernel refuses the program `{name}`")]
    Refused {
        /// The program's name.
        name: &'static str,
        /// The kernel's error.
        #[source]
        reason: aya::programs::ProgramError,
    },
    /// A program or map is not in the object.
    #[error("the programs for the kernel have no `{0}`")]
    Missing(&'static str),
    /// A map cannot be read or written.
    #[error("cannot use the map `{name}`")]
    Map {
        /// The map's name.
        name: &'static str,
        /// The cause.
        #[source]
        reason: aya::maps::MapError,
    },
    /// The kernel's description of its own types cannot be read.
    #[error("cannot read the kernel's reasons to drop packets")]
    KernelTypes(#[source] BtfError),
    /// A setting that the programs in the kernel cannot follow.
    #[error("{key} = {value} is not supported on a host: use {instead}")]
    Unsupported {
        /// The setting.
        key: &'static str,
        /// What it asks for.
        value: String,
        /// What to use instead.
        instead: &'static str,
    },
    /// A setting that differs from the one the agent started with.
    #[error("{key} changes with a restart only")]
    Restart {
        /// The setting.
        key: &'static str,
    },
    /// A file of secrets that holds none.
    #[error("{key}: no secret in {path}: {reason}", path = .path.display())]
    Key {
        /// The setting that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error, or what the file holds.
        reason: String,
    },
    /// A setting that no node can follow.
    #[error(transparent)]
    Config(#[from] inband_node::ConfigError),
    /// The system refused something.
    #[error("cannot {what}")]
    System {
        /// The operation that failed.
        what: String,
        /// The cause.
        #[source]
        reason: io::Error,
    },
}

impl HostError {
    /// The setting to blame, as in `source.mode`.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Unsupported { key, .. } | Self::Restart { key } | Self::Key { key, .. } => Some(key),
            Self::Config(error) => Some(error.key()),
            _ => None,
        }
    }

    /// Another agent has the folder `pins`.
    pub(crate) fn pins_taken(pins: &Path) -> Self {
        let instead = "another folder: an agent that runs here has this one";
        Self::Unsupported { key: "host.pins", value: format!("{pins:?}"), instead }
    }

    /// The system refused to do `what`.
    pub(crate) fn system(what: impl Into<String>, reason: impl Into<io::Error>) -> Self {
        Self::System { what: what.into(), reason: reason.into() }
    }
}
