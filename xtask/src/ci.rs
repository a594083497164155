//! Every check of the workspace, in one list.

use std::io::{BufRead, BufReader};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::cargo::{cargo, run as finish};
use crate::source::files;
use crate::{bpf, layers, page, spec};

/// Which checks run, and on which features.
#[derive(Args, Debug, Default)]
pub(crate) struct Arguments {
    /// Only these checks: fmt, layers, spec, bpf, page, clippy, outside, test
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Features that are not built by default, to be linted and tested too, such as inband/nats,inband/kafka
    #[arg(long, value_name = "FEATURES")]
    features: Option<String>,
}

/// One check, with its name in the summary.
struct Step {
    name: &'static str,
    run: fn(&Path, &Arguments) -> Result<()>,
}

/// Quick checks first, so that a slip shows before the tests are built; the tests last, so that their summary
/// ends the output.
const STEPS: [Step; 8] = [
    Step { name: "fmt", run: |root, _| fmt(root) },
    Step { name: "layers", run: |root, _| layers::run(root) },
    Step { name: "spec", run: |root, _| spec::run(root, &spec::Arguments { check: true }) },
    Step { name: "bpf", run: |root, _| bpf::run(root, &bpf::Arguments { check: true }) },
    Step { name: "page", run: |root, _| page::run(root, &page::Arguments { check: true }) },
    Step { name: "clippy", run: clippy },
    Step { name: "outside", run: outside },
    Step { name: "test", run: test },
];

/// Runs the checks, also after a failure, and prints a summary before the tests.
///
/// # Errors
/// A check failed, or does not exist; the message names it.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        ensure!(names.contains(&name.as_str()), "there is no check {name}, only {}", names.join(", "));
    }
    let asked =
        |step: &&Step| arguments.only.is_empty() || arguments.only.iter().any(|name| name == step.name);
    let (tests, checks): (Vec<&Step>, Vec<&Step>) =
        STEPS.iter().filter(asked).partition(|step| step.name == "test");

    let mut failed = Vec::new();
    let mut summary = Vec::new();
    for step in checks {
        summary.push(take(step, root, arguments, &mut failed));
    }
    eprintln!("== summary of the checks");
    for line in &summary {
        eprintln!("{line}");
    }
    for step in tests {
        take(step, root, arguments, &mut failed);
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join("; "));
    Ok(())
}

/// Runs one check and returns its line of the summary. Its error is added to `failed`.
fn take(step: &Step, root: &Path, arguments: &Arguments, failed: &mut Vec<String>) -> String {
    eprintln!("== {}", step.name);
    let started = Instant::now();
    let outcome = (step.run)(root, arguments);
    if let Err(error) = &outcome {
        let error = format!("{}: {error:#}", step.name);
        eprintln!("{error}");
        failed.push(error);
    }
    summary_line(step.name, outcome.is_ok(), started.elapsed())
}

/// Checks the format of all sources: cargo misses the modules that a macro declares.
fn fmt(root: &Path) -> Result<()> {
    finish(cargo(root).args(["fmt", "--all", "--check"]))?;
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.current_dir(root).args(["--check", "--edition", "2024"]);
    let status =
        rustfmt.args(files(&root.join("crates"), &["rs"])?).status().context("cannot start rustfmt")?;
    ensure!(status.success(), "rustfmt --check: {status}");
    Ok(())
}

fn clippy(root: &Path, arguments: &Arguments) -> Result<()> {
    let strict = ["--all-targets", "--quiet", "--", "-D", "warnings"];
    finish(cargo(root).args(["clippy", "--workspace"]).args(strict))?;
    let Some(features) = &arguments.features else { return Ok(()) };
    let mut command = cargo(root);
    command.args(["clippy", "--package", "inband", "--package", "inband-server", "--features", features]);
    finish(command.args(strict))
}

/// Runs the external checks of the program that the tests use too.
///
/// # Errors
/// One of them fails; the message has the lines that say so.
fn outside(root: &Path, arguments: &Arguments) -> Result<()> {
    let mut command = Command::new("checks/run");
    command.current_dir(root).stdout(Stdio::piped());
    command.env("FEATURES", arguments.features.as_deref().unwrap_or_default());
    let mut child = command.spawn().context("cannot start checks/run")?;
    let mut failures = String::new();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(|output| output.split(b'\n')) {
        let line = line.context("cannot read the output of checks/run")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if line.contains("FAILED") {
            failures = failures + "\n" + &line;
        }
    }
    let status = child.wait().context("cannot wait for checks/run")?;
    ensure!(status.success(), "checks/run: {status}{failures}");
    Ok(())
}

/// Runs the tests. The property tests draw the same cases whenever the same tree is tested, and other cases
/// when anything changes.
fn test(root: &Path, arguments: &Arguments) -> Result<()> {
    let mut command = cargo(root);
    command.args(["test", "--workspace"]);
    if let Some(features) = &arguments.features {
        command.args(["--features", features]);
    }
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        // Many tests wait for networks and timers rather than for a processor.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        command.env("RUST_TEST_THREADS", (3 * processors).to_string());
    }
    if let Some(seed) = seed(root) {
        eprintln!("the properties' seed is {seed}");
        command.env("PROPTEST_RNG_SEED", seed.to_string());
    }
    finish(&mut command)
}

/// The first 60 bits of the committed tree's hash; `None` outside a checkout.
fn seed(root: &Path) -> Option<u64> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["rev-parse", "--short=15", "HEAD^{tree}"])
        .output()
        .ok()?;
    u64::from_str_radix(std::str::from_utf8(&output.stdout).ok()?.trim(), 16).ok()
}

fn summary_line(name: &str, passed: bool, elapsed: Duration) -> String {
    format!("{name:8} {:6} {:8.1} s", if passed { "ok" } else { "FAILED" }, elapsed.as_secs_f64())
}
