//! A collector under load for a long time, with faults: its memory stays bounded, and its counts balance.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use inband_testkit::{inner_only, md_frame, packet, report_group};
use serde_json::Value;

use crate::collector::Collector;
use crate::folder::Folder;

/// `cargo xtask long soak`.
#[test]
#[ignore = "takes an hour"]
fn memory_stays_and_sums_balance_under_load_with_faults() {
    let number_from = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let time = Duration::from_secs(number_from("SECONDS", 3_600));
    let per_second = number_from("REPORTS_A_SECOND", 100_000);
    soak(time, per_second, time / 60);
}

#[test]
fn a_short_soak_with_every_fault_balances() {
    soak(Duration::from_secs(6), 4_000, Duration::from_secs(1));
}

/// Sends for `time`, prints the memory in each `step`, and checks what became of every datagram.
fn soak(time: Duration, per_second: u64, step: Duration) {
    let folder = Folder::new("soak");
    // An hour of reports is 1.2 GB when stored; with a smaller size, retention runs.
    let max_size = std::env::var("MAX_SIZE").unwrap_or_else(|_| "5GB".to_owned());
    let settings = format!("[store]\nmax_size = \"{max_size}\"\n");
    let collector = Collector::start_with(&folder, &settings, "exec \"${PROGRAM:-$0}\" \"$@\"");
    let sent = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let (sent, stop) = (Arc::clone(&sent), Arc::clone(&stop));
            let (to, share) = (collector.reports, per_second / SENDERS);
            thread::spawn(move || Sender::new(sender, to, sent).run(share, time, &stop))
        })
        .collect();
    let (begun, mut memory) = (Instant::now(), Vec::new());
    let mut faults = Faults { every: time / 30, next: time / 30, stops: 0 };
    while begun.elapsed() < time {
        thread::sleep(Duration::from_millis(20));
        faults.look(&collector, begun.elapsed());
        if begun.elapsed() >= step * u32::try_from(memory.len() + 1).unwrap() {
            memory.push(collector.memory());
            let total = total(&collector);
            println!(
                "{:6.0} s: {} MiB, {} received, {} stored, {} lost, {} in the store's directory",
                begun.elapsed().as_secs_f64(),
                memory.last().unwrap() >> 20,
                total["received"],
                total["stored"],
                total["lost"],
                size(&folder.path("inband-data")),
            );
        }
    }
    stop.store(true, Ordering::Relaxed);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    let sent = sent.load(Ordering::Relaxed);
    let total = settle(&collector);
    let count = |key: &str| total[key].as_u64().unwrap();

    let tenth = memory[memory.len().div_ceil(10).max(1).min(memory.len()) - 1];
    let last = *memory.last().unwrap();
    #[allow(clippy::cast_precision_loss, reason = "megabytes")]
    let growth = last as f64 / tenth as f64;
    println!("memory at the end over that at a tenth of the time: {growth:.3}; {} stops", faults.stops);
    println!("{sent} datagrams sent; {total}");
    assert_eq!(count("received") + count("kernel_dropped"), sent, "{total}");
    let parts = ["malformed", "shed", "duplicate", "accepted"].map(count);
    assert_eq!(count("received"), parts.iter().sum::<u64>(), "{total}");
    assert_eq!(count("accepted_reports"), count("stored") + count("store_failed"), "{total}");
    assert!(parts[0] > 0 && parts[2] > 0, "faults were thrown in: {total}");
    // The latest events of all kinds need not include one.
    let events = collector.get("/api/v1/events?kind=sequence-reset");
    assert!(events.contains("sequence-reset"), "nodes began anew: {events}");
    // A short run has not filled its tables after a tenth of its time.
    assert!(time < Duration::from_secs(1_200) || growth <= 1.05, "{growth}");
    assert_eq!(collector.interrupt(), Some(0));
}

/// The faults applied to the collector.
struct Faults {
    every: Duration,
    next: Duration,
    stops: u32,
}

impl Faults {
    /// Stops the collector, including its disk writes, for a moment.
    fn look(&mut self, collector: &Collector<'_>, now: Duration) {
        if now < self.next {
            return;
        }
        self.next += self.every;
        self.stops += 1;
        collector.tell("STOP");
        thread::sleep(PAUSE);
        collector.tell("CONT");
    }
}

/// A sender of the reports of some nodes.
struct Sender {
    socket: UdpSocket,
    to: std::net::SocketAddr,
    nodes: Vec<Node>,
    sent: Arc<AtomicU64>,
    noise: u64,
    turn: u64,
}

/// A node with its next sequence number, and datagrams of its own flows.
struct Node {
    next: u32,
    datagrams: Vec<Vec<u8>>,
}

impl Sender {
    fn new(sender: u64, to: std::net::SocketAddr, sent: Arc<AtomicU64>) -> Self {
        let first = u32::try_from(sender * NODES).unwrap() + 1;
        let node = |id: u32| Node {
            next: 0,
            datagrams: (0..FLOWS).map(|flow| datagram(id, 1_024 + flow)).collect(),
        };
        Self {
            socket: UdpSocket::bind("127.0.0.1:0").unwrap(),
            to,
            nodes: (first..first + u32::try_from(NODES).unwrap()).map(node).collect(),
            sent,
            noise: 0x9e37_79b9_7f4a_7c15 ^ sender,
            turn: 0,
        }
    }

