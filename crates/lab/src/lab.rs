//! Labs as a whole: creation, removal, and changes in between.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use inband_linux::namespace::{self, Namespace};
use rustix::process::Signal;
use toml::{Table, Value};

use crate::error::LabError;
use crate::logs::{self, PATIENCE, STEP};
use crate::plan::{self, Kind, Plan};
use crate::process::{self, Process};
use crate::state::{self, State};
use crate::topology::{Action, Fault, Topology};
use crate::wire::{self, LinkSettings};
use crate::world;

/// A lab, as described by its topology.
#[derive(Clone, Debug)]
pub struct Lab {
    /// The topology file's contents.
    pub topology: Topology,
    /// The plan derived from it.
    pub plan: Plan,
    text: String,
}

/// A configuration file written by a lab.
#[derive(Clone, Debug)]
pub struct File {
    /// The program that reads it.
    pub kind: FileKind,
    /// The node it is for, or `collector` and `names`.
    pub node: String,
    /// Its contents.
    pub text: String,
}

/// The program that reads a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `inband switch`.
    Switch,
    /// `inband host`.
    Host,
    /// `inband collect`.
    Collector,
    /// `inband collect`, for names.
    Names,
}

impl Lab {
    /// Plans a topology; `text` is its file.
    ///
    /// # Errors
    /// The first mistake in it.
    pub fn new(topology: Topology, text: &str) -> Result<Self, LabError> {
        let plan = Plan::new(&topology)?;
        Ok(Self { topology, plan, text: text.to_owned() })
    }

    /// The lab that is up under a name.
    ///
    /// # Errors
    /// There is no such lab; its files cannot be read.
    pub fn of(state: &State) -> Result<Self, LabError> {
        let path = state.folder().join(TOPOLOGY);
        let text = fs::read_to_string(&path).map_err(LabError::files(&path))?;
        let topology = toml::from_str(&text).map_err(|error| {
            LabError::files(&path)(io::Error::new(ErrorKind::InvalidData, error.to_string()))
        })?;
        Self::new(topology, &text)
    }

    /// Every configuration file, with `faults` in force.
    #[must_use]
    pub fn files(&self, faults: &[Fault]) -> Vec<File> {
        let folder = state::folder(&self.plan.name);
        let mut files = Vec::new();
        let mut add = |kind, node: &str, table: &Table| {
            files.push(File { kind, node: node.to_owned(), text: table.to_string() });
        };
        for (at, node) in self.plan.nodes.iter().enumerate() {
            if let Some(table) = plan::switch_toml(&self.plan, &self.topology, at, faults) {
                add(FileKind::Switch, &node.name, &table);
            } else if let Some(mut table) = plan::host_toml(&self.plan, &self.topology, at) {
                if let Some(Value::Table(host)) = table.get_mut("host") {
                    let pins = self.pins(&node.name).display().to_string();
                    host.entry("pins").or_insert_with(|| pins.into());
                }
                add(FileKind::Host, &node.name, &table);
            }
        }
        add(FileKind::Collector, "collector", &plan::collector_toml(&self.plan, &self.topology, &folder));
        add(FileKind::Names, "names", &plan::names_toml(&self.plan));
        files
    }

    /// Creates and starts everything; on failure, or when `stop` is set, removes what was created. `progress`
    /// receives a message for each stage.
    ///
    /// # Errors
    /// The lab is up, or a name or address of it is in use; an error of the kernel; `stop` was set.
    pub fn up(&self, stop: &AtomicBool, mut progress: impl FnMut(&str)) -> Result<(), LabError> {
        if !rustix::process::geteuid().is_root() {
            return Err(LabError::Usage("a lab needs root: it creates network namespaces".into()));
        }
        let namespaces = world::namespaces(&self.plan);
        if state::folder(&self.plan.name).is_dir() {
            // Marks the lab as up.
            State::create(&self.plan.name)?;
        }
        let names = namespace::names().map_err(LabError::files(Path::new(namespace::FOLDER)))?;
        if let Some(used) = namespaces.iter().find(|name| names.contains(name)) {
            return Err(LabError::Usage(format!("the name {used} is in use by another network namespace")));
        }
        if let Err(error) = TcpListener::bind(self.plan.api) {
            let what = format!(
                "the collector's API cannot be at {}: {error}; `[collector] api` says where",
                self.plan.api
            );
            return Err(LabError::Usage(what));
        }
        let mut state = State::create(&self.plan.name)?;
        state.facts.namespaces = namespaces;
        let hosts = self.plan.nodes.iter().filter(|node| node.kind == Kind::Host && node.id.is_some());
        state.facts.pins = hosts.map(|host| self.pins(&host.name)).collect();
        let started = self.start(&mut state, stop, &mut progress);
        if started.is_err() {
            let logs = logs::ends(state.folder());
            drop(state);
            down(&self.plan.name)?;
            return started.map_err(|error| match error {
                LabError::Program(what) => LabError::Program(format!("{what}\n{logs}").trim_end().to_owned()),
                other => other,
            });
        }
        Ok(())
    }

