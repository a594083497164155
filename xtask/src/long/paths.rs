//! Paths of hundreds of flows whose reports overtake each other and are lost, over fabrics from fresh seeds.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Runs the flows, and prints for each fabric how many paths were right and how late changes were announced.
#[derive(Parser)]
#[command(name = "cargo xtask long paths")]
struct Arguments {
    /// Rounds of 60 fabrics each
    #[arg(long, value_name = "N", default_value_t = 4)]
    rounds: u32,
    /// Seed of the first round; default: the time
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

/// Runs the rounds selected by `arguments`.
///
/// # Errors
/// In one of the fabrics fewer than 99.9 % of the paths were right, or a change was not announced exactly
/// once.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("paths");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let mut command = cargo(root);
    command.env("ROUNDS", arguments.rounds.to_string());
    if let Some(seed) = arguments.seed {
        command.env("SEED", seed.to_string());
    }
    command.args(["test", "-p", "inband-collector", "--test", "overtaking", "--"]);
    finish(command.args(["--ignored", "--nocapture", "many_paths_over_many_fabrics_are_right"]))
}
