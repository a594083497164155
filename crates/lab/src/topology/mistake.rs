//! Mistakes in a topology.

use std::ops::Range;

use thiserror::Error;

/// A mistake in a topology file that its syntax does not show.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Mistake {
    /// The bytes of the file with the mistake; `None`: something is missing.
    pub span: Option<Range<usize>>,
    /// The message.
    pub message: String,
}

impl Mistake {
    /// Creates a mistake at a range of bytes.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into() }
    }
}

/// The message that `name` is none of `known`.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<String> = known.map(|known| format!("`{known}`")).collect();
    format!("unknown {what} `{name}`, expected one of {}", known.join(", "))
}
