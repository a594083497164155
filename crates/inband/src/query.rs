//! `inband query`: SQL queries over the stored history.

mod output;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error};
use inband_model::table::{Kind, Shape, shapes};
use inband_store::{Answer, Cell, Findings, History, Limits, Naming, QueryError, Reader, StoreError};

use self::output::{write_csv, write_table};
use crate::collect::read_names;
use crate::failure::Failure;
use crate::note::note;
use crate::stdout::Stdout;

/// Ask the stored history in SQL
///
/// The SQL is SQLite's, with the added function `quantile(value, share)` and, with --names,
/// `node_name(node)`, `interface_name(node, interface)` and `address_name(address)`. Times are nanoseconds
/// since 1970. Queries only read, and work while a collector writes the history.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The SQL statement
    #[arg(required_unless_present_any = ["tables", "check", "view"])]
    sql: Option<String>,
    /// Print one JSON object per row
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print comma-separated values, with the column names first
    #[arg(long)]
    csv: bool,
    /// Directory of the history
    #[arg(long, value_name = "DIRECTORY", default_value = "inband-data")]
    store: PathBuf,
    /// Take the directory from `store.path` and the names from `names.file` of this file
    #[arg(short, long, value_name = "COLLECTOR.TOML", conflicts_with = "store")]
    config: Option<PathBuf>,
    /// Names of nodes, interfaces, hosts and subnets, as `inband convert` writes them
    #[arg(long, value_name = "NAMES.TOML")]
    names: Option<PathBuf>,
    /// Most time for the answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    time_limit: Duration,
    /// Most memory for the answer, megabytes
    #[arg(long, value_name = "MEGABYTES", default_value_t = 1_000)]
    memory_limit: usize,
    /// Most rows in the answer
    #[arg(long, value_name = "ROWS", default_value_t = 1_000_000)]
    row_limit: usize,
    /// List the tables and their columns: with --json one object per column
    #[arg(long, conflicts_with = "sql")]
    tables: bool,
    /// Print the statement that creates a view of the observations in another tool
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["sql", "tables", "check", "json", "csv"])]
    view: Option<Tool>,
    /// Read every file to its end, and name what is damaged
    #[arg(long, conflicts_with_all = ["sql", "tables"])]
    check: bool,
}

/// A tool that can read segments.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Tool {
    #[value(name = "duckdb")]
    DuckDb,
    #[value(name = "clickhouse")]
    ClickHouse,
}

/// Runs the query and prints the answer.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(tool) = args.view {
        let reader = match tool {
            Tool::DuckDb => Reader::DuckDb,
            Tool::ClickHouse => Reader::ClickHouse,
        };
        let place = Place::of(args)?.store;
        // The tool may run in another directory.
        let root = std::path::absolute(&place).unwrap_or(place);
        return flushed(|out| writeln!(out, "{};", reader.view(&root)));
    }
    if args.check {
        let history = open(&Place::of(args)?.store)?;
        let findings = history.check();
        let (bytes, damaged) = (history.bytes(), findings.damage.len());
        print(args, &checked(bytes, damaged), |out, _| {
            writeln!(out, "{bytes} bytes of segments, {damaged} damaged places")
        })?;
        return tell(&findings, "history is damaged");
    }
    let Some(sql) = args.sql.as_deref().filter(|_| !args.tables) else {
        return print(args, &columns(&shapes()), |out, _| out.write_all(tables(&shapes()).as_bytes()));
    };
    let answer = ask(args, sql)?;
    print(args, &answer, write_table)?;
    tell(&answer.findings, "history is damaged: the answer lacks what is named above")
}

/// Prints what is damaged, and what could not be verified.
fn tell(findings: &Findings, what: &str) -> Result<(), Failure> {
    for damage in findings.damage.iter().take(MAX_NAMED) {
        note!("damaged: {damage}");
    }
    let unnamed = findings.damage.len().saturating_sub(MAX_NAMED) as u64 + findings.unlisted;
    if unnamed > 0 {
        note!("damaged: {unnamed} more places");
    }
    if !findings.unverified.is_empty() {
        let count = findings.unverified.len();
        note!("note: {count} segments of an earlier version have no checksums; damage in them may go unseen");
    }
    if findings.is_damaged() { Err(Failure::Damaged(Error::msg(what.to_owned()))) } else { Ok(()) }
}

fn ask(args: &Args, sql: &str) -> Result<Answer, Failure> {
    let place = Place::of(args)?;
    let names: Arc<dyn Naming> = Arc::new(read_names(args.names.as_ref().unwrap_or(&place.names))?);
    let limits = Limits {
        time: args.time_limit,
        memory_bytes: args.memory_limit.saturating_mul(1_000_000),
        rows: args.row_limit,
    };
    open(&place.store)?.query_named(sql, limits, &names).map_err(|error| match error {
        QueryError::Question(_) => Failure::Usage(error.into()),
        other => Failure::Work(other.into()),
    })
}

