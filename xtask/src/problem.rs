//! The problems found by a check.

use std::fmt;

use anyhow::{Result, ensure};

/// One finding of a check, worded for the person who has to fix it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// The file, with its line where there is one, or the crate.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl Problem {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.what)
    }
}

/// Prints every problem, one a line.
///
/// # Errors
/// There is at least one.
pub(crate) fn judge(problems: &[Problem]) -> Result<()> {
    for problem in problems {
        eprintln!("{problem}");
    }
    ensure!(
        problems.is_empty(),
        "{} {}",
        problems.len(),
        if problems.len() == 1 { "problem" } else { "problems" }
    );
    Ok(())
}
