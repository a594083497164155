//! A collector under load for an hour, with faults thrown in.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Prints the memory of the collector 60 times, and checks at the end that the sums balance. The faults: senders that are
/// killed, nodes that begin anew, damaged and doubled datagrams, a collector that is stopped for half a second.
#[derive(Parser)]
#[command(name = "cargo xtask long soak")]
struct Arguments {
    /// How long, seconds
    #[arg(long, value_name = "N", default_value_t = 3_600)]
    seconds: u64,
    /// Reports a second
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    rate: u64,
}

/// Runs the program's own test for as long as is asked for.
///
/// # Errors
/// A sum does not balance, or the memory of the last minute is more than 1.05 times that at a tenth of the time.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("soak");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let mut command = cargo(root);
    command.env("SECONDS", arguments.seconds.to_string()).env("REPORTS_A_SECOND", arguments.rate.to_string());
    command.args(["test", "-p", "inband", "--test", "program", "--", "--ignored", "--nocapture"]);
    finish(command.arg("memory_stays_and_sums_balance_under_load_with_faults"))
}
