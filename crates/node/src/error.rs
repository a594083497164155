//! Configuration errors.

use thiserror::Error;

/// A configuration that can be parsed but does not describe a valid node.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A value is outside its range.
    #[error("{key} is {found}, expected {expected}")]
    OutOfRange {
        /// The key.
        key: String,
        /// The value.
        found: String,
        /// What is accepted.
        expected: String,
    },
    /// Two entries that must differ are equal.
    #[error("{key} {value} is given twice")]
    Twice {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A reference to something that is not configured.
    #[error("{key} refers to {value}, which is not configured")]
    Missing {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A setting this engine does not support.
    #[error("{key} = \"{found}\" is not supported by this node; supported: {supported}")]
    Unsupported {
        /// The key.
        key: String,
        /// The value.
        found: String,
        /// What is supported.
        supported: String,
    },
}

impl ConfigError {
    /// The key the error is about, its sections separated by dots.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::OutOfRange { key, .. }
            | Self::Twice { key, .. }
            | Self::Missing { key, .. }
            | Self::Unsupported { key, .. } => key,
        }
    }

    pub(crate) fn out_of_range(key: &str, found: impl ToString, expected: impl ToString) -> Self {
        Self::OutOfRange { key: key.to_owned(), found: found.to_string(), expected: expected.to_string() }
    }

    pub(crate) fn unsupported(key: &str, found: &str, supported: &str) -> Self {
        Self::Unsupported { key: key.to_owned(), found: found.to_owned(), supported: supported.to_owned() }
    }
}
