//! Whether the crates keep to the walls of the house.

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

/// Checks which crate uses which, that the engines do no I/O, that files import each other in no cycle, and that no type
/// knows too much.
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
    problems.extend(objects::check(root)?);
    Ok(problems)
}
