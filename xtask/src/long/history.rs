//! A network's history: stored, measured, and queried beside other engines.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Parser;

use super::programs::Programs;
use crate::cargo::run as finish;

/// Stores a network's history and runs the queries of operators beside other engines, and kills collectors
/// that store one; then stores a longer one and queries the API, also while a million flows are reported, and
/// with ten clients at once.
#[derive(Parser)]
#[command(name = "cargo xtask long history")]
struct Arguments {
    /// Number of rows to store
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000)]
    rows: u64,
    /// Number of rows to store for the API; 0: the API is not queried
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000_000)]
    api_rows: u64,
    #[command(flatten)]
    programs: Programs,
}

/// Builds the programs, measures, and ends with a table of the results, the limits, and whether they are met.
///
/// # Errors
/// A program does not build, a query has no answer, or a limit is not met.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("history");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let programs = arguments.programs.build(root, &["inband", "inband-bench"])?;
    let folder = std::env::temp_dir().join(format!("inband-history-{}", std::process::id()));
    let measured = measure(root, &programs, &folder, &arguments);
    // A leftover is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn measure(root: &Path, programs: &Path, store: &Path, arguments: &Arguments) -> Result<()> {
    let bench = programs.join("inband-bench");
    let (short, verdicts) = (store.join("short"), store.join("verdicts"));
    std::fs::create_dir_all(store)?;
    let mut stored = Command::new(&bench);
    finish(stored.arg("--network").arg(&short).args(["--rows", &arguments.rows.to_string()]))?;
    let check = |script: &str| {
        let mut command = arguments.programs.check(root, script, programs);
        command.arg("--verdicts").arg(&verdicts);
        command
    };
    let table = finish(check("history_table.py").arg("--store").arg(&short));
    let kills = finish(check("history_kills.py").arg("--bench").arg(&bench));
    let mut asked = Ok(());
    if arguments.api_rows > 0 {
        std::fs::remove_dir_all(&short)?;
        let mut api = check("history_api.py");
        api.arg("--bench").arg(&bench).arg("--store").arg(store.join("long"));
        asked = finish(api.args(["--rows", &arguments.api_rows.to_string()]));
    }
    let lines = std::fs::read_to_string(&verdicts).unwrap_or_default();
    println!("\n{:44}{:>12}{:>12}{:>14}  met\n{lines}", "question", "p95 cold", "p95 warm", "limit");
    table.and(kills).and(asked)
}