    fn start(
        &self,
        state: &mut State,
        stop: &AtomicBool,
        progress: &mut impl FnMut(&str),
    ) -> Result<(), LabError> {
        state.write(TOPOLOGY, self.text.as_bytes())?;
        for file in self.files(&[]) {
            state.write(&format!("{}.toml", file.node), file.text.as_bytes())?;
        }
        state.save()?;
        world::create(&self.plan, stop)?;
        progress(&format!("{} namespaces, {} links", state.facts.namespaces.len(), self.plan.links.len()));
        self.start_collector(state, stop)?;
        self.start_links(state, stop)?;
        progress(&format!("the collector's API and page: http://{}", self.plan.api));
        let with_int = |kind: fn(Kind) -> bool| {
            self.plan.nodes.iter().filter(move |node| node.id.is_some() && kind(node.kind))
        };
        let mut started = Vec::new();
        for (what, nodes) in [
            ("switch", with_int(|kind| kind != Kind::Host).collect::<Vec<_>>()),
            ("host", with_int(|kind| kind == Kind::Host).collect()),
        ] {
            for node in nodes {
                LabError::if_stopped(stop)?;
                let config = state.folder().join(format!("{}.toml", node.name)).display().to_string();
                started.push(self.spawn(state, &node.name, what, &program(), &[what, "-c", &config])?);
            }
        }
        for process in &started {
            logs::await_words(state.folder(), process, stop)?;
        }
        for node in &self.plan.nodes {
            for command in &node.run {
                self.spawn(state, &node.name, command, Path::new("/bin/sh"), &["-c", command])?;
            }
        }
        LabError::if_stopped(stop)?;
        state.facts.is_complete = true;
        state.save()
    }

    fn start_collector(&self, state: &mut State, stop: &AtomicBool) -> Result<(), LabError> {
        let config = state.folder().join("collector.toml").display().to_string();
        let process = self.spawn(state, "collector", "collector", &program(), &["collect", "-c", &config])?;
        let namespace =
            Namespace::open(&self.plan.namespace("collector")).map_err(LabError::kernel("no collector"))?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && process.is_alive() {
            LabError::if_stopped(stop)?;
            let answers = namespace.inside(|| std::net::TcpStream::connect(plan::API_INSIDE).is_ok());
            if answers.unwrap_or(false) {
                return Ok(());
            }
            std::thread::sleep(STEP);
        }
        Err(LabError::Program("the collector does not answer".into()))
    }

    fn start_links(&self, state: &mut State, stop: &AtomicBool) -> Result<(), LabError> {
        let relayed = self.plan.links.iter().enumerate().filter(|(_, link)| link.is_relayed());
        let links = relayed.map(|(at, link)| LinkSettings {
            names: link.ends.map(|(node, _)| self.plan.nodes[node].name.clone()),
            devices: world::relay_devices(at),
            delay_ns: u64::try_from(link.delay.0.as_nanos()).unwrap_or(u64::MAX),
            loss: link.loss,
        });
        let settings = wire::Settings {
            links_namespace: self.plan.namespace("links"),
            links: links.collect(),
            api: self.plan.api,
            collector: self.plan.namespace("collector"),
            guests: self.plan.nodes.iter().map(|node| self.plan.namespace(&node.name)).collect(),
        };
        let text = serde_json::to_vec_pretty(&settings)
            .map_err(|error| LabError::files(state.folder())(error.into()))?;
        state.write(wire::SETTINGS, &text)?;
        // It listens outside of the lab, so it is in none of its namespaces.
        let log = state.folder().join("log/links.log");
        let log = fs::File::create(&log).map_err(LabError::files(&log))?;
        let copy = log.try_clone().map_err(LabError::kernel("cannot open the log of links"))?;
        let mut command = Command::new(program());
        process::prepare(&mut command, &self.plan.name);
        command
            .args(["lab", "links"])
            .arg(state.folder())
            .stdin(std::process::Stdio::null())
            .stdout(log)
            .stderr(copy);
        let process = note(
            state,
            "links",
            "links",
            std::os::unix::process::CommandExt::process_group(&mut command, 0),
        )?;
        let ready = state.folder().join(wire::READY);
        let until = Instant::now() + PATIENCE;
        while !ready.exists() {
            LabError::if_stopped(stop)?;
            if Instant::now() >= until || !process.is_alive() {
                return Err(LabError::Program("the links do not start".into()));
            }
            std::thread::sleep(STEP);
        }
        Ok(())
    }

