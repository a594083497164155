//! The ledger against its model over thousands of random networks, with a fresh seed.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Counts the reports of random networks.
#[derive(Parser)]
#[command(name = "cargo xtask long ledger")]
struct Arguments {
    /// Number of networks
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    cases: u32,
    /// The seed; without it the time of day, and it is printed
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// Runs the collector's own test with more cases.
///
/// # Errors
/// A ledger did not balance, or a loss was not exact; the message contains the smallest network that shows
/// it.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("ledger");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = arguments.seed.unwrap_or(now.as_secs());
    let mut command = cargo(root);
    command.args(["test", "-p", "inband-collector", "--test", "ledgers"]);
    command.env("INBAND_LEDGERS", arguments.cases.to_string());
    command.env("PROPTEST_RNG_SEED", seed.to_string());
    eprintln!("== {} networks, seed {seed}", arguments.cases);
    finish(&mut command)
}
