//! The benchmark program, of this tree and of another commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::{cargo, run as finish};

/// Builds the benchmarks of `tree` in release mode; returns the program.
///
/// # Errors
/// They do not build.
pub(crate) fn build(tree: &Path, target: &Path) -> Result<PathBuf> {
    let mut build = cargo(tree);
    build.args(["build", "--quiet", "--release", "--package", "inband-bench"]);
    finish(build.env("CARGO_TARGET_DIR", target))?;
    Ok(target.join("release/inband-bench"))
}

/// The output of a command.
///
/// # Errors
/// The command cannot be started, or does not succeed; the message contains its error output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start {program}; is it installed?"))?;
    // The sentence is followed by its position in the program.
    let said = String::from_utf8_lossy(&output.stderr);
    let sentence = said.split("\n\nStack backtrace").next().unwrap_or_default().trim();
    ensure!(output.status.success(), "{program}: {sentence}");
    String::from_utf8(output.stdout).with_context(|| format!("{program} does not print text"))
}

/// Runs `work` while `commit` is checked out in `worktree`.
///
/// # Errors
/// The commit cannot be checked out, or `work` fails.
pub(crate) fn in_worktree<T>(
    root: &Path,
    worktree: &Path,
    commit: &str,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let git = |arguments: &[&str], path: Option<&Path>, last: Option<&str>| {
        output(Command::new("git").current_dir(root).args(arguments).args(path).args(last))
    };
    git(&["worktree", "add", "--quiet", "--force", "--detach"], Some(worktree), Some(commit))?;
    let result = work();
    git(&["worktree", "remove", "--force"], Some(worktree), None)?;
    result
}
