//! Thousands of API clients that are silent, slow or do not read, beside regular ones.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Measures how long `/healthz` and `/metrics` take meanwhile, in plain HTTP and over TLS.
#[derive(Parser)]
#[command(name = "cargo xtask long slow-clients")]
struct Arguments {
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    callers: u32,
    /// How often both are queried
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u32,
}

/// Runs the program's own test with that many clients.
///
/// # Errors
/// One in a hundred answers took longer than a tenth of a second, or was missing.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("slow-clients");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    // Each client is an open file of the test's process, which exceeds the limit of most shells.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n \"$(ulimit -Hn)\" && exec \"$0\" \"$@\""]).arg(cargo(root).get_program());
    command
        .current_dir(root)
        .env("CALLERS", arguments.callers.to_string())
        .env("ROUNDS", arguments.rounds.to_string());
    command.args(["test", "-p", "inband", "--test", "program", "--", "--ignored", "--nocapture"]);
    finish(command.arg("thousands_of_slow_callers_delay_nobody_by_a_tenth_of_a_second"))
}
