//! A network's history: stored, measured, and asked beside other engines.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish, target_directory};

/// Stores a network's history and asks what operators ask.
#[derive(Parser)]
#[command(name = "cargo xtask long history")]
struct Arguments {
    /// Rows that are stored
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000)]
    rows: u64,
    /// The Python that has `duckdb` and `chdb`
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
}

/// Builds what is needed in release mode, and prints one table.
///
/// # Errors
/// Something does not build, or a question has no answer.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("history");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let mut build = cargo(root);
    finish(build.args(["build", "--release", "--package", "inband", "--package", "inband-bench"]))?;
    let folder = std::env::temp_dir().join(format!("inband-history-{}", std::process::id()));
    let measured = measure(root, &target_directory(root).join("release"), &folder, &arguments);
    // What is left is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn measure(root: &Path, programs: &Path, store: &Path, arguments: &Arguments) -> Result<()> {
    let mut bench = std::process::Command::new(programs.join("inband-bench"));
    finish(bench.arg("--network").arg(store).args(["--rows", &arguments.rows.to_string()]))?;
    let mut table = std::process::Command::new(&arguments.python);
    table.arg(root.join("checks/history_table.py")).arg("--program").arg(programs.join("inband"));
    finish(table.arg("--store").arg(store))
}
