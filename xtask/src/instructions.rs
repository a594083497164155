//! Instructions per packet and per report, of this tree beside another commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::benchmarks::{build, in_worktree, output};
use crate::cargo::target_directory;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The commit to compare with; its benchmarks must know `--count`
    #[arg(long, value_name = "COMMIT")]
    against: Option<String>,
    /// Count only the rows of `cargo xtask bench` whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Fail when a row takes more than this many times the instructions of the other commit
    #[arg(long, value_name = "TIMES", default_value_t = 1.03)]
    most: f64,
}

/// Instructions per item of each row, in the order of the rows.
type Counts = Vec<(String, f64)>;

/// The rows of a tree that must be countable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// All of them.
    All,
    /// Those that can be counted: benchmarks of another commit may have faults that this tree does not have.
    Countable,
}

/// Counts the instructions of every row under callgrind, and compares them with those of another commit.
///
/// # Errors
/// valgrind is missing, a tree does not build, or a row takes more than `--most` times the instructions.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let target = target_directory(root).join("instructions");
    let only = arguments.only.as_deref();
    let counts = count(root, &target, only, Rows::All)?;
    let Some(commit) = &arguments.against else {
        for (name, count) in &counts {
            println!("{count:>10.1}  {name}");
        }
        return Ok(());
    };
    let worktree = target.join("tree");
    let before = in_worktree(root, &worktree, commit, || count(&worktree, &target, only, Rows::Countable))?;
    let over = compare(&before, &counts, arguments.most);
    ensure!(
        over.is_empty(),
        "more than {} times the instructions of {commit}: {}",
        arguments.most,
        over.join("; ")
    );
    Ok(())
}

/// Prints the table; returns the rows that are over `most`.
fn compare(before: &Counts, after: &Counts, most: f64) -> Vec<String> {
    let before: BTreeMap<&str, f64> = before.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    println!("{:>10}  {:>10}  {:>6}", "before", "after", "ratio");
    let mut over = Vec::new();
    for (name, count) in after {
        let Some(other) = before.get(name.as_str()) else {
            println!("{:>10}  {count:>10.1}  {:>6}  {name}", "", "");
            continue;
        };
        let ratio = count / other;
        println!("{other:>10.1}  {count:>10.1}  {ratio:>6.3}  {name}");
        if ratio > most {
            over.push(name.clone());
        }
    }
    over
}

/// Builds the benchmarks of `tree` and counts the instructions of each row.
fn count(tree: &Path, target: &Path, only: Option<&str>, rows: Rows) -> Result<Counts> {
    let program = build(tree, target)?;
    let names = output(Command::new(&program).arg("--names"))?;
    let mut counts = Vec::new();
    for name in names.lines().filter(|name| only.is_none_or(|only| name.contains(only))) {
        match count_row(&program, target, name) {
            Ok(count) => counts.push((name.to_owned(), count)),
            Err(error) if rows == Rows::Countable => eprintln!("not counted there: {name}: {error}"),
            Err(error) => return Err(error),
        }
    }
    Ok(counts)
}

/// Counts the instructions per item of one row.
fn count_row(program: &Path, target: &Path, name: &str) -> Result<f64> {
    let profile = target.join("callgrind.out");
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*counted_batch*"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .args(["--count", name]);
    let items: f64 = output(&mut command)?.trim().parse().with_context(|| format!("items of {name}"))?;
    let text = fs::read_to_string(&profile).with_context(|| format!("cannot read {}", profile.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total: f64 =
        total.and_then(|total| total.trim().parse().ok()).context("callgrind writes no total")?;
    Ok(total / items)
}
