//! Measurement of the packet path and the report path.

use std::path::Path;

use anyhow::Result;
use clap::Args;

mod pairs;

use crate::cargo::{cargo, run as finish};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure just long enough to see that every row works
    #[arg(long)]
    pub quick: bool,
    /// Measure only the rows whose name contains this; `history`: only the store
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Measure one very hot switch alone: this many reports a second, for ten seconds
    #[arg(long, value_name = "PER_SECOND", num_args = 0..=1, default_missing_value = "487000")]
    pub hot: Option<u32>,
    #[command(flatten)]
    in_pairs: pairs::InPairs,
}

/// Builds the benchmarks in release mode and runs them.
///
/// # Errors
/// They do not build, a row cannot be measured, or one takes more than `--most` times the time of the other
/// commit.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    if let Some(commit) = &arguments.in_pairs.against {
        return pairs::run(root, commit, arguments.only.as_deref(), &arguments.in_pairs);
    }
    let mut command = cargo(root);
    command.args(["run", "--quiet", "--release", "--package", "inband-bench", "--"]);
    if arguments.quick {
        command.arg("--quick");
    }
    if let Some(only) = &arguments.only {
        command.args(["--only", only]);
    }
    if let Some(per_second) = arguments.hot {
        command.arg(format!("--hot={per_second}"));
    }
    finish(&mut command)
}
