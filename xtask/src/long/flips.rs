//! Flipped bits and cut files in a thousand copies of a store, with a fresh seed.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Damages stores and queries them.
#[derive(Parser)]
#[command(name = "cargo xtask long flips")]
struct Arguments {
    /// Number of stores to damage
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    cases: u64,
    /// The first seed; without it the time of day, and it is printed
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// Runs the store's own test with more cases.
///
/// # Errors
/// An answer was wrong, or a loss was not reported; the message contains the seed of the case.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("flips");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = arguments.seed.unwrap_or(now.as_secs());
    let mut command = cargo(root);
    command.args(["test", "-p", "inband-store", "random_flips", "--", "--nocapture"]);
    command.env("INBAND_FLIPS", arguments.cases.to_string());
    command.env("INBAND_FLIPS_SEED", seed.to_string());
    eprintln!("== {} stores, seed {seed}", arguments.cases);
    finish(&mut command)
}
