//! The checks that take too long for every push, by name.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;

mod fabric;
mod flips;
mod fuzz;
mod history;
mod host;
mod hot_switch;
mod labs;
mod ledger;
mod page;
mod paths;
mod programs;
mod questions;
mod slow_clients;
mod soak;

/// One long check, with its name for `cargo xtask long`.
struct Check {
    name: &'static str,
    /// What it establishes, in one line.
    about: &'static str,
    /// Runs it in the workspace at this path, with the arguments that follow the name.
    run: fn(&Path, &[String]) -> Result<()>,
}

/// Every long check. A new one gets a file in `long/` and a row here.
const CHECKS: &[Check] = &[
    Check {
        name: "fuzz",
        about: "runs every fuzz target for ten minutes, or [TARGET]... for --seconds N",
        run: fuzz::run,
    },
    Check {
        name: "fabric",
        about: "sends ten million packets, or --packets N, through fabrics of 4 leaves, 2 spines and 8 hosts: none changes, paths are those of the routes; faults raise their events alone",
        run: fabric::run,
    },
    Check {
        name: "flips",
        about: "damages a thousand stores, or --cases N: no wrong answer, and every loss is named",
        run: flips::run,
    },
    Check {
        name: "history",
        about: "stores ten million rows of a network, or --rows N, and asks them beside DuckDB and ClickHouse (chdb); kills collectors; the API over 10^8, or --api-rows N",
        run: history::run,
    },
    Check {
        name: "host",
        about: "sends every kind of traffic between hosts over every network, with every encapsulation: no byte changes",
        run: host::matrix,
    },
    Check {
        name: "host-cost",
        about: "measures what INT costs a host beside none, medians of 10 rounds in turn or --rounds N; nothing is reordered",
        run: host::cost,
    },
    Check {
        name: "host-kills",
        about: "kills agents, shims and devices of hosts a thousand times, or --kills N: no connection breaks",
        run: host::kills,
    },
    Check {
        name: "hot-switch",
        about: "sends 487,000 reports a second to one socket for ten seconds, 20 times or --runs N: none is lost",
        run: hot_switch::run,
    },
    Check {
        name: "labs",
        about: "runs every lab of examples/lab, or --only TEXT: each is as its expectations say",
        run: labs::run,
    },
    Check {
        name: "page",
        about: "looks at the page in a browser for an hour, or --seconds N: paint, frames, memory, colours",
        run: page::run,
    },
    Check {
        name: "ledger",
        about: "counts the reports of 2,000 random networks, or --cases N: sums balance, and losses are exact",
        run: ledger::run,
    },
    Check {
        name: "paths",
        about: "follows 200 flows over each of 240 fabrics with reports late and lost, or --rounds N of 60 fabrics",
        run: paths::run,
    },
    Check {
        name: "questions",
        about: "asks each kind of question 100 times a second while reports of 131,072 flows come in, in 20 rounds or --rounds N: they take at most 2 % of the time for reports",
        run: questions::run,
    },
    Check {
        name: "slow-clients",
        about: "calls the API from 10,000 slow callers, or --callers N: it answers within 100 ms",
        run: slow_clients::run,
    },
    Check {
        name: "soak",
        about: "loads a collector with 100,000 reports a second for an hour, or --seconds N, with faults thrown in",
        run: soak::run,
    },
];

#[derive(Args)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The check; without one, all are listed
    name: Option<String>,
    /// Arguments of the check
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// Runs one check, or lists them.
///
/// # Errors
/// There is no check of that name, or it failed.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let Some(name) = &arguments.name else {
        print!("{}", help());
        return Ok(());
    };
    match CHECKS.iter().find(|check| check.name == name) {
        Some(check) => (check.run)(root, &arguments.arguments),
        None => {
            let names: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
            bail!("no long check `{name}`, expected one of: {}", names.join(", "))
        }
    }
}

/// The checks, one a line.
fn help() -> String {
    let line = |check: &Check| format!("  {:12} {}\n", check.name, check.about);
    format!("Checks:\n{}", CHECKS.iter().map(line).collect::<String>())
}
