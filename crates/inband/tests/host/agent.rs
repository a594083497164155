//! The program on one of the hosts.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::world::{COLLECTOR, Place, World};

/// `inband host`, until it is stopped or dropped.
pub(crate) struct Agent {
    child: Child,
    /// The process id of the program, which is a child of `child` in a container.
    id: u32,
    messages: BufReader<ChildStderr>,
}

/// What differs between the domains of the tests.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) kind: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) more: String,
    /// Devices instead of the host's own.
    pub(crate) devices: Option<&'static str>,
    /// Further settings of `[host]`.
    pub(crate) host: String,
    /// Prefixes of the other host, whose network is `{far}`.
    pub(crate) peers: &'static str,
    /// Whether hosts ask each other for leases.
    pub(crate) lease: bool,
    /// The version that sources write.
    pub(crate) version: &'static str,
    /// Instructions before the usual ones.
    pub(crate) asks: &'static str,
    pub(crate) interval_us: u32,
    pub(crate) coverage: &'static str,
    /// Whether agents see the BPF file systems of the machine.
    pub(crate) pins: bool,
    /// Whether agents have only the capabilities of the unit in `examples`.
    pub(crate) confined: bool,
    /// Whether an agent is the first process of a container, which ends with it.
    pub(crate) contained: bool,
}

impl Domain {
    pub(crate) fn new(kind: &'static str, mode: &'static str) -> Self {
        Self {
            kind,
            mode,
            more: String::new(),
            devices: None,
            host: String::new(),
            peers: "10.91.{far}.0/24 fd91:{far}::/64",
            lease: false,
            version: "2.1",
            asks: "",
            interval_us: 1_000,
            coverage: "all",
            pins: false,
            confined: false,
            contained: false,
        }
    }

    pub(crate) fn with_devices(self, devices: &'static str) -> Self {
        Self { devices: Some(devices), ..self }
    }

    pub(crate) fn of_host_int(kind: &'static str) -> Self {
        Self { version: "host-0.5", ..Self::new(kind, "md") }
    }

    /// The settings of one host, with the other one as its peer.
    pub(crate) fn settings(&self, place: Place) -> String {
        let (id, device, far) = match place {
            Place::A => (101, "ab", "3"),
            Place::FirstHop => (103, "bc", "3"),
            _ => (102, "dc", "1"),
        };
        let Self {
            kind, mode, more, devices, host, peers, lease, version, asks, interval_us, coverage, ..
        } = self;
        // Host-INT always has the same four instructions.
        let latency = if *version == "2.1" { "\"hop-latency\", " } else { "" };
        let devices = devices.unwrap_or(device);
        let peer = |prefix: &str| {
            let prefix = prefix.replace("{far}", far);
            format!("[[peer]]\nprefix = \"{prefix}\"\nlease = {lease}\n")
        };
        let peers: String = peers.split(' ').map(peer).collect();
        format!(
            "
[node]
id = {id}
int_version = \"{version}\"
[host]
devices = [\"{devices}\"]
interval_us = {interval_us}
coverage = \"{coverage}\"
{host}
[[interface]]
id = 7
device = \"{device}\"
{peers}[encapsulation]
kind = \"{kind}\"
[[watch]]
protocol = \"tcp\"
[[watch]]
protocol = \"udp\"
[source]
mode = \"{mode}\"
instructions = [{asks}\"node-id\", \"level1-interfaces\", {latency}\"ingress-timestamp\", \"egress-timestamp\"]
[report]
collector = \"{COLLECTOR}:32766\"
truncate = 300
{more}
"
        )
    }
}

impl Agent {
    /// Starts the program and waits until it runs; prints a note and returns `None` if the kernel does not
    /// permit it.
    pub(crate) fn start(world: &World, place: Place, domain: &Domain) -> Option<Self> {
        Self::start_with(world, place, domain, str::to_owned)
    }

    /// Like `start`, with the settings changed by `change`.
    pub(crate) fn start_with(
        world: &World,
        place: Place,
        domain: &Domain,
        change: impl FnOnce(&str) -> String,
    ) -> Option<Self> {
        let settings = change(&domain.settings(place));
        let settings = world.write(&format!("{place:?}.toml"), settings.as_bytes());
        let program = env!("CARGO_BIN_EXE_inband");
        let mut command = match (domain.pins, domain.confined, domain.contained) {
            (_, _, true) => world.enter_container(place, program),
            (_, true, _) => world.enter_confined(place, program),
            (true, ..) => world.enter(place, program),
            _ => world.command(place, program),
        };
        let mut child = command
            .args(["host", "--json", "-c"])
            .arg(settings)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let messages = BufReader::new(child.stderr.take().unwrap());
        let mut agent = Self { id: child.id(), child, messages };
        let message = agent.next_message();
        if message.contains("Operation not permitted") || message.contains("Function not implemented") {
            eprintln!("skipped: the kernel does not let this user load BPF programs: {message}");
            return None;
        }
        assert!(message.starts_with("INT on "), "{message}");
        let clock = agent.next_message();
        assert!(clock.contains("clock"), "{clock}");
        if domain.contained {
            let children = format!("/proc/{0}/task/{0}/children", agent.id);
            agent.id = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
        }
        Some(agent)
    }

    /// The next line the program writes to stderr.
    pub(crate) fn next_message(&mut self) -> String {
        next_message(&mut self.messages)
    }

    /// The process id of the program, which replaces `ip netns exec`.
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.id).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Ends the program with a signal, and returns its final counts.
    pub(crate) fn stop(mut self) -> Value {
        self.signal(Signal::INT);
        let mut text = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let mut messages = String::new();
        self.messages.read_to_string(&mut messages).unwrap();
        assert!(self.child.wait().unwrap().success(), "{messages}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?} {messages}"))
    }
}

/// The next line of an agent's messages; empty at their end.
pub(crate) fn next_message(messages: &mut impl BufRead) -> String {
    let mut line = String::new();
    // `ip netns exec` hides the BPF file system; agents print a note about it.
    while line.is_empty() || line.starts_with("note: no pins in ") {
        line.clear();
        if messages.read_line(&mut line).unwrap() == 0 {
            break;
        }
    }
    line
}

impl Agent {
    /// The error of a program that cannot start.
    pub(crate) fn refusal(world: &World, place: Place, domain: &Domain) -> String {
        let settings = world.write("refused.toml", domain.settings(place).as_bytes());
        let mut command = world.command(place, env!("CARGO_BIN_EXE_inband"));
        let output = command.args(["host", "-c"]).arg(settings).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Kills the program, as the kernel does when it is out of memory.
    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Killed and waited for already, if the test passed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
