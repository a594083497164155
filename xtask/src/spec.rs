//! The check of requirements against code and tests, and the coverage table.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use crate::problem::{Problem, judge};
use crate::source::read_all;

mod audit;
mod citation;
mod coverage;
mod requirement;

#[cfg(test)]
mod tests;

/// The file of the coverage table.
const COVERAGE: &str = "spec/coverage.md";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail when spec/coverage.md is out of date
    #[arg(long)]
    pub check: bool,
}

/// Compares the requirements with the citations in code and tests, and writes the coverage.
///
/// # Errors
/// A requirement or a citation is invalid, or with `check` the coverage is out of date; each is printed.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let (mut problems, coverage) = examine(root)?;
    let path = root.join(COVERAGE);
    if !arguments.check {
        std::fs::write(&path, coverage).with_context(|| format!("cannot write {}", path.display()))?;
    } else if std::fs::read_to_string(&path).unwrap_or_default() != coverage {
        problems
            .push(Problem::new(COVERAGE, "is out of date; run `cargo xtask spec` and commit what it writes"));
    }
    judge(&problems)
}

/// The problems, and the text of the coverage.
fn examine(root: &Path) -> Result<(Vec<Problem>, String)> {
    let (documents, mut problems) = requirement::read_all(root)?;
    let citations = citation::find_all(&read_all(root, "crates", &["rs", "c", "h"])?);
    problems.extend(audit::audit(&documents, &citations));
    problems.sort();
    Ok((problems, coverage::render(&documents, &citations)))
}
