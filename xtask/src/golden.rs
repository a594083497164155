//! Comparison of the program's output with the golden directories.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use crate::cargo::{cargo, run as finish};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write what the program prints into the golden directories; read the diff before committing it
    #[arg(long)]
    pub bless: bool,
}

/// Runs the golden tests of the program.
///
/// # Errors
/// A golden differs, or the tests do not build.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let mut command = cargo(root);
    command.args(["test", "--package", "inband", "--test", "golden"]);
    if arguments.bless {
        command.env("INBAND_BLESS", "1");
    }
    finish(&mut command)
}
