//! One very hot switch, run repeatedly without any loss.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Sends 487,000 reports of 256 bytes a second for ten seconds to one socket, with history, an API under
/// queries and JSON Lines beside it, and prints for each run what was lost and where: in the kernel, in the
/// queue after the socket, or in the store.
#[derive(Parser)]
#[command(name = "cargo xtask long hot-switch")]
struct Arguments {
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: u32,
    /// Reports a second
    #[arg(long, value_name = "N", default_value_t = 487_000)]
    rate: u32,
}

/// Builds the benchmarks in release mode and runs them.
///
/// # Errors
/// A report was lost, or a sum does not balance.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("hot-switch");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let mut command = cargo(root);
    command.args(["run", "--quiet", "--release", "--package", "inband-bench", "--"]);
    finish(command.arg(format!("--hot={}", arguments.rate)).arg(format!("--runs={}", arguments.runs)))
}
