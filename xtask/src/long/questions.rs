//! The cost of API queries to reception.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use super::programs::Programs;
use crate::cargo::run as finish;

/// Runs each kind of query a hundred times a second while the reports of 131,072 flows arrive.
#[derive(Parser)]
#[command(name = "cargo xtask long questions")]
struct Arguments {
    /// Rounds of each kind: a file, the query twice, the file
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(10..))]
    rounds: u32,
    /// Only queries whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    #[command(flatten)]
    programs: Programs,
}

/// Builds the programs and measures.
///
/// # Errors
/// The programs do not build, a query has no answer, or one costs reception more than 2 %.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("questions");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let folder = arguments.programs.build(root, &["inband", "inband-bench"])?;
    let mut check = arguments.programs.check(root, "questions.py", &folder);
    check.arg("--bench").arg(folder.join("inband-bench"));
    check.args(["--rounds", &arguments.rounds.to_string(), "--only", &arguments.only]);
    finish(&mut check)
}
