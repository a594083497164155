//! Benchmarks of the packet path and the report path.

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

mod domains;
mod fabric;
mod folder;
mod history;
mod hot;
mod measure;
mod network;
mod pool;
mod reports;
mod rows;
mod subjects;
mod table;
mod trace;
mod traffic;

#[cfg(test)]
mod tests;

/// Measures source, transit hop and sink beside a bare memmove and etherparse, and the path of a report.
#[derive(Parser)]
#[command(after_help = "Example: cargo xtask bench")]
struct Arguments {
    /// Measure just long enough to see that every row works
    #[arg(long)]
    quick: bool,
    /// Measure only the rows whose name contains this; `history`: only the store
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Batches of each row
    #[arg(long, value_name = "NUMBER", conflicts_with = "quick")]
    rounds: Option<usize>,
    /// Measure one very hot switch alone: this many reports a second, for ten seconds
    #[arg(long, value_name = "PER_SECOND", num_args = 0..=1, default_missing_value = "487000")]
    hot: Option<u32>,
    /// Print the names of the rows, a line each
    #[arg(long)]
    names: bool,
    /// Run the row with this name once, for `cargo xtask instructions`, and print how many items it handled
    #[arg(long, value_name = "NAME")]
    count: Option<String>,
    /// Store the history of a network in this new directory, and keep it
    #[arg(long, value_name = "DIRECTORY")]
    network: Option<PathBuf>,
    /// Number of rows to store
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000, requires = "network")]
    rows: u64,
    /// Number of runs, with everything beside it; fails when a report is lost
    #[arg(long, value_name = "N", requires = "hot")]
    runs: Option<u32>,
    #[command(flatten)]
    traffic: traffic::TrafficArguments,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(per_second) = arguments.hot {
        let seconds = if arguments.quick { 1 } else { 10 };
        if let Some(runs) = arguments.runs {
            return hot::reports(runs, seconds, per_second);
        }
        for beside in [hot::Beside::Nothing, hot::Beside::Store, hot::Beside::All] {
            println!("{}", hot::report(seconds, per_second, beside)?);
        }
        return Ok(());
    }
    if let Some(sent) = traffic::run(&arguments.traffic) {
        print!("{}", sent?);
        return Ok(());
    }
    if arguments.names {
        print!("{}", rows::names()?);
        return Ok(());
    }
    if let Some(name) = &arguments.count {
        println!("{}", rows::count(name)?);
        return Ok(());
    }
    if let Some(path) = &arguments.network {
        println!("{}", network::report(path, arguments.rows)?);
        return Ok(());
    }
    let rounds = arguments.rounds.unwrap_or(if arguments.quick { QUICK_ROUNDS } else { ROUNDS });
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build, its times say nothing; use `cargo xtask bench`");
    }
    let only = arguments.only.as_deref();
    let reports = if arguments.quick { QUICK_REPORTS } else { REPORTS };
    if only == Some("history") {
        println!("{}", history::report(reports)?);
        return Ok(());
    }
    print!("{}", rows::report(rounds, only)?);
    if only.is_some() {
        return Ok(());
    }
    let (flows, remembered) = if arguments.quick { QUICK_TRACE } else { TRACE };
    println!("\n{}", trace::score(flows, remembered)?);
    println!("\n{}", history::report(reports)?);
    Ok(())
}

/// Batches of each row: enough that the median settles within a few percent.
const ROUNDS: usize = 10_000;
const QUICK_ROUNDS: usize = 10;
/// Flows of the trace, and how many of them the filter remembers exactly: the default of a node.
const TRACE: (u32, u32) = (900_000, 65_536);
/// The same for a quick run.
const QUICK_TRACE: (u32, u32) = (9_000, 656);
/// Reports of five hops each that are stored and queried.
const REPORTS: u32 = 1_000_000;
/// The same for a quick run.
const QUICK_REPORTS: u32 = 10_000;
