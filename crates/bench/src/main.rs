//! How fast are the packet path and the report path?

use anyhow::Result;
use clap::Parser;

mod domains;
mod fabric;
mod measure;
mod pool;
mod reports;
mod rows;
mod subjects;
mod table;

#[cfg(test)]
mod tests;

/// Measures source, transit hop and sink beside a bare memmove and etherparse, and the way of a report.
#[derive(Parser)]
#[command(after_help = "Example: cargo xtask bench")]
struct Arguments {
    /// Measure just long enough to see that every row works
    #[arg(long)]
    quick: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let rounds = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build, its times say nothing; use `cargo xtask bench`");
    }
    print!("{}", rows::report(rounds)?);
    Ok(())
}

/// Batches of each row: enough that the median settles within a few percent.
const ROUNDS: usize = 10_000;
const QUICK_ROUNDS: usize = 10;
