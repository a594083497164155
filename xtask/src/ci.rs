//! Does the workspace pass every check?

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::cargo::{cargo, run as finish};
use crate::{bpf, layers, spec};

/// One check, by the name under which the summary lists it.
struct Step {
    name: &'static str,
    run: fn(&Path) -> Result<()>,
}

/// Quick checks first, so that a slip shows before the tests have been built.
const STEPS: [Step; 6] = [
    Step { name: "fmt", run: |root| finish(cargo(root).args(["fmt", "--all", "--check"])) },
    Step { name: "layers", run: layers::run },
    Step { name: "spec", run: |root| spec::run(root, &spec::Arguments { check: true }) },
    Step { name: "bpf", run: |root| bpf::run(root, &bpf::Arguments { check: true }) },
    Step { name: "clippy", run: clippy },
    Step { name: "test", run: |root| finish(cargo(root).args(["test", "--workspace"])) },
];

/// Runs every step, also after one has failed, and ends with a summary.
///
/// # Errors
/// A step failed; the message names each one that did.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut summary = Vec::new();
    let mut failed = Vec::new();
    for step in &STEPS {
        eprintln!("== {}", step.name);
        let started = Instant::now();
        let outcome = (step.run)(root);
        if let Err(error) = &outcome {
            eprintln!("{}: {error:#}", step.name);
            failed.push(step.name);
        }
        summary.push(summary_line(step.name, outcome.is_ok(), started.elapsed()));
    }

    eprintln!("== summary");
    for line in &summary {
        eprintln!("{line}");
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

fn clippy(root: &Path) -> Result<()> {
    finish(cargo(root).args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
}

fn summary_line(name: &str, passed: bool, elapsed: Duration) -> String {
    format!("{name:8} {:6} {:8.1} s", if passed { "ok" } else { "FAILED" }, elapsed.as_secs_f64())
}
