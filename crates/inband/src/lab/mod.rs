//! `inband lab`: hosts, INT switches and a collector as network namespaces on one machine.

mod check;
mod print;
mod traffic;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, anyhow};
use inband::config::ConfigFile;
use inband_lab::lab::down;
use inband_lab::state::{self, State};
use inband_lab::topology::Action;
use inband_lab::{Lab, LabError};
use inband_linux::namespace::Namespace;

use crate::failure::Failure;
use crate::note::note;
use crate::{out, signals};

/// Hosts and INT switches as network namespaces on one machine, with real packets between them
///
/// It needs root and nothing else. `run` starts a topology, plays its steps, checks its expectations, and
/// removes everything; `up` leaves it running until `down`. docs/lab.md describes topologies.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Start a topology, and leave it running
    Up {
        /// The topology
        #[arg(value_name = "TOPOLOGY.TOML")]
        topology: PathBuf,
    },
    /// Remove a lab with all its processes, even if some were killed
    Down {
        /// Its topology, or its name
        #[arg(value_name = "TOPOLOGY.TOML")]
        lab: String,
    },
    /// Start a topology, play its steps, check its expectations, and remove it
    Run {
        /// The topology
        #[arg(value_name = "TOPOLOGY.TOML")]
        topology: PathBuf,
        /// Print the outcome as JSON
        #[arg(long)]
        json: bool,
        /// Leave the lab running at the end
        #[arg(long)]
        keep: bool,
    },
    /// Show the parts of a lab and their state
    Status {
        /// Its topology, or its name; without it, every running lab
        #[arg(value_name = "TOPOLOGY.TOML")]
        lab: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a topology, and nothing else
    Check {
        /// The topology
        #[arg(value_name = "TOPOLOGY.TOML")]
        topology: PathBuf,
    },
    /// Run a command on a host or switch
    Exec {
        /// The lab
        name: String,
        /// The host or switch, or `collector`
        host: String,
        /// The command with its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
    /// Break a link; routes change as a routing protocol would change them
    Break {
        /// The lab
        name: String,
        /// One end of the link
        a: String,
        /// The other end of the link
        b: String,
    },
    /// Remove the faults of a link or a switch
    Mend {
        /// The lab
        name: String,
        /// One end of the link, or a switch
        a: String,
        /// The other end of the link
        b: Option<String>,
    },
    /// Give a link another rate
    Slow {
        /// The lab
        name: String,
        /// One end of the link
        a: String,
        /// The other end of the link
        b: String,
        /// The rate, such as 10Mbit
        rate: String,
    },
    /// Make a switch drop what it would send to other switches
    Drop {
        /// The lab
        name: String,
        /// The switch
        switch: String,
        /// `no-route`: the switch knows, and reports it; `silent`: the switch does not know
        reason: String,
    },
    /// Make two neighbours send each other packets for other destinations
    Loop {
        /// The lab
        name: String,
        /// One neighbour
        a: String,
        /// The other neighbour
        b: String,
    },
    /// Make a switch send a prefix to the wrong neighbour
    Misroute {
        /// The lab
        name: String,
        /// The switch
        switch: String,
        /// The prefix, such as 10.0.1.0/24
        prefix: String,
        /// The neighbour
        next: String,
    },
    /// Send or receive packets with every byte checked, for labs without other programs
    Traffic(traffic::Args),
    /// Carry the frames of links with delay; `up` starts this process
    #[command(hide = true)]
    Links {
        /// The lab's folder
        folder: PathBuf,
    },
}

const EXAMPLES: &str = "\
Examples:
  inband lab run examples/lab/leaf-spine.toml
  inband lab up examples/lab/leaf-spine.toml
  inband lab exec leaf-spine h1 ping -c 3 10.0.2.1
  inband lab exec leaf-spine h1 inband trace 10.0.2.1 --ecmp
  inband lab break leaf-spine leaf1 spine1
  inband lab status leaf-spine --json
  inband lab down leaf-spine";

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.task {
        Task::Up { topology } => up(&read(topology)?),
        Task::Down { lab } => take_down(lab),
        Task::Run { topology, json, keep } => play(&read(topology)?, *json, *keep),
        Task::Status { lab, json } => status(lab.as_deref(), *json),
        Task::Check { topology } => read(topology).map(drop),
        Task::Exec { name, host, command } => exec(name, host, command),
        Task::Break { name, a, b } => change(name, "break", &[a, b]),
        Task::Mend { name, a, b: Some(b) } => change(name, "mend", &[a, b]),
        Task::Mend { name, a, b: None } => change(name, "mend", &[a]),
        Task::Slow { name, a, b, rate } => change(name, "slow", &[a, b, rate]),
        Task::Drop { name, switch, reason } => change(name, "drop", &[switch, reason]),
        Task::Loop { name, a, b } => change(name, "loop", &[a, b]),
        Task::Misroute { name, switch, prefix, next } => change(name, "misroute", &[switch, prefix, next]),
        Task::Traffic(args) => traffic::run(args),
        Task::Links { folder } => inband_lab::wire::run(folder).map_err(failure),
    }
}

/// Reads a topology and all files derived from it.
pub(crate) fn read(path: &Path) -> Result<Lab, Failure> {
    let file = ConfigFile::read(path)?;
    let topology = file.parse()?;
    let lab = Lab::new(topology, file.text()).map_err(|error| match error {
        LabError::Topology(mistake) => file.mistake_in(mistake.span, &mistake.message).into(),
        other => failure(other),
    })?;
    check::check(path, &lab)?;
    Ok(lab)
}

