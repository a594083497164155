//! Long checks of the web page.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish, target_directory};

/// Measures the page in a headless browser beside a demo, and beside a collector that receives a million
/// flows of 2,000 nodes over loopback: first paint, frames also at 3840 by 2160, memory after an hour, a day
/// of history, data of other origin, times in other zones, the colours of flows under colour blindness. Needs what `checks/page.py`
/// needs; `PYTHON` names its interpreter.
#[derive(Parser)]
#[command(name = "cargo xtask long page")]
struct Arguments {
    /// Seconds the page stays open to measure its memory
    #[arg(long, value_name = "N", default_value_t = 3600)]
    seconds: u32,
    /// Flows of the large network
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    flows: u32,
    /// Only checks whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// Builds the program and runs the checks of the page.
///
/// # Errors
/// A check failed, or the machine draws too slowly to conclude anything.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("page");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let mut build = cargo(root);
    build.args(["build", "--quiet", "--profile", "quick", "--package", "inband"]);
    finish(&mut build)?;
    let program = target_directory(root).join("quick/inband");
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.current_dir(root).arg("checks/page_long.py").arg("--program").arg(program);
    command.arg(format!("--seconds={}", arguments.seconds)).arg(format!("--flows={}", arguments.flows));
    finish(command.arg(format!("--only={}", arguments.only)))
}
