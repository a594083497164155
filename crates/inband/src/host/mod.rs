//! `inband host`: INT on a Linux host's own traffic.

mod metrics;
mod probe;
mod status;
mod summary;

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error};
use inband::config::ConfigFile;
use inband_host::{Agent, HostError, HostSettings, MIN_SECRET_BYTES};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::Failure;
use crate::note::note;
use crate::out;
use crate::signals;
use metrics::Metrics;
use status::Status;

/// INT on this host's own traffic: what it sends gets INT, what it receives loses it and is reported
///
/// Programs in the kernel do it, so applications notice nothing. It needs root, or CAP_NET_ADMIN,
/// CAP_NET_RAW, CAP_BPF and CAP_PERFMON. SIGINT or SIGTERM ends it and restores everything. SIGHUP makes it
/// read its settings again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Task>,
    /// Settings
    #[arg(short, long, value_name = "HOST.TOML", required_unless_present = "guard")]
    config: Option<PathBuf>,
    /// Guard the agent whose socket is stdin: how the agent itself starts its guard
    #[arg(long, hide = true)]
    guard: bool,
    /// Check the settings, report errors, and exit
    #[arg(long)]
    check: bool,
    /// Print the final counts as JSON
    #[arg(long)]
    json: bool,
}

/// What to do instead of INT.
#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Print the state of a running agent: packets, flows, and why flows have no INT
    Status {
        /// Its settings [default: those of an agent with the default names]
        #[arg(short, long, value_name = "HOST.TOML")]
        config: Option<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Try the path to an address: whether its agent answers, how much of INT survives, which traffic would
    /// get INT and why other traffic would not
    ///
    /// Sends some twenty probes, which a host without an agent drops. Exit code 0: nothing prevents INT; 1:
    /// something does.
    Probe {
        /// The address of the other host
        address: IpAddr,
        /// Settings of this host's agent [default: those of the running agent]
        #[arg(short, long, value_name = "HOST.TOML")]
        config: Option<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what agents have left behind: sinks that outlive them, and shims
    Remove {
        /// Settings of those agents [default: those of an agent with the default names]
        #[arg(short, long, value_name = "HOST.TOML")]
        config: Option<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  inband host -c host.toml
  inband host status
  inband host probe 10.0.0.7
  inband host remove
  inband host -c host.toml --check
  inband host -c host.toml --json | jq .outcomes";

/// Runs the agent until it is stopped.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Some(Task::Remove { config, json }) => return remove(config.as_deref(), *json),
        Some(Task::Status { config, json }) => return show_status(config.as_deref(), *json),
        Some(Task::Probe { address, config, json }) => {
            return probe_address(*address, config.as_deref(), *json);
        }
        None => {}
    }
    let Some(config) = &args.config else { return guard() };
    let (file, settings) = read(config)?;
    if args.check {
        settings.check().map_err(|error| failure(&file, error))?;
    }
    check_keys(&file, &settings)?;
    if args.check {
        return Ok(());
    }
    let stop = signals::until_stopped()?;
    let hang_up = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGHUP, Arc::clone(&hang_up)).context("cannot catch signals")?;
    let metrics = settings.host.metrics.map(Metrics::serve).transpose();
    let metrics = metrics.context("cannot serve metrics")?;
    let shim = settings.host.shim.clone();
    let mut agent = Agent::start(settings, guard_command()?).map_err(|error| failure(&file, error))?;
    let status = Status::new(config).context("cannot find the settings")?;
    // Status requests get an answer from the first moment on.
    status.update(&agent).map_err(work)?;
    status.serve(&shim).context("cannot serve the status")?;
    announce(&agent)?;
    let mut next_update = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        agent.turn(PATIENCE).map_err(work)?;
        if Instant::now() >= next_update {
            if let Some(metrics) = &metrics {
                metrics.update(&agent.tally().map_err(work)?);
            }
            status.update(&agent).map_err(work)?;
            next_update = Instant::now() + UPDATE;
        }
        if hang_up.swap(false, Ordering::Relaxed) {
            reload(&mut agent, config);
        }
        while let Some(note) = agent.poll_note() {
            note!("{note}");
        }
    }
    let tally = agent.stop().map_err(work)?;
    note!("{}", summary::text(&tally).trim_end());
    if args.json {
        out::print(&format!("{}\n", summary::json(&tally)))?;
    }
    Ok(())
}

