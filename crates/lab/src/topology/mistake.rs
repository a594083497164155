//! What is wrong with a topology.

use std::ops::Range;

use thiserror::Error;

/// A mistake in a topology file that its syntax does not show.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Mistake {
    /// The bytes of the file that are wrong; `None` where something is missing.
    pub span: Option<Range<usize>>,
    /// What is wrong with them.
    pub message: String,
}

impl Mistake {
    /// Creates the mistake at a place.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into() }
    }
}

/// Says that `name` is none of `known`.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<String> = known.map(|known| format!("`{known}`")).collect();
    format!("unknown {what} `{name}`, expected one of {}", known.join(", "))
}
