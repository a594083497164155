//! A collector process for tests, with functions to send it reports and to query it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use inband_testkit::{inner_only, md_frame, report_group};
use serde_json::Value;

use crate::folder::Folder;

/// A collector that runs in a folder; it is killed on drop.
pub(crate) struct Collector<'a> {
    child: Child,
    folder: &'a Folder,
    /// The address that receives reports.
    pub(crate) reports: SocketAddr,
    /// The address of the API.
    pub(crate) api: SocketAddr,
}

impl<'a> Collector<'a> {
    /// Starts a collector on free ports.
    pub(crate) fn start(folder: &'a Folder) -> Collector<'a> {
        Collector::start_with(folder, "", "exec \"$0\" \"$@\"")
    }

    /// Starts a collector with further settings, through a shell line in which `"$0" "$@"` is the program.
    pub(crate) fn start_with(folder: &'a Folder, settings: &str, shell: &str) -> Collector<'a> {
        let listen =
            format!("[receive]\nlisten = [\"127.0.0.1:0\"]\n[api]\nlisten = \"127.0.0.1:0\"\n{settings}");
        fs::write(folder.path("collector.toml"), listen).unwrap();
        // Under `nohup` SIGHUP is ignored, and the collector would inherit that.
        let mut child = Command::new("env")
            .args(["--default-signal=HUP", "sh"])
            .args(["-c", shell, env!("CARGO_BIN_EXE_inband"), "collect", "-c", "collector.toml"])
            .current_dir(folder.path(""))
            .stderr(File::create(folder.path("stderr")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = fs::read_to_string(folder.path("stderr")).unwrap();
            // The kernel chose the ports; the collector prints them, the API's address last.
            if let Some((reports, api)) = addresses(&said) {
                return Collector { child, folder, reports, api };
            }
            let ended = child.try_wait().unwrap();
            if ended.is_some() || Instant::now() >= deadline {
                // It may have ended already.
                let _ = child.kill();
                panic!("{:?}: {said}", child.wait().unwrap());
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed on stderr.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.folder.path("stderr")).unwrap()
    }

    /// Sends datagrams of node 7, one report each, with these sequence numbers.
    pub(crate) fn send(&self, sequences: impl IntoIterator<Item = u32>) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for sequence in sequences {
            socket.send_to(&report(7, sequence), self.reports).unwrap();
        }
    }

    /// The status and the body of a response.
    pub(crate) fn ask(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.api).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// The body of a response.
    pub(crate) fn get(&self, path: &str) -> String {
        self.ask(path).1
    }

    /// One count of the ledger's totals.
    pub(crate) fn count(&self, key: &str) -> u64 {
        let ledger: Value = serde_json::from_str(&self.get("/api/v1/ledger")).unwrap();
        ledger["total"][key].as_u64().unwrap()
    }

    /// Waits until the count is reached, and returns its last value.
    pub(crate) fn wait_for(&self, key: &str, count: u64) -> u64 {
        let deadline = Instant::now() + PATIENCE;
        while self.count(key) < count && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
        self.count(key)
    }

    /// The peak resident memory, bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = self.status();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
    }

    /// The resident memory, bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = self.status();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
    }

    /// The process's status file in `/proc`.
    pub(crate) fn status(&self) -> String {
        fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap()
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Interrupts it, and returns the exit code.
    pub(crate) fn interrupt(self) -> Option<i32> {
        self.signal("INT")
    }

    /// Sends it a signal that ends it, and returns the exit code.
    pub(crate) fn signal(mut self, name: &str) -> Option<i32> {
        self.tell(name);
        self.child.wait().unwrap().code()
    }

    /// Sends it a signal.
    pub(crate) fn tell(&self, name: &str) {
        let signal = format!("-{name}");
        let status = Command::new("kill").args([signal, self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn addresses(said: &str) -> Option<(SocketAddr, SocketAddr)> {
    let behind = |text: &str| Some(said.lines().find_map(|line| line.strip_prefix(text))?.to_owned());
    let reports = behind("receiving reports on ")?;
    let api = behind("answering on http://").or_else(|| behind("answering on https://"))?;
    Some((reports.split(',').next()?.parse().ok()?, api.parse().ok()?))
}

/// A datagram with one report.
pub(crate) fn report(node_id: u32, sequence: u32) -> Vec<u8> {
    let individual = inner_only().flags(0x20).inner(3, &md_frame().hop(node_id).build());
    report_group(node_id).sequence(sequence).with(individual).build()
}

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);
