//! Why a switch does not start, or ends.

use std::io;

use inband_node::ConfigError;
use thiserror::Error;

/// Why a switch does not start, or ends.
#[derive(Debug, Error)]
pub enum SwitchError {
    /// The configuration of the node is wrong.
    #[error(transparent)]
    Node(#[from] ConfigError),
    /// The configuration of the switch is wrong.
    #[error("{what}")]
    Config {
        /// The key, as in `interface.device`.
        key: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The system does not let the program do something.
    #[error("cannot {what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
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

    /// The key of the configuration that is wrong; `None`: it is not the configuration.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Node(error) => Some(error.key()),
            Self::Config { key, .. } => Some(key),
            Self::System { .. } => None,
        }
    }
}
