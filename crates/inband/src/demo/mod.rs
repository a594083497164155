//! `inband demo`: a fabric with INT in one process, from the packets to the events, without privileges.
//!
//! `scenario` runs the fabric in virtual time; `monitor` receives its reports on a real UDP socket and, if
//! asked to, keeps history and answers queries; `json`, `screen` and `lines` show the results, the last two
//! with lines of `table`.

mod copies;
mod json;
mod lines;
mod monitor;
mod scenario;
mod screen;
mod show;
mod table;
pub(crate) mod words;

use std::io::{self, IsTerminal, Write};
use std::net::{AddrParseError, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, bail};
use clap::ValueEnum;
use inband_node::config::Mode;

use crate::failure::Failure;
use crate::note::note;
use crate::signals;
use crate::stdout::Stdout;
use copies::Copies;
use json::Json;
use lines::Lines;
use monitor::{Answering, History, Monitor};
use scenario::Scenario;
use screen::Screen;
use show::{Progress, Show};

/// Run an emulated fabric with INT: switches, hosts, traffic, reports and a collector, in one process.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How long to run, such as `20s`, `500ms` or `1m`; a number alone is seconds. Without it: until Ctrl-C on a
    /// terminal, else 20 s.
    #[arg(long, value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Print one JSON object per line: the ledger every second, paths and events as they come.
    #[arg(long)]
    json: bool,
    /// INT mode of the fabric.
    #[arg(long, value_enum, default_value_t = ModeArg::Md)]
    mode: ModeArg,
    /// Random seed: the same seed gives the same traffic.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Send a copy of every report to this collector, too.
    #[arg(long, value_name = "ADDRESS:PORT")]
    report_to: Option<SocketAddr>,
    /// Write the names of this fabric's nodes and hosts, for `[names] file` of that collector.
    #[arg(long, value_name = "FILE")]
    write_names: Option<PathBuf>,
    /// Show the web page and answer queries on this loopback address. Without it: 127.0.0.1:8080, or a free
    /// port if that one is in use.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_loopback)]
    api: Option<SocketAddr>,
    /// Show no web page; queries are answered only where `--api` is given.
    #[arg(long)]
    no_page: bool,
    /// Keep history in this directory, for `inband query`. Without it the page has a temporary one, which is removed at
    /// the end.
    #[arg(long, value_name = "DIRECTORY")]
    store: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  inband demo
  inband demo --duration 1m --mode mx
  inband demo --report-to 127.0.0.1:32766 --write-names names.toml
  inband demo --duration 10m --api 127.0.0.1:9000 --store demo-data
  inband demo --duration 10s --json | jq 'select(.kind == \"event\")'";

/// The INT modes, by their command-line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// Instructions and metadata in the packets.
    Md,
    /// Instructions in the packets, metadata in reports.
    Mx,
    /// Nothing in the packets, metadata in reports.
    Xd,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Md => Self::Md,
            ModeArg::Mx => Self::Mx,
            ModeArg::Xd => Self::Xd,
        }
    }
}

/// Time between two steps of the fabric.
const STEP: Duration = Duration::from_millis(5);
/// Most virtual time in one step: where the machine is too slow, or the program was stopped, the run takes
/// longer and shows the same.
const LONGEST_STEP: Duration = Duration::from_millis(50);
/// How long the demo waits at the end for reports in flight; longer than a gap stays open.
const LINGER: Duration = Duration::from_secs(2);
/// Most reports in flight to the socket; the smallest usual buffer holds twice as many.
const MAX_ON_THE_WAY: u64 = 100;
/// Pause, and most pauses, of a report that waits for room.
const WAIT: Duration = Duration::from_micros(100);
const MAX_WAITS: u32 = 20_000;
/// Length of a run without a terminal for Ctrl-C.
const UNATTENDED: Duration = Duration::from_secs(20);
/// Longest run: a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Args {
    /// How long to run; `None`: until it is stopped.
    fn duration(&self) -> Option<Duration> {
        self.duration.or_else(|| (!io::stdout().is_terminal()).then_some(UNATTENDED))
    }

    fn answering(&self) -> Answering {
        match self.api {
            Some(address) if self.no_page => Answering::Questions(address),
            Some(address) => Answering::Page(address),
            None if self.no_page => Answering::Nobody,
            None => Answering::PageAnywhere,
        }
    }

    /// Where history is kept; `temporary` is the path at which a directory may be created for it.
    fn history(&self, temporary: PathBuf) -> Result<History, Error> {
        match &self.store {
            Some(path) => Ok(History::Kept(path.clone())),
            None if self.no_page => Ok(History::None),
            None => History::temporary(temporary),
        }
    }
}

/// Runs the demo.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let temporary = monitor::temporary_path();
    let stop = signals::until_stopped_or_cleared({
        let temporary = temporary.clone();
        move || monitor::remove_while_written(&temporary)
    })?;
    signals::stop_when_left_alone(&stop)?;
    let mut show: Box<dyn Show> = if args.json {
        Box::new(Json::new(Stdout::new()))
    } else if io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb") {
        Box::new(Screen::new(Stdout::new()))
    } else {
        Box::new(Lines::new(Stdout::new()))
    };
    if let Some(path) = &args.write_names {
        let names = toml::to_string(&scenario::names()).context("cannot write the names down")?;
        std::fs::write(path, names).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(play(args, temporary, &stop, show.as_mut())?)
}

