//! A collector under load for an hour, with injected faults.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish, target_directory};

/// Prints the memory of the collector 60 times, and checks at the end that the sums balance. The faults:
/// killed senders, restarted nodes, damaged and duplicated datagrams, a collector that is stopped for half a
/// second.
#[derive(Parser)]
#[command(name = "cargo xtask long soak")]
struct Arguments {
    /// Duration, seconds
    #[arg(long, value_name = "N", default_value_t = 3_600)]
    seconds: u64,
    /// Reports a second
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    rate: u64,
    /// Maximum size of the history; the default is reached within half an hour, so that retention runs
    #[arg(long, value_name = "SIZE", default_value = "300MB")]
    max_size: String,
}

/// Runs the program's own test for that long, on the program as it is released.
///
/// # Errors
/// A sum does not balance, or the memory of the last minute is more than 1.05 times that at a tenth of the
/// time.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("soak");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    finish(cargo(root).args(["build", "--release", "-p", "inband", "--bin", "inband"]))?;
    let program = target_directory(root).join("release/inband");
    let mut command = cargo(root);
    command.env("PROGRAM", program).env("MAX_SIZE", &arguments.max_size);
    command.env("SECONDS", arguments.seconds.to_string()).env("REPORTS_A_SECOND", arguments.rate.to_string());
    command.args(["test", "-p", "inband", "--test", "program", "--", "--ignored", "--nocapture"]);
    finish(command.arg("memory_stays_and_sums_balance_under_load_with_faults"))
}
