//! The committed web page, built from or compared with its sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

const SOURCES: &str = "crates/page/web";
const BUILT: &str = "crates/page/dist";

/// What to do with the page.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only compare; report and succeed where npm or its registry is unavailable
    #[arg(long)]
    pub(crate) check: bool,
}

/// Builds the page in a separate directory, and writes it or compares it with the committed one.
///
/// # Errors
/// npm is missing (without `--check`), a source has type errors, or the committed page differs.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let is_installed =
        npm().arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !is_installed && arguments.check {
        println!("skipped: npm is not installed");
        return Ok(());
    }
    ensure!(is_installed, "npm is not installed: apt-get install nodejs npm");
    let place = Place(std::env::temp_dir().join(format!("inband-page-{}", std::process::id())));
    let web = place.0.join("web");
    copy(&root.join(SOURCES), &web)?;
    if !install(&web, arguments.check)? {
        println!("skipped: npm's registry cannot be reached");
        return Ok(());
    }
    node(&web, &["node_modules/typescript/bin/tsc", "--noEmit"])?;
    node(&web, &["build.mjs", "../dist"])?;
    settle(&place.0.join("dist"), &root.join(BUILT), arguments)
}

/// A directory that is removed when it is dropped.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        // A leftover is among temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies the sources, without anything installed beside them.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == "node_modules" => {}
            true => copy(&entry.path(), &target)?,
            false => {
                fs::copy(entry.path(), &target)
                    .with_context(|| format!("cannot write {}", target.display()))?;
            }
        }
    }
    Ok(())
}

/// Installs what the lock file names; false where the registry is unreachable and that is no failure.
fn install(web: &Path, is_check: bool) -> Result<bool> {
    let output = npm()
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(web)
        .output()
        .context("cannot start npm")?;
    if output.status.success() {
        return Ok(true);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let is_away = ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH"];
    if is_check && is_away.iter().any(|code| said.contains(code)) {
        return Ok(false);
    }
    bail!("npm ci: {}\n{said}", output.status)
}

fn node(web: &Path, arguments: &[&str]) -> Result<()> {
    let status =
        Command::new("node").args(arguments).current_dir(web).status().context("cannot start node")?;
    ensure!(status.success(), "node {}: {status}", arguments.join(" "));
    Ok(())
}

fn npm() -> Command {
    Command::new("npm")
}

fn settle(built: &Path, committed: &Path, arguments: &Arguments) -> Result<()> {
    let (new, old) = (files(built)?, files(committed)?);
    if new == old {
        return Ok(());
    }
    let names = new.keys().chain(old.keys()).filter(|name| new.get(*name) != old.get(*name));
    let mut changed: Vec<&str> = names.map(String::as_str).collect();
    changed.dedup();
    ensure!(
        !arguments.check,
        "{} of {BUILT} not what the sources make; run `cargo xtask page` and commit it",
        changed.join(", ")
    );
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        fs::remove_file(committed.join(name)).with_context(|| format!("cannot remove {name}"))?;
    }
    for (name, bytes) in &new {
        fs::write(committed.join(name), bytes).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

fn files(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let file = |entry: std::io::Result<fs::DirEntry>| -> Result<(String, Vec<u8>)> {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?))
    };
    entries.map(file).collect()
}
