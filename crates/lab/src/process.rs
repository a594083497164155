//! The processes of a lab, identified even after the end of the process that started them.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use inband_linux::namespace::{self, Namespace};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// A process of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The host, switch or part of the lab it belongs to.
    pub node: String,
    /// What it is: `switch`, `host`, `collector`, `links`, or its command.
    pub what: String,
    /// Its id.
    pub pid: u32,
    /// When it was started, in the kernel's ticks since boot: ids are reused.
    pub started: u64,
}

impl Process {
    /// Whether it is still running.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// Sends it a signal, if it still exists.
    pub fn signal(&self, signal: Signal) {
        if self.is_alive() {
            send(self.pid, signal);
        }
    }
}

/// A command in a namespace of the lab; this program is in its path as `inband`, and its output goes to
/// `log`.
///
/// # Errors
/// The namespace or the log cannot be opened.
pub fn command(lab: &str, namespace: &str, program: &str, log: &Path) -> io::Result<Command> {
    let mut command = Namespace::open(namespace)?.command(program)?;
    let log = OpenOptions::new().create(true).append(true).open(log)?;
    let copy: File = log.try_clone()?;
    command.stdin(Stdio::null()).stdout(log).stderr(copy).process_group(0);
    prepare(&mut command, lab);
    Ok(command)
}

/// Marks a command as one of a lab, and puts this program into its path.
pub fn prepare(command: &mut Command, lab: &str) {
    command.env(MARK, lab);
    if let Some(folder) = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned)) {
        let rest = std::env::var_os("PATH").unwrap_or_else(|| "/usr/sbin:/usr/bin:/sbin:/bin".into());
        let mut path = folder.into_os_string();
        path.push(":");
        path.push(rest);
        command.env("PATH", path);
    }
}

/// The record of a process that was just started.
#[must_use]
pub fn describe(node: &str, what: &str, child: &Child) -> Process {
    let pid = child.id();
    Process { node: node.to_owned(), what: what.to_owned(), pid, started: started(pid).unwrap_or_default() }
}

/// Ends every process of a lab: requests it, waits, and kills the rest. Returns their number.
///
/// # Errors
/// Some are still running.
pub fn end_all(lab: &str, namespaces: &[String]) -> io::Result<usize> {
    let inodes = inodes(namespaces);
    let mut found = BTreeSet::new();
    for (signal, patience) in [(Signal::TERM, ASKED), (Signal::KILL, KILLED)] {
        let until = Instant::now() + patience;
        let mut told = BTreeSet::new();
        loop {
            let left = all(lab, &inodes);
            if left.is_empty() {
                return Ok(found.len());
            }
            for pid in left {
                found.insert(pid);
                if told.insert(pid) {
                    send(pid, signal);
                }
            }
            if Instant::now() >= until {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Err(io::Error::other("processes do not end"))
}

/// The processes that carry the lab's mark, or are in one of its namespaces.
fn all(lab: &str, inodes: &BTreeSet<u64>) -> BTreeSet<u32> {
    let own = std::process::id();
    let mark = format!("{MARK}={lab}");
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let path = Path::new("/proc").join(pid.to_string());
        let is_inside = fs::metadata(path.join("ns/net")).is_ok_and(|it| inodes.contains(&it.ino()));
        let is_marked = || {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
        };
        // This command may have been called by a process of the lab.
        *pid != own && (is_inside || is_marked()) && started(*pid).is_some() && !is_ancestor(*pid)
    })
    .collect()
}

/// Whether a process is an ancestor of this one.
fn is_ancestor(pid: u32) -> bool {
    let mut at = std::process::id();
    for _ in 0..MAX_ANCESTORS {
        let Some(parent) = stat(at).and_then(|fields| fields.get(1)?.parse::<u32>().ok()) else {
            return false;
        };
        if parent == pid {
            return true;
        }
        at = parent;
    }
    false
}

fn inodes(namespaces: &[String]) -> BTreeSet<u64> {
    let path = |name: &String| Path::new(namespace::FOLDER).join(name);
    let own = fs::metadata("/proc/self/ns/net").map(|it| it.ino()).unwrap_or_default();
    let all = namespaces.iter().filter_map(|name| fs::metadata(path(name)).ok()).map(|it| it.ino());
    // A name whose namespace was never mounted is an ordinary file; this process's own is not one of the
    // lab's.
    all.filter(|inode| *inode != own).collect()
}

fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// When a process was started; `None`: it has ended, even if it was not reaped.
fn started(pid: u32) -> Option<u64> {
    let fields = stat(pid)?;
    if fields.first().is_some_and(|state| state == "Z" || state == "X") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// The fields of `/proc/PID/stat` from the third, the state, on.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second is the name in brackets, which may contain anything.
    let behind = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::ffi::OsStr::from_bytes(text.get(behind + 1..)?).to_str()?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// The variable that marks a process as one of a lab.
const MARK: &str = "INBAND_LAB";
/// How long processes have to end on request.
const ASKED: Duration = Duration::from_secs(3);
/// How long killed processes have to end.
const KILLED: Duration = Duration::from_secs(5);
const MAX_ANCESTORS: usize = 64;
