//! Why a switch does not start, or ends.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use inband_node::ConfigError;
use thiserror::Error;

/// Why a switch does not start, or ends.
#[derive(Debug, Error)]
pub enum SwitchError {
    /// The configuration of the node is invalid.
    #[error(transparent)]
    Node(#[from] ConfigError),
    /// The configuration of the switch is invalid.
    #[error("{key} {what}")]
    Config {
        /// The key, as in `interface.device`.
        key: &'static str,
        /// The position of the entry in its list, such as `[[interface]]`; `None`: not in a list, or all of it.
        entry: Option<usize>,
        /// The mistake, to be read behind the key.
        what: String,
    },
    /// An interface's device belongs to another switch of the network namespace.
    #[error("another inband switch of this network namespace has the device {0}")]
    Claimed(String),
    /// The system refuses an operation.
    #[error("cannot {what}")]
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
        Self::Config { key, entry: None, what: what.into() }
    }

    /// A mistake in one entry of a list, whose name is the first part of the key.
    pub(crate) fn entry(key: &'static str, at: usize, what: impl Into<String>) -> Self {
        Self::Config { key, entry: Some(at), what: what.into() }
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
            Self::Claimed(_) | Self::System { .. } => None,
        }
    }

    /// The place of the invalid key in the file: the key, with the position of its entry behind the name of a
    /// list, as in `interface.1.device`; `None`: not a mistake in the configuration.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let Self::Config { key, entry: Some(at), .. } = self else { return self.key().map(str::to_owned) };
        let (list, rest) = key.split_once('.').unwrap_or((key, ""));
        Some(format!("{list}.{at}.{rest}").trim_end_matches('.').to_owned())
    }

    /// Whether the process lacks a privilege for the operation.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        let Self::System { reason, .. } = self else { return false };
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(reason);
        while let Some(error) = cause {
            let io = error.downcast_ref::<io::Error>();
            if io.is_some_and(|error| error.kind() == ErrorKind::PermissionDenied) {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// The error with its cause, on one line.
    pub(crate) fn words(&self) -> String {
        let cause = self.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{self}{cause}")
    }
}

#[cfg(test)]
mod tests;