/// Refuses a key file without a secret; names those whose secret is short.
fn check_keys(file: &ConfigFile, settings: &HostSettings) -> Result<(), Failure> {
    for path in settings.check_keys().map_err(|error| failure(file, error))? {
        let path = path.display();
        note!("note: the secret in {path} has fewer than {MIN_SECRET_BYTES} bytes: it may be guessed");
    }
    Ok(())
}

/// Applies the file as it is; an error in it is printed, and the settings stay as they were.
fn reload(agent: &mut Agent, path: &Path) {
    let reloaded =
        read(path).and_then(|(file, settings)| agent.reload(settings).map_err(|error| failure(&file, error)));
    match reloaded {
        Ok(()) => note!("settings of {} taken over", path.display()),
        Err(Failure::Usage(error) | Failure::Work(error) | Failure::Damaged(error)) => {
            note!("the settings stay as they were: {error:#}");
        }
    }
}

/// The command that runs this program as the guard of an agent.
fn guard_command() -> Result<Command, Failure> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(program);
    command.args(["host", "--guard"]);
    Ok(command)
}

/// Prints the state of the agent in this network namespace.
fn show_status(config: Option<&Path>, is_json: bool) -> Result<(), Failure> {
    let shim = config.map(read).transpose()?.map(|(_, settings)| settings.host.shim);
    status::print(shim.as_deref().unwrap_or(SHIM), is_json)
}

/// Tries the path to an address with the settings of a file, or of the running agent.
fn probe_address(address: IpAddr, config: Option<&Path>, is_json: bool) -> Result<(), Failure> {
    let path = match config {
        Some(config) => config.to_owned(),
        None => status::settings_file(SHIM)
            .context("no agent runs here whose settings are to be had: give them with --config")?,
    };
    let (file, settings) = read(&path)?;
    let (words, is_proven) =
        probe::run(&settings, address, is_json).map_err(|error| failure(&file, error))?;
    // The outcome counts, whoever reads it.
    let printed = out::print(&words);
    match is_proven {
        true => printed,
        false => Err(Failure::Work(Error::msg(format!("flows to {address} get no INT")))),
    }
}

/// Removes what agents have left behind in this network namespace.
fn remove(config: Option<&Path>, is_json: bool) -> Result<(), Failure> {
    let read = config.map(read).transpose()?;
    let removed =
        inband_host::remove(read.as_ref().map(|(_, settings)| settings)).map_err(|error| match &read {
            Some((file, _)) => failure(file, error),
            None => work(error),
        })?;
    let several = |count: usize| if count == 1 { "" } else { "s" };
    let inband_host::Removed { sinks, shims } = removed;
    if is_json {
        return out::print(&format!("{}\n", json!({ "sinks": sinks, "shims": shims })));
    }
    out::print(&format!("removed {sinks} sink{} and {shims} shim{}\n", several(sinks), several(shims)))
}

/// Guards an agent; the signals that end the agent do not end its guard.
fn guard() -> Result<(), Failure> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Set, and never read.
        signal_hook::flag::register(signal, Arc::default()).context("cannot catch signals")?;
    }
    let socket = io::stdin().as_fd().try_clone_to_owned().context("cannot use stdin")?;
    inband_host::keep_watch(&socket).context("cannot guard an agent")?;
    Ok(())
}

fn read(path: &Path) -> Result<(ConfigFile, HostSettings), Failure> {
    let file = ConfigFile::read(path)?;
    let settings = file.parse()?;
    Ok((file, settings))
}

fn announce(agent: &Agent) -> Result<(), Failure> {
    let devices: Vec<_> = agent.devices().collect();
    match devices.is_empty() {
        true => note!("no device of this name yet"),
        false => note!("INT on {}", devices.join(", ")),
    }
    match agent.tally().map_err(work)?.clock_uncertainty_ns {
        Some(uncertainty_ns) => note!("the clock may be off by {} us", uncertainty_ns / 1000),
        None => note!("note: nobody keeps the clock right: compare timestamps of this host only"),
    }
    Ok(())
}

/// An error in a setting names its place in the file; others are the system's.
fn failure(file: &ConfigFile, error: HostError) -> Failure {
    match error.key() {
        Some(key) => file.mistake_at(key, &error.to_string()).into(),
        None => work(error),
    }
}

fn work(error: HostError) -> Failure {
    Failure::Work(Error::new(error))
}

/// The default of `host.shim`.
const SHIM: &str = "int";
/// How long the agent waits when nothing happens.
const PATIENCE: Duration = Duration::from_millis(50);
/// Largest age of metrics.
const UPDATE: Duration = Duration::from_secs(1);