    /// Starts a program in a node's namespace, and records it.
    fn spawn(
        &self,
        state: &mut State,
        node: &str,
        what: &str,
        program: &Path,
        arguments: &[&str],
    ) -> Result<Process, LabError> {
        let log = state.folder().join(format!("log/{node}.log"));
        let namespace = self.plan.namespace(node);
        let mut command = process::command(&self.plan.name, &namespace, &program.display().to_string(), &log)
            .map_err(LabError::kernel(format!("cannot enter {namespace}")))?;
        note(state, node, what, command.args(arguments))
    }

    fn pins(&self, host: &str) -> PathBuf {
        Path::new(PINS).join(format!("inband-lab-{}-{host}", self.plan.name).replace('.', "_"))
    }

    /// Applies a fault, or ends faults. On an error of the kernel the faults stay as they were.
    ///
    /// # Errors
    /// It names unknown nodes or links; an error of the kernel.
    pub fn change(&self, state: &mut State, action: &Action) -> Result<(), LabError> {
        self.plan.check(action).map_err(LabError::Usage)?;
        let before = state.facts.faults.clone();
        match action {
            Action::Run(_) => return Ok(()),
            Action::Fault(fault) => {
                if !state.facts.faults.contains(fault) {
                    state.facts.faults.push(fault.clone());
                }
            }
            Action::Mend(names) => state.facts.faults.retain(|fault| !is_mended(fault, names)),
        }
        let changed = self.put_in_force(state, &before);
        if changed.is_err() {
            let now = std::mem::replace(&mut state.facts.faults, before);
            if self.put_in_force(state, &now).is_err() && now.len() > state.facts.faults.len() {
                // What has changed remains, and `mend` can end it.
                state.facts.faults = now;
            }
        }
        state.save()?;
        changed
    }

    /// Changes devices, routes and configuration files from the faults `before` to those of the state.
    fn put_in_force(&self, state: &State, before: &[Fault]) -> Result<(), LabError> {
        world::apply(&self.plan, &state.facts.faults, Some(before))?;
        self.reload(state, before)
    }

    /// Makes switches with changed files reload them.
    fn reload(&self, state: &State, before: &[Fault]) -> Result<(), LabError> {
        let old = self.files(before);
        for file in self.files(&state.facts.faults) {
            if old.iter().any(|old| old.node == file.node && old.text == file.text) {
                continue;
            }
            state.write(&format!("{}.toml", file.node), file.text.as_bytes())?;
            let switches =
                state.facts.processes.iter().filter(|it| it.node == file.node && it.what == "switch");
            switches.for_each(|process| process.signal(Signal::HUP));
        }
        Ok(())
    }
}

/// Whether ending the faults of a link or a switch ends this one.
fn is_mended(fault: &Fault, names: &[String]) -> bool {
    let is_pair = |a: &str, b: &str| matches!(names, [x, y] if (x == a && y == b) || (x == b && y == a));
    let is_one = |name: &str| names.len() == 1 && names[0] == name;
    match fault {
        Fault::Break { a, b } | Fault::Slow { a, b, .. } | Fault::Loop { a, b } => {
            is_pair(a, b) || is_one(a) || is_one(b)
        }
        Fault::Drop { switch, .. } => is_one(switch),
        Fault::Misroute { switch, next, .. } => is_one(switch) || is_pair(switch, next),
    }
}

/// Ends a lab's processes and removes its resources, even where some are gone. Returns the number of
/// processes.
///
/// # Errors
/// There is no such lab; something could not be removed.
pub fn down(name: &str) -> Result<usize, LabError> {
    let state = State::open(name)?;
    let ended = process::end_all(name, &state.facts.namespaces)
        .map_err(LabError::kernel(format!("`{name}` stays")))?;
    world::remove(&state.facts.namespaces)?;
    for pins in &state.facts.pins {
        match fs::remove_dir_all(pins) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(LabError::files(pins)(error)),
            _ => {}
        }
    }
    state.remove()?;
    Ok(ended)
}

/// Starts a command and records it at once.
fn note(state: &mut State, node: &str, what: &str, command: &mut Command) -> Result<Process, LabError> {
    let child = command.spawn().map_err(LabError::kernel(format!("cannot start `{what}` on {node}")))?;
    let process = process::describe(node, what, &child);
    state.facts.processes.push(process.clone());
    state.save()?;
    // Reaps the process when it ends, rather than when this program ends.
    std::thread::spawn(move || {
        let mut child = child;
        let _ = child.wait();
    });
    Ok(process)
}

/// This program.
pub(crate) fn program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "inband".into())
}

const TOPOLOGY: &str = "topology.toml";
/// A BPF file system.
const PINS: &str = "/sys/fs/bpf";

#[cfg(test)]
mod tests;
