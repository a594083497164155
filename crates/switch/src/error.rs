//! Why a switch does not start, or ends.

use std::io;

use inband_node::ConfigError;
use thiserror::Error;

/// Why a switch does not start, or ends.
#[derive(Debug, Error)]
pub enum SwitchError {
    /// The configuration of the node is invalid.
    #[error(transparent)]
    Node(#[from] ConfigError),
    /// The configuration of the switch is invalid.
    #[error("{what}")]
    Config {
        /// The key, as in `interface.device`.
        key: &'static str,
        /// The mistake.
        what: String,
    },
    /// The system refuses an operation.
    #[error("cannot {what}: {reason}")]
    System {
        /// The operation.
        what: String,
        /// The system's error.
        #[source]
        reason: io::Error,
    },
}

impl SwitchError {
    pub(crate) fn config(key: &'static str, what: impl Into<String>) -> Self {
        Self::Config { key, what: what.into() }
    }

    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |reason| Self::System { what, reason }
    }

    /// The invalid configuration key; `None`: not a mistake in the configuration.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Node(error) => Some(error.key()),
            Self::Config { key, .. } => Some(key),
            Self::System { .. } => None,
        }
    }
}
