//! The allowed dependencies between crates.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::cargo::cargo;
use crate::problem::Problem;

/// The crates of this workspace that a crate may depend on.
enum Uses {
    /// These crates, and nothing else.
    Only(&'static [&'static str]),
    /// Every crate that is not for tests.
    All,
    /// Every crate; only tests and measurements may depend on this one.
    ForTests,
}

/// The table of ARCHITECTURE.md.
const HOUSE: [(&str, Uses); 20] = [
    ("inband-wire", Uses::Only(&[])),
    ("inband-model", Uses::Only(&[])),
    ("inband-node", Uses::Only(&["inband-wire"])),
    ("inband-collector", Uses::Only(&["inband-wire", "inband-model"])),
    ("inband-store", Uses::Only(&["inband-model"])),
    ("inband-export", Uses::Only(&["inband-model", "inband-store"])),
    ("inband-page", Uses::Only(&[])),
    (
        "inband-server",
        Uses::Only(&[
            "inband-model",
            "inband-collector",
            "inband-store",
            "inband-page",
            "inband-capture",
            "inband-explain",
            "inband-export",
        ]),
    ),
    ("inband-sim", Uses::Only(&["inband-wire", "inband-node", "inband-model"])),
    ("inband-linux", Uses::Only(&[])),
    ("inband-switch", Uses::Only(&["inband-wire", "inband-node", "inband-linux", "inband-host"])),
    ("inband-lab", Uses::Only(&["inband-model", "inband-linux"])),
    ("inband-host", Uses::Only(&["inband-wire", "inband-node", "inband-model", "inband-linux"])),
    ("inband-capture", Uses::Only(&["inband-wire"])),
    ("inband-explain", Uses::Only(&["inband-wire", "inband-model"])),
    ("inband", Uses::All),
    ("inband-testkit", Uses::ForTests),
    ("inband-bench", Uses::ForTests),
    ("inband-fuzz", Uses::ForTests),
    ("xtask", Uses::ForTests),
];

/// Crates that do no I/O, and the external crates that would let them.
pub(super) const ENGINES: [&str; 5] = ["wire", "node", "collector", "sim", "explain"];
const IO_CRATES: [&str; 9] =
    ["async-std", "libc", "mio", "nix", "parking_lot", "rustix", "smol", "socket2", "tokio"];

/// The part of `cargo metadata` that is checked.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
    /// The folder of a crate of this workspace.
    path: Option<String>,
}

/// Checks the dependencies of every crate against the table.
///
/// # Errors
/// `cargo metadata` cannot read the workspace.
pub(super) fn check(root: &Path) -> Result<Vec<Problem>> {
    let metadata = metadata(root)?;
    Ok(metadata.packages.iter().flat_map(check_package).collect())
}

fn metadata(root: &Path) -> Result<Metadata> {
    let mut command = cargo(root);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let output = command.output().context("cannot start cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    serde_json::from_slice(&output.stdout).context("cannot read the answer of cargo metadata")
}

fn check_package(package: &Package) -> Vec<Problem> {
    let Some(uses) = uses(&package.name) else {
        return vec![Problem::new(
            &package.name,
            "this crate is not in the table of xtask/src/layers/walls.rs; decide what it may use",
        )];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .filter_map(|dependency| complaint(package, uses, dependency))
        .map(|what| Problem::new(&package.name, what))
        .collect()
}

/// Why `package` may not depend on `dependency`; `None` when it may.
fn complaint(package: &Package, uses: &Uses, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if dependency.path.is_none() {
        let pure = ENGINES.iter().any(|engine| package.name == format!("inband-{engine}"));
        return (pure && IO_CRATES.contains(&name))
            .then(|| format!("an engine does no I/O, so it may not use {name}"));
    }
    let for_tests = matches!(self::uses(name), Some(Uses::ForTests));
    match uses {
        Uses::Only(allowed) if !allowed.contains(&name) => Some(format!(
            "may not use {name}, only {}",
            if allowed.is_empty() { "nothing of ours".into() } else { allowed.join(", ") }
        )),
        Uses::All if for_tests => Some(format!("may use {name} in tests only")),
        _ => None,
    }
}

fn uses(name: &str) -> Option<&'static Uses> {
    HOUSE.iter().find(|(known, _)| *known == name).map(|(_, uses)| uses)
}