fn open(store: &Path) -> Result<History, Failure> {
    History::open(store).map_err(|error| match error {
        StoreError::NoHistory(_) => {
            Failure::Work(Error::msg(format!("{error}; `inband collect` keeps it, --store names it")))
        }
        other => Failure::Work(other.into()),
    })
}

/// The directory of the history, and the file of names.
struct Place {
    store: PathBuf,
    names: PathBuf,
}

impl Place {
    fn of(args: &Args) -> Result<Self, Failure> {
        let (mut store, mut names) = (args.store.clone(), PathBuf::new());
        if let Some(config) = &args.config {
            let config = Config::read(config)?;
            store = config.path("store", "path")?.unwrap_or(store);
            names = config.path("names", "file")?.unwrap_or(names);
        }
        Ok(Self { store, names })
    }
}

/// A collector's configuration, of which only paths are read.
struct Config {
    name: String,
    table: toml::Table,
}

impl Config {
    fn read(path: &Path) -> Result<Config, Failure> {
        let name = path.display().to_string();
        let failed = || format!("cannot read {name}");
        let text = fs::read_to_string(path).with_context(failed).map_err(Failure::Usage)?;
        let table = text.parse().with_context(failed).map_err(Failure::Usage)?;
        Ok(Config { name, table })
    }

    /// A configured path; `None` if it is not set.
    fn path(&self, section: &str, key: &str) -> Result<Option<PathBuf>, Failure> {
        match self.table.get(section).and_then(|section| section.get(key)) {
            None => Ok(None),
            Some(toml::Value::String(path)) => Ok(Some(PathBuf::from(path))),
            Some(other) => {
                Err(Failure::usage(format!("{}: {section}.{key} is a string, not {other}", self.name)))
            }
        }
    }
}

/// Prints an answer in the format that is asked for; `write_text` writes it for people.
fn print(
    args: &Args,
    answer: &Answer,
    write_text: impl FnOnce(&mut io::BufWriter<Stdout>, &Answer) -> io::Result<()>,
) -> Result<(), Failure> {
    flushed(|out| match (args.json, args.csv) {
        (true, _) => answer.write_json_lines(out),
        (_, true) => write_csv(out, answer),
        _ => write_text(out, answer),
    })
}

fn flushed(write: impl FnOnce(&mut io::BufWriter<Stdout>) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(Stdout::new());
    write(&mut out).and_then(|()| out.flush()).context("cannot write the answer")?;
    Ok(())
}

/// What a check of every file has found.
fn checked(bytes: u64, damaged: usize) -> Answer {
    let number = |number: u64| Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    Answer {
        columns: ["bytes", "damaged_places"].map(str::to_owned).to_vec(),
        rows: vec![vec![number(bytes), number(damaged as u64)]],
        ..Answer::default()
    }
}

/// The tables and their columns as text.
fn tables(shapes: &[Shape]) -> String {
    let mut text = String::new();
    for shape in shapes {
        let _ = writeln!(text, "{}: {}", shape.name, shape.about);
        for (name, kind, optional, about) in &shape.columns {
            let _ = writeln!(text, "  {name:<26}{:<18}{about}", values(*kind, *optional));
        }
    }
    text
}

/// The tables as an answer with a row for each column.
fn columns(shapes: &[Shape]) -> Answer {
    let row = |shape: &Shape, (name, kind, optional, about): &(&str, Kind, bool, &str)| {
        let cells = [shape.name, *name, &values(*kind, *optional), *about];
        cells.map(|text| Cell::Text(text.to_owned())).to_vec()
    };
    let rows = shapes.iter().flat_map(|shape| shape.columns.iter().map(move |column| row(shape, column)));
    let columns = ["table", "column", "type", "meaning"].map(str::to_owned).to_vec();
    Answer { columns, rows: rows.collect(), findings: Findings::default() }
}

/// The values of a column, in words.
fn values(kind: Kind, is_optional: bool) -> String {
    let kind = match kind {
        Kind::Time => "time",
        Kind::Integer => "integer",
        Kind::Flag => "0 or 1",
        Kind::Text => "text",
    };
    let null = if is_optional { ", or null" } else { "" };
    format!("{kind}{null}")
}

/// Most damaged places that are named one by one.
const MAX_NAMED: usize = 20;

const EXAMPLES: &str = "\
Examples:
  inband query 'SELECT node_id, count(*), quantile(hop_latency, 0.99) AS p99
                FROM observations GROUP BY node_id ORDER BY p99 DESC'
  inband query --json \"SELECT * FROM events WHERE kind = 'path-change'\"
  inband query --csv 'SELECT time, path FROM paths WHERE time > (unixepoch() - 3600) * 1000000000'
  inband query --names names.toml 'SELECT node_name(node_id) AS node, address_name(source) AS source, count(*)
                FROM observations GROUP BY 1, 2'
  inband query --tables
  inband query --check
Exit codes: 0 answered, 1 not answered, 2 a wrong question, 3 answered without what is damaged,
which is named on stderr.";