fn up(lab: &Lab) -> Result<(), Failure> {
    let stop = stop()?;
    lab.up(&stop, |what| note!("{what}")).map_err(failure)?;
    let name = &lab.plan.name;
    note!(
        "`{name}` is up; `inband lab exec {name} HOST COMMAND` runs a command, `inband lab down {name}` removes it"
    );
    Ok(())
}

/// A flag that is set when the program is asked to end, or its terminal goes away.
fn stop() -> Result<Arc<AtomicBool>, Error> {
    let stop = signals::until_stopped()?;
    signals::stop_when_left_alone(&stop)?;
    Ok(stop)
}

/// The name of a lab, given as such or by its topology: a path with `/` or `.toml`.
fn name_of(lab: &str) -> Result<String, Failure> {
    if state::folder(lab).is_dir() && !lab.contains('/') {
        return Ok(lab.to_owned());
    }
    if !lab.contains('/') && Path::new(lab).extension().is_none_or(|extension| extension != "toml") {
        // The error lists the labs that exist.
        State::open(lab).map_err(failure)?;
    }
    let topology: inband_lab::topology::Topology = ConfigFile::read(Path::new(lab))?.parse()?;
    Ok(topology.name.into_inner())
}

fn take_down(lab: &str) -> Result<(), Failure> {
    let name = name_of(lab)?;
    let ended = down(&name).map_err(failure)?;
    note!("`{name}` is down; {ended} of its processes were running");
    Ok(())
}

fn play(lab: &Lab, json: bool, keep: bool) -> Result<(), Failure> {
    let stop = stop()?;
    lab.up(&stop, |what| note!("{what}")).map_err(failure)?;
    let guard = Guard { name: lab.plan.name.clone(), keep };
    let outcome =
        inband_lab::run::play(lab, &stop, |at, what| note!("{at:5.1} s  {what}")).map_err(failure)?;
    let removed = guard.end();
    let text = match json {
        true => serde_json::to_string(&outcome).context("cannot write the outcome down")? + "\n",
        false => print::outcome(&outcome),
    };
    let printed = out::print(&text);
    removed?;
    if interrupted(&stop) {
        return Err(Failure::Work(anyhow!("stopped before its end")));
    }
    // Whether anyone reads the outcome does not change it.
    if outcome.passed { printed } else { Err(Failure::Work(anyhow!("not everything was as expected"))) }
}

fn interrupted(stop: &Arc<AtomicBool>) -> bool {
    stop.load(Ordering::Relaxed)
}

/// Takes a lab down, even when its run panics.
struct Guard {
    name: String,
    keep: bool,
}

impl Guard {
    fn end(mut self) -> Result<(), Failure> {
        let keep = std::mem::replace(&mut self.keep, true);
        if keep { Ok(()) } else { down(&self.name).map(drop).map_err(failure) }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.keep {
            // The run itself has failed, which is reported elsewhere.
            let _ = down(&self.name);
        }
    }
}

fn status(lab: Option<&str>, json: bool) -> Result<(), Failure> {
    let names = match lab {
        Some(lab) => vec![name_of(lab)?],
        None => state::list(),
    };
    let mut all = Vec::new();
    for name in &names {
        let state = State::open(name).map_err(failure)?;
        all.push(inband_lab::status::status(&state).map_err(failure)?);
    }
    let text = match (json, &all[..], lab) {
        (true, [one], Some(_)) => serde_json::to_string(one).context("cannot write the status down")? + "\n",
        (true, all, _) => serde_json::to_string(all).context("cannot write the status down")? + "\n",
        (false, [], _) => {
            note!("no lab is up");
            String::new()
        }
        (false, all, _) => all.iter().map(print::status).collect(),
    };
    out::print(&text)
}

/// Replaces this process by a command in the namespace of a host.
fn exec(name: &str, host: &str, command: &[String]) -> Result<(), Failure> {
    // Others may change the lab while the command runs.
    let lab = Lab::of(&State::open(name).map_err(failure)?).map_err(failure)?;
    if host != "collector" && lab.plan.node(host).is_none() {
        let known = lab.plan.nodes.iter().map(|node| node.name.as_str());
        return Err(Failure::usage(inband_lab::topology::unknown("host or switch", host, known)));
    }
    let namespace = lab.plan.namespace(host);
    let enter = || Namespace::open(&namespace)?.enter();
    enter().with_context(|| format!("cannot enter {namespace}"))?;
    let [program, arguments @ ..] = command else { return Err(Failure::usage("no command")) };
    let mut command = Command::new(program);
    inband_lab::process::prepare(&mut command, name);
    command.env("INBAND_COLLECTOR", format!("http://127.0.0.1:{}", lab.plan.api.port())).args(arguments);
    let error = command.exec();
    Err(Failure::Work(Error::new(error).context(format!("cannot run `{program}`"))))
}

fn change(name: &str, what: &str, arguments: &[&String]) -> Result<(), Failure> {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).clone()).collect();
    let action = Action::parse(what, &arguments).map_err(Failure::usage)?;
    let mut state = State::open(name).map_err(failure)?;
    let lab = Lab::of(&state).map_err(failure)?;
    lab.change(&mut state, &action).map_err(failure)
}

fn failure(error: LabError) -> Failure {
    match error {
        LabError::Usage(_) | LabError::Topology(_) => Failure::Usage(error.into()),
        other => Failure::Work(other.into()),
    }
}
