//! Do the crates keep to the walls of the house?

use std::path::Path;

use anyhow::Result;

use crate::problem::{Problem, judge};

mod cycles;
mod purity;
mod walls;

#[cfg(test)]
mod tests;

/// Checks which crate uses which, and that the engines do no I/O.
///
/// # Errors
/// A wall is pierced; each place is printed.
pub(crate) fn run(root: &Path) -> Result<()> {
    judge(&check(root)?)
}

fn check(root: &Path) -> Result<Vec<Problem>> {
    let mut problems = walls::check(root)?;
    problems.extend(purity::check(root)?);
    problems.extend(cycles::check(root)?);
    Ok(problems)
}
