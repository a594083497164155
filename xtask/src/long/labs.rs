//! Every lesson of `examples/lab`, on real network namespaces.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::cargo::{cargo, run as finish, target_directory};

/// Runs the examples with `inband lab run`, one after the other; each takes about ten seconds. Needs root,
/// and the address of the collector's API, 127.0.0.1:8080.
#[derive(Parser)]
#[command(name = "cargo xtask long labs")]
struct Arguments {
    /// How often each example runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: u32,
    /// Only examples whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// Builds the program and runs the examples, also after a failure.
///
/// # Errors
/// An example did not meet its expectations; the message names each one that did not.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("labs");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    finish(cargo(root).args(["build", "--quiet", "--package", "inband"]))?;
    let program = target_directory(root).join("debug/inband");
    let examples = examples(root, &arguments.only)?;
    ensure!(!examples.is_empty(), "no example has `{}` in its name", arguments.only);

    let mut failed = Vec::new();
    for round in 1..=arguments.rounds {
        for example in &examples {
            eprintln!("== {}, round {round}", example.display());
            let mut command = Command::new(&program);
            if let Err(error) = finish(command.current_dir(root).args(["lab", "run"]).arg(example)) {
                eprintln!("{}: {error:#}", example.display());
                failed.push(format!("{} in round {round}", example.display()));
            }
        }
    }
    ensure!(failed.is_empty(), "not as expected: {}", failed.join(", "));
    Ok(())
}

/// The topologies of `examples/lab`, by name.
fn examples(root: &Path, only: &str) -> Result<Vec<PathBuf>> {
    let folder = root.join("examples/lab");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut examples = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_asked_for = path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(only));
        if is_asked_for && path.extension().is_some_and(|extension| extension == "toml") {
            examples.push(path);
        }
    }
    examples.sort();
    Ok(examples)
}
