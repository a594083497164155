//! Times of this tree's rows beside another commit's, with the two programs alternating.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::benchmarks::{build, in_worktree, output};
use crate::cargo::target_directory;

#[derive(Args)]
pub(super) struct InPairs {
    /// Alternate with the benchmarks of this commit; they must know `--rounds`
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["quick", "hot"])]
    pub against: Option<String>,
    /// How often each of the two is measured
    #[arg(long, value_name = "NUMBER", default_value_t = 21, requires = "against")]
    pairs: u32,
    /// Batches of each row in a measurement of a pair
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, requires = "against")]
    rounds: u32,
    /// Fail when a row certainly takes more than this many times the time of the other commit
    #[arg(long, value_name = "TIMES", default_value_t = 1.05, requires = "against")]
    most: f64,
}

/// Nanoseconds per item by the name of its row, in the order of the rows.
type Times = Vec<(String, f64)>;

/// Builds both programs, runs them alternately, and prints for each row the median of the ratios of its pairs
/// with its 95 % interval.
///
/// # Errors
/// A program does not build, a row cannot be measured, or the upper end of an interval is over `--most`.
pub(super) fn run(root: &Path, commit: &str, only: Option<&str>, arguments: &InPairs) -> Result<()> {
    ensure!(arguments.pairs >= MIN_PAIRS, "an interval takes at least {MIN_PAIRS} pairs");
    let target = target_directory(root).join("instructions");
    let worktree = target.join("tree");
    let (before, after) = (target.join("inband-bench-before"), target.join("inband-bench-after"));
    // Both programs are built in one folder, so each is copied out before the other is built.
    in_worktree(root, &worktree, commit, || keep(&build(&worktree, &target)?, &before))?;
    keep(&build(root, &target)?, &after)?;

    let mut pairs = Vec::new();
    for number in 0..arguments.pairs {
        // The first of a pair may find the processor as another program left it, so they alternate in this as
        // well.
        let (first, second) = if number % 2 == 0 { (&before, &after) } else { (&after, &before) };
        let (one, other) = (measure(first, only, arguments)?, measure(second, only, arguments)?);
        pairs.push(if number % 2 == 0 { (one, other) } else { (other, one) });
    }
    let over = compare(&pairs, arguments.most);
    ensure!(
        over.is_empty(),
        "surely more than {} times the time of {commit}: {}",
        arguments.most,
        over.join("; ")
    );
    Ok(())
}

fn keep(program: &Path, place: &Path) -> Result<()> {
    fs::copy(program, place).with_context(|| format!("cannot write {}", place.display()))?;
    Ok(())
}

/// One measurement of the rows.
fn measure(program: &Path, only: Option<&str>, arguments: &InPairs) -> Result<Times> {
    let mut command = Command::new(program);
    // Every name contains the empty text; `--only` measures nothing but rows.
    command.args(["--only", only.unwrap_or_default()]);
    Ok(times(&output(command.args(["--rounds", &arguments.rounds.to_string()]))?))
}

/// The rows of the table printed by a program, which an empty line ends.
fn times(table: &str) -> Times {
    table
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, cells) = line.split_once("  ")?;
            let median = cells.split_whitespace().next()?;
            Some((name.to_owned(), median.parse().ok()?))
        })
        .collect()
}

/// Prints the table; returns the rows that are over `most`.
fn compare(pairs: &[(Times, Times)], most: f64) -> Vec<String> {
    println!("{:>6}  {:>15}  {:>10}  {:>10}", "ratio", "95 % interval", "before ns", "after ns");
    let Some((_, rows)) = pairs.first() else { return Vec::new() };
    let by_name = |times: &Times| times.iter().cloned().collect::<BTreeMap<String, f64>>();
    let pairs: Vec<_> = pairs.iter().map(|(before, after)| (by_name(before), by_name(after))).collect();
    let mut over = Vec::new();
    for (name, _) in rows {
        let of = |(before, after): &(BTreeMap<String, f64>, BTreeMap<String, f64>)| {
            Some((*before.get(name)?, *after.get(name)?))
        };
        let times: Vec<(f64, f64)> = pairs.iter().filter_map(of).collect();
        let mut ratios: Vec<f64> = times.iter().map(|(before, after)| after / before).collect();
        let Some((low, median, high)) = interval(&mut ratios) else { continue };
        let (before, after) = times.into_iter().unzip();
        println!(
            "{median:>6.3}  {:>15}  {:>10.1}  {:>10.1}  {name}",
            format!("{low:.3} to {high:.3}"),
            middle(before),
            middle(after)
        );
        if high > most {
            over.push(name.clone());
        }
    }
    over
}

/// The median, between the ends of its interval of at least 95 %, which are measured values: no shape of
/// their distribution is assumed. `None` for fewer than [`MIN_PAIRS`].
fn interval(ratios: &mut [f64]) -> Option<(f64, f64, f64)> {
    ratios.sort_unstable_by(f64::total_cmp);
    let rank = (1..=ratios.len() / 2).rev().find(|rank| outside(ratios.len(), *rank) <= 0.05)?;
    Some((ratios[rank - 1], ratios[ratios.len() / 2], ratios[ratios.len() - rank]))
}

/// The probability that the true median lies outside the `rank`-th smallest and largest of `count` values:
/// that `count` throws of a coin show fewer than `rank` heads, or fewer than `rank` tails.
fn outside(count: usize, rank: usize) -> f64 {
    let mut term = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for heads in 0..rank {
        sum += term;
        term *= (count - heads) as f64 / (heads + 1) as f64;
    }
    2.0 * sum
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The smallest number of values whose lowest and highest are a 95 % interval of their median.
const MIN_PAIRS: u32 = 6;

#[cfg(test)]
mod tests {
    use super::{interval, times};

    #[test]
    fn rows_are_read_from_a_table() {
        let table = "\
                              median ns  least ns  million/s
source, 100 B                     101.5      99.0       9.85       3.10
XD, filter none, 256 flows         55.0      50.0      18.18

Times are of one packet  1.0
";
        assert_eq!(
            times(table),
            [("source, 100 B".to_owned(), 101.5), ("XD, filter none, 256 flows".to_owned(), 55.0)]
        );
    }

    #[test]
    fn an_interval_is_the_sixth_value_from_each_end_of_twenty_one() {
        let mut ratios: Vec<f64> = (0..21).rev().map(f64::from).collect();
        assert_eq!(interval(&mut ratios), Some((5.0, 10.0, 15.0)));
        assert_eq!(interval(&mut ratios[..6]), Some((0.0, 3.0, 5.0)));
        assert_eq!(interval(&mut ratios[..5]), None);
    }
}