    /// Sends until the time is over: one datagram in a thousand twice, one in a thousand damaged. Every tenth
    /// of the time a node restarts its sequence, and every seventh the sender pauses and opens a new socket.
    fn run(mut self, per_second: u64, time: Duration, stop: &AtomicBool) {
        let begun = Instant::now();
        let (mut node_restarts, mut kills) = (1, 1);
        let mut due = 0_u64;
        while !stop.load(Ordering::Relaxed) && begun.elapsed() < time {
            let now = begun.elapsed();
            if now >= time / 10 * node_restarts {
                let node = usize::try_from(node_restarts).unwrap() % self.nodes.len();
                self.nodes[node].next = 0;
                node_restarts += 1;
            }
            if now >= time / 7 * kills {
                self.socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                kills += 1;
                thread::sleep(time / 100);
                due = u64::try_from(begun.elapsed().as_micros()).unwrap() * per_second / 1_000_000;
            }
            let wanted = u64::try_from(begun.elapsed().as_micros()).unwrap() * per_second / 1_000_000;
            while due + REPORTS <= wanted {
                self.send();
                due += REPORTS;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn send(&mut self) {
        self.turn += 1;
        let at = usize::try_from(self.turn).unwrap();
        let nodes = self.nodes.len();
        let node = &mut self.nodes[at % nodes];
        let flow = at / nodes % node.datagrams.len();
        let bytes = &mut node.datagrams[flow];
        // Version 2, hardware id 0, and a sequence number of 22 bits.
        bytes[..4].copy_from_slice(&(2 << 28 | node.next & 0x003f_ffff).to_be_bytes());
        node.next = node.next.wrapping_add(1);
        let copies = if self.turn.is_multiple_of(1_000) { 2 } else { 1 };
        for _ in 0..copies {
            put(&self.socket, self.to, bytes, &self.sent);
        }
        if self.turn % 1_000 == 500 {
            let mut damaged = bytes.clone();
            for _ in 0..4 {
                self.noise = self
                    .noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let place = usize::try_from(self.noise >> 33).unwrap() % damaged.len();
                // The header stays, so that no sequence numbers of other nodes are invented.
                damaged[place.max(12)] = self.noise.to_le_bytes()[7];
            }
            damaged.truncate(12 + usize::try_from(self.noise >> 40).unwrap() % (damaged.len() - 12));
            put(&self.socket, self.to, &damaged, &self.sent);
        }
    }
}

fn put(socket: &UdpSocket, to: std::net::SocketAddr, bytes: &[u8], sent: &AtomicU64) {
    // While the collector is stopped, the kernel drops and counts what its buffer cannot hold.
    if socket.send_to(bytes, to).is_ok() {
        sent.fetch_add(1, Ordering::Relaxed);
    }
}

/// A datagram with reports on a packet that crossed five nodes.
fn datagram(node: u32, port: u16) -> Vec<u8> {
    let frame =
        (0..5).fold(md_frame().over(packet().tcp(port, 80)), |frame, hop| frame.hop(node + hop * 100));
    let mut frame = frame.build();
    // A report's length is a multiple of a word.
    frame.resize(frame.len().next_multiple_of(4), 0);
    let group = (0..REPORTS)
        .fold(report_group(node), |group, _| group.with(inner_only().flags(0x20).inner(3, &frame)));
    group.build()
}

fn total(collector: &Collector<'_>) -> Value {
    let ledger: Value = serde_json::from_str(&collector.get("/api/v1/ledger")).unwrap();
    ledger["total"].clone()
}

/// Waits until every accepted report is stored or failed, and returns the last totals.
fn settle(collector: &Collector<'_>) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut last = total(collector);
    loop {
        thread::sleep(Duration::from_millis(1_000));
        let now = total(collector);
        let count = |key: &str| now[key].as_u64().unwrap();
        let is_stored = count("stored") + count("store_failed") == count("accepted_reports");
        if (is_stored && now["received"] == last["received"]) || Instant::now() > deadline {
            return now;
        }
        last = now;
    }
}

/// Bytes of the files in a directory and those below it, in words.
fn size(directory: &std::path::Path) -> String {
    fn bytes(directory: &std::path::Path) -> u64 {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries
            .map(|entry| match entry.file_type() {
                Ok(kind) if kind.is_dir() => bytes(&entry.path()),
                _ => entry.metadata().map_or(0, |file| file.len()),
            })
            .sum()
    }
    format!("{} MB", bytes(directory) / 1_000_000)
}

/// Sending threads.
const SENDERS: u64 = 2;
/// Nodes of each.
const NODES: u64 = 10;
/// Flows that each node reports.
const FLOWS: u16 = 200;
/// Reports in a datagram.
const REPORTS: u64 = 4;
/// How long the collector is stopped.
const PAUSE: Duration = Duration::from_millis(500);
