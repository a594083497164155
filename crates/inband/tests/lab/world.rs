//! A lab for a test: its topology file, and the program that controls it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use inband_testkit::widen_backlog;
use serde_json::Value;

/// A lab; dropping it takes it down.
pub(crate) struct World {
    name: String,
    port: u16,
    topology: PathBuf,
}

static WORLDS: AtomicU32 = AtomicU32::new(0);

impl World {
    /// Writes a topology with `NAME` and `PORT` replaced; prints a note and returns `None` if this user
    /// cannot start it.
    pub(crate) fn new(text: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        widen_backlog();
        Some(Self::unprivileged(text))
    }

    /// Like `new`, for tests that need no privileges.
    pub(crate) fn unprivileged(text: &str) -> Self {
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let name = format!("inbl{}-{number}", std::process::id());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let topology = std::env::temp_dir().join(format!("{name}.toml"));
        std::fs::write(&topology, text.replace("NAME", &name).replace("PORT", &port.to_string())).unwrap();
        Self { name, port, topology }
    }

    /// Runs `inband lab` with `NAME` and `TOPOLOGY` replaced in its arguments. Returns exit code, stdout and
    /// stderr.
    pub(crate) fn lab(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    /// Starts `inband lab` with `NAME` and `TOPOLOGY` replaced in its arguments.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stderr(Stdio::null()).spawn().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let arguments = arguments.iter().map(|argument| match *argument {
            "NAME" => self.name.clone(),
            "TOPOLOGY" => self.topology.display().to_string(),
            other => other.to_owned(),
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_inband"));
        command.arg("lab").args(arguments);
        command
    }

    /// Whether a process of the lab was started.
    pub(crate) fn has_begun(&self) -> bool {
        let facts = Path::new("/run/inband/lab").join(&self.name).join("state.json");
        let facts = std::fs::read(facts).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        facts.is_some_and(|facts| facts["processes"].as_array().is_some_and(|all| !all.is_empty()))
    }

    /// The collector's answer to a request such as `/api/v1/ledger`.
    pub(crate) fn ask(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Kills the processes of a part of the lab.
    pub(crate) fn kill(&self, part: &str) {
        for process in self.processes(part) {
            let pid = i32::try_from(process["pid"].as_i64().unwrap()).unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        // On a busy machine they remain for a moment.
        let has_ended = |_| {
            sleep(Duration::from_millis(10));
            self.processes(part).iter().all(|process| process["is_alive"] == false)
        };
        assert!((0..6_000).any(has_ended), "{part} outlives SIGKILL");
    }

    fn processes(&self, part: &str) -> Vec<Value> {
        let (_, status, _) = self.lab(&["status", "NAME", "--json"]);
        let status: Value = serde_json::from_str(&status).unwrap();
        let nodes = status["nodes"].as_array().unwrap();
        let node = nodes.iter().find(|node| node["name"] == part).unwrap();
        node["processes"].as_array().unwrap().clone()
    }

    /// Whether nothing is left of the lab.
    pub(crate) fn is_gone(&self) -> bool {
        let namespaces = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let mut names = namespaces.filter_map(|entry| entry.file_name().into_string().ok());
        let is_ours = |name: String| name.starts_with(&format!("{}-", self.name));
        !names.any(is_ours) && !Path::new("/run/inband/lab").join(&self.name).exists()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if Path::new("/run/inband/lab").join(&self.name).exists() {
            self.lab(&["down", "NAME"]);
        }
        let _ = std::fs::remove_file(&self.topology);
    }
}
