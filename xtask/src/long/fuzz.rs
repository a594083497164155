//! Every fuzz target for a given time, one after the other.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Runs fuzz targets with cargo-fuzz.
#[derive(Parser)]
#[command(name = "cargo xtask long fuzz")]
struct Arguments {
    /// How long each target runs, seconds
    #[arg(long, value_name = "N", default_value_t = 600)]
    seconds: u32,
    /// Longest input, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 2048)]
    max_len: u32,
    /// Targets; without any, all of them
    targets: Vec<String>,
}

/// Runs the targets named in `arguments`, also after a failure.
///
/// # Errors
/// cargo-fuzz is missing, a target does not exist, or a target failed; the message names each failed one.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("fuzz");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let known = targets(root)?;
    let targets = if arguments.targets.is_empty() { known.clone() } else { arguments.targets.clone() };
    for target in &targets {
        ensure!(known.contains(target), "no fuzz target `{target}`, expected one of: {}", known.join(", "));
    }

    let mut failed = Vec::new();
    for target in &targets {
        eprintln!("== {target}, {} s", arguments.seconds);
        if let Err(error) = finish(&mut command(root, target, &arguments)) {
            eprintln!("{target}: {error:#}");
            failed.push(target.as_str());
        }
    }
    ensure!(failed.is_empty(), "failed: {}; their inputs are in fuzz/artifacts", failed.join(", "));
    Ok(())
}

/// `cargo fuzz run` of one target. Its findings go into a separate corpus, so that the committed one stays
/// small.
fn command(root: &Path, target: &str, arguments: &Arguments) -> Command {
    let mut command = cargo(root);
    let found = Path::new("fuzz/target/found").join(target);
    // libFuzzer requires the directory to exist; where it cannot be created, libFuzzer reports it.
    drop(std::fs::create_dir_all(root.join(&found)));
    // The sanitizer is an unstable option of the compiler.
    command.env("RUSTC_BOOTSTRAP", "1");
    command.args(["fuzz", "run", target]).arg(found).arg(format!("fuzz/corpus/{target}"));
    command.arg("--").arg(format!("-max_total_time={}", arguments.seconds));
    command.arg(format!("-max_len={}", arguments.max_len)).arg("-print_final_stats=1");
    command
}

/// The targets of `fuzz/`, in alphabetical order.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let entries = folder.read_dir().with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}