/// Advances virtual time with the clock until the end, or until it is stopped.
fn play(args: &Args, temporary: PathBuf, stop: &AtomicBool, show: &mut dyn Show) -> Result<(), Error> {
    let mut stage = Stage::new(args, temporary)?;
    if let Some(url) = stage.monitor.url() {
        note!("answering on {url}");
    }
    let (mut elapsed, mut stepped_at) = (Duration::ZERO, Instant::now());
    while stage.duration.is_none_or(|duration| elapsed < duration) && !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        elapsed += (now - stepped_at).min(LONGEST_STEP);
        stepped_at = now;
        stage.perform(elapsed)?;
        stage.attend(show, elapsed)?;
        show.tick(&stage.progress(elapsed))?;
        std::thread::sleep(STEP.saturating_sub(now.elapsed()));
    }
    let deadline = Instant::now() + LINGER;
    while Instant::now() < deadline && stage.is_waiting() {
        stage.attend(show, elapsed)?;
        std::thread::sleep(STEP);
    }
    stage.attend(show, elapsed)?;
    show.finish(&stage.progress(elapsed))?;
    Stdout::new().flush()?;
    if let Some(copies) = &stage.exporter.copies {
        copies.finish();
    }
    let unshown = stage.monitor.stop()?;
    if unshown > 0 {
        note!("note: {unshown} observations and events came faster than they could be shown");
    }
    Ok(())
}

/// The parts of the demo: the fabric, the path of its reports, the collector.
struct Stage {
    duration: Option<Duration>,
    scenario: Scenario,
    exporter: Exporter,
    monitor: Monitor,
}

impl Stage {
    fn new(args: &Args, temporary: PathBuf) -> Result<Self, Error> {
        let monitor = Monitor::start(args.history(temporary)?, args.answering(), scenario::names())?;
        let duration = args.duration();
        Ok(Self {
            duration,
            // The fabric's clock starts here, so this comes last.
            scenario: Scenario::new(duration.unwrap_or(LONGEST), args.mode.into(), args.seed)?,
            exporter: Exporter::new(monitor.address()?, args.report_to).context("cannot send reports")?,
            monitor,
        })
    }

    /// Runs the fabric up to `elapsed` and sends its nodes' reports.
    fn perform(&mut self, elapsed: Duration) -> Result<(), Error> {
        self.scenario.run_until(elapsed);
        while let Some(report) = self.scenario.poll_report() {
            self.exporter.send(&report, &self.monitor)?;
        }
        Ok(())
    }

    /// Passes the collector's outputs to `show`.
    fn attend(&mut self, show: &mut dyn Show, elapsed: Duration) -> Result<(), Error> {
        if self.monitor.has_failed() {
            bail!("the collector has failed");
        }
        while let Some(output) = self.monitor.poll_output() {
            show.output(&output, elapsed)?;
        }
        Ok(())
    }

    /// Whether reports are in flight, or missing and not yet given up.
    fn is_waiting(&self) -> bool {
        let ledger = self.monitor.ledger();
        ledger.received < self.exporter.sent || ledger.lost > 0
    }

    fn progress(&self, elapsed: Duration) -> Progress<'_> {
        Progress {
            elapsed,
            duration: self.duration,
            scenario: &self.scenario,
            monitor: &self.monitor,
            sent: self.exporter.sent,
        }
    }
}

/// The nodes' path to the collector.
struct Exporter {
    socket: UdpSocket,
    collector: SocketAddr,
    copies: Option<Copies>,
    sent: u64,
    /// Reports that never reached the socket's reader.
    given_up: u64,
}

impl Exporter {
    fn new(collector: SocketAddr, also_to: Option<SocketAddr>) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok(Self { socket, collector, copies: also_to.map(Copies::new).transpose()?, sent: 0, given_up: 0 })
    }

    /// Sends one report; waits first while the receiving socket's buffer may be full, because the fabric's
    /// reports come in bursts that a network would spread.
    fn send(&mut self, report: &[u8], monitor: &Monitor) -> Result<(), Error> {
        self.wait_for_room(monitor);
        self.socket.send_to(report, self.collector).context("cannot send a report")?;
        self.sent += 1;
        if let Some(copies) = &mut self.copies {
            copies.send(report);
        }
        Ok(())
    }

    fn wait_for_room(&mut self, monitor: &Monitor) {
        let on_the_way = |exporter: &Self| exporter.sent.saturating_sub(monitor.taken() + exporter.given_up);
        for _ in 0..MAX_WAITS {
            if on_the_way(self) < MAX_ON_THE_WAY {
                return;
            }
            std::thread::sleep(WAIT);
        }
        // Count them as lost, so that they are waited for only once.
        self.given_up += on_the_way(self);
    }
}

fn parse_loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|error: AddrParseError| error.to_string())?;
    // The demo requires no token, so it stays on the loopback.
    let message = "it must be a loopback address; `inband collect` answers on others";
    if address.ip().is_loopback() { Ok(address) } else { Err(message.to_owned()) }
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string()),
    };
    match parsed? {
        duration if duration.is_zero() => Err("it must be longer than nothing".to_owned()),
        duration if duration > LONGEST => Err("it must not be longer than a day".to_owned()),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests;
