//! Checks of the boundaries between the crates.

use std::path::Path;

use anyhow::Result;

use crate::problem::{Problem, judge};

mod cycles;
mod imports;
mod modules;
mod objects;
mod purity;
mod walls;

#[cfg(test)]
mod tests;

/// Checks the dependencies between crates, that the engines do no I/O, that files do not import each other in
/// cycles, and that no type is too large.
///
/// # Errors
/// A boundary is violated; each place is printed.
pub(crate) fn run(root: &Path) -> Result<()> {
    judge(&check(root)?)
}

fn check(root: &Path) -> Result<Vec<Problem>> {
    let mut problems = walls::check(root)?;
    problems.extend(purity::check(root)?);
    problems.extend(cycles::check(root)?);
    problems.extend(objects::check(root)?);
    Ok(problems)
}
