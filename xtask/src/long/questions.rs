//! The cost of API queries to reception.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{build_programs, run as finish};

/// Runs each kind of query a hundred times a second while the reports of 131,072 flows arrive.
#[derive(Parser)]
#[command(name = "cargo xtask long questions")]
struct Arguments {
    /// Number of measurements of each kind
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: u32,
    /// Only queries whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The Cargo profile of the programs
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: String,
    /// The Python that runs the check
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
}

/// Builds the programs and measures.
///
/// # Errors
/// The programs do not build, a query has no answer, or one costs reception more than 2 %.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("questions");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let programs = build_programs(root, &arguments.profile)?;
    let mut check = Command::new(&arguments.python);
    check.arg(root.join("checks/questions.py"));
    check.arg("--program").arg(programs.join("inband")).arg("--bench").arg(programs.join("inband-bench"));
    check.args(["--rounds", &arguments.rounds.to_string(), "--only", &arguments.only]);
    finish(&mut check)
}
