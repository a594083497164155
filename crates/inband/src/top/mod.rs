//! `inband top`: the state of a running collector, live on a terminal.

mod client;
mod keys;
mod picture;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::canvas::{self, Canvas};
use crate::failure::Failure;
use crate::stdout::Stdout;
use client::{Client, Seen};
use keys::Keys;
use picture::{Rate, picture};

/// Show live what a running collector sees: ledger, worst hops, deepest queues, newest events, top flows
///
/// `q` or Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The collector's API; `https://NAME:PORT` where it speaks TLS
    #[arg(value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    collector: String,
    /// The API's token [default: INBAND_TOKEN from the environment]
    #[arg(long)]
    token: Option<String>,
    /// Certificates of the collector's authorities, or its own, PEM; without it those that browsers trust
    #[arg(long, value_name = "FILE")]
    authorities: Option<PathBuf>,
    /// Interval between pictures
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    interval: Duration,
    /// Show one picture, and exit
    #[arg(long)]
    once: bool,
    /// Print one JSON object per interval instead of a picture
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  inband top
  inband top 192.0.2.10:8080 --token SECRET
  inband top https://collector.example:8443 --authorities ca.pem
  inband top --once
  inband top --json | jq .ledger.total.lost";

/// Shows the collector's state until it is stopped.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    let token = args.token.clone().or_else(|| std::env::var("INBAND_TOKEN").ok());
    let collector = args.collector.parse().map_err(Failure::usage)?;
    let client = Client::new(collector, token, args.authorities.as_deref()).map_err(Failure::Usage)?;
    // An error in the address ends the program at once; later the collector may come and go.
    let first = client.look()?;
    if args.once || !io::stdout().is_terminal() || args.json {
        Ok(print(args, &client, first, &stop)?)
    } else {
        Ok(show(args, &client, first, &stop)?)
    }
}

/// Prints pictures or objects one after another.
fn print(args: &Args, client: &Client, first: Seen, stop: &AtomicBool) -> Result<(), Error> {
    let mut rate = Rate::default();
    let mut out = Stdout::new();
    let mut seen = first;
    loop {
        if args.json {
            writeln!(out, "{}", seen.json()).context("cannot write")?;
        } else {
            let lines = picture(&seen, rate.next(&seen), (USUAL_WIDTH, usize::MAX));
            let text: String = lines.iter().map(|line| format!("{}\n", line.text)).collect();
            out.write_all(text.as_bytes()).context("cannot write")?;
        }
        out.flush().context("cannot write")?;
        if args.once || !wait(args.interval, || stop.load(Ordering::Relaxed)) {
            return Ok(());
        }
        seen = client.look()?;
    }
}

/// Redraws one picture until `q` is pressed; while the collector does not answer, the picture shows the error.
fn show(args: &Args, client: &Client, first: Seen, stop: &AtomicBool) -> Result<(), Error> {
    let mut canvas = Canvas::new(Stdout::new());
    let keys = Keys::of_stdin();
    let is_over = || stop.load(Ordering::Relaxed) || keys.as_ref().is_some_and(Keys::is_end_asked);
    let (mut rate, mut seen, mut problem) = (Rate::default(), first, None);
    loop {
        let size = canvas::size();
        let per_second = rate.next(&seen);
        let mut lines: Vec<String> = picture(&seen, per_second, (size.0, size.1.saturating_sub(2)))
            .into_iter()
            .map(|line| if line.is_heading { canvas::bold(&line.text, size.0) } else { line.text })
            .collect();
        lines.extend(problem.take());
        lines.truncate(size.1.saturating_sub(1).max(1));
        canvas.draw(&lines, size).context("cannot draw")?;
        if !wait(args.interval, is_over) {
            return Ok(());
        }
        match client.look() {
            Ok(now) => seen = now,
            Err(error) => problem = Some(format!("{error:#}; what stands above is old")),
        }
    }
}

/// Waits; returns false if it is over meanwhile.
fn wait(interval: Duration, is_over: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < interval {
        if is_over() {
            return false;
        }
        std::thread::sleep(PATIENCE.min(interval));
    }
    !is_over()
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    let message =
        "it must be at least 10ms: a collector that is asked without a pause has less time for reports";
    if interval >= MIN_INTERVAL { Ok(interval) } else { Err(message.to_owned()) }
}

/// Least interval between pictures.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// Interval at which signals and keys are checked.
const PATIENCE: Duration = Duration::from_millis(20);
/// Width of a picture that is not on a terminal, columns.
const USUAL_WIDTH: usize = 100;
