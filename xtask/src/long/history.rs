//! A network's history: stored, measured, and asked beside other engines.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish, target_directory};

/// Stores a network's history and asks what operators ask of it beside other engines; then stores a longer one and asks the
/// API, also while a million flows are reported, and while ten clients ask at once.
#[derive(Parser)]
#[command(name = "cargo xtask long history")]
struct Arguments {
    /// Rows that are stored
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000)]
    rows: u64,
    /// Rows that are stored for the API; 0: it is not asked
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000_000)]
    api_rows: u64,
    /// The Cargo profile of the programs
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: String,
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
    let profile = ["build", "--profile", &arguments.profile];
    finish(build.args(profile).args(["--package", "inband", "--package", "inband-bench"]))?;
    let folder = std::env::temp_dir().join(format!("inband-history-{}", std::process::id()));
    let measured = measure(root, &target_directory(root).join(&arguments.profile), &folder, &arguments);
    // What is left is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn measure(root: &Path, programs: &Path, store: &Path, arguments: &Arguments) -> Result<()> {
    let (program, bench) = (programs.join("inband"), programs.join("inband-bench"));
    let short = store.join("short");
    std::fs::create_dir_all(store)?;
    finish(
        std::process::Command::new(&bench)
            .arg("--network")
            .arg(&short)
            .args(["--rows", &arguments.rows.to_string()]),
    )?;
    let mut table = std::process::Command::new(&arguments.python);
    table.arg(root.join("checks/history_table.py")).arg("--program").arg(&program);
    finish(table.arg("--store").arg(&short))?;
    if arguments.api_rows == 0 {
        return Ok(());
    }
    std::fs::remove_dir_all(&short)?;
    let mut asked = std::process::Command::new(&arguments.python);
    asked.arg(root.join("checks/history_api.py")).arg("--program").arg(program).arg("--bench").arg(bench);
    finish(asked.arg("--store").arg(store.join("long")).args(["--rows", &arguments.api_rows.to_string()]))
}
