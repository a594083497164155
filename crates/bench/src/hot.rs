//! Load of one very hot switch on the collector.
//!
//! 487,000 reports of 256 bytes a second, all of one flow and to one socket, as from a switch that reports
//! every packet of a full 10 Gbit/s port. The sender is a thread of this process and uses segmentation
//! offload, to take little of the machine; everything is on loopback, without privileges.

use std::io::{IoSlice, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use inband_collector::CollectorSettings;
use inband_export::Exports;
use inband_model::{Ledger, Names, SocketLedger};
use inband_server::{ApiSettings, Listening, Monitor, MonitorParts, ReceiveSettings, Reception, Settings};
use inband_store::{Store, StoreSettings};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};

use crate::folder::Folder;
use crate::reports::Datagrams;

/// The work that runs beside reception, ledger and paths.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beside {
    /// Nothing.
    Nothing,
    /// History.
    Store,
    /// History, an API that is queried all the time, and JSON Lines.
    All,
}

/// The outcome of the reports of one run.
struct Run {
    sent: Sent,
    total: Ledger,
    socket: SocketLedger,
}

/// Sends reports at a rate for a time, and returns where each of them went.
///
/// # Errors
/// Sockets or the store cannot be opened, or the ledger does not account for every report that was sent.
pub(crate) fn report(seconds: u64, per_second: u32, beside: Beside) -> Result<String> {
    let what = match beside {
        Beside::Nothing => "ledger and paths",
        Beside::Store => "ledger, paths and store",
        Beside::All => "ledger, paths, store, API and JSON Lines",
    };
    Ok(format!("One hot switch, {what}: {}", run(seconds, per_second, beside)?.text()))
}

/// Runs this several times with everything beside it, and prints each result.
///
/// # Errors
/// As for one, or a report was lost.
pub(crate) fn reports(runs: u32, seconds: u64, per_second: u32) -> Result<()> {
    let mut lossy = 0;
    for number in 1..=runs {
        let run = run(seconds, per_second, Beside::All)?;
        if number == 1 {
            let SocketLedger { wanted_buffer_bytes, buffer_bytes, priority, .. } = &run.socket;
            println!(
                "the kernel keeps {buffer_bytes} of {wanted_buffer_bytes} bytes; priority of the thread: {priority}"
            );
        }
        println!("run {number}: {}", run.text());
        let Ledger { lost, lost_unknown, shed, store_failed, .. } = run.total;
        lossy += u32::from(lost + lost_unknown + shed + store_failed > 0);
    }
    ensure!(lossy == 0, "reports were lost in {lossy} of {runs} runs");
    Ok(())
}

impl Run {
    fn text(&self) -> String {
        let Self { sent, total, .. } = self;
        format!(
            "{} reports of {} bytes in {:.1?}, {:.0} a second: {} lost (the kernel dropped {} pieces, {} were shed), \
             {} accepted, {} stored, {} not stored, {} messages exported, {} not",
            sent.datagrams,
            sent.bytes,
            sent.took,
            sent.datagrams as f64 / sent.took.as_secs_f64(),
            total.lost,
            total.kernel_dropped,
            total.shed,
            total.accepted,
            total.stored,
            total.store_failed,
            total.exported,
            total.export_failed
        )
    }
}

fn run(seconds: u64, per_second: u32, beside: Beside) -> Result<Run> {
    let folder = Folder::new("hot");
    let store = match beside {
        Beside::Nothing => None,
        Beside::Store | Beside::All => Some(open(folder.0.join("store"))?),
    };
    let listen = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let (reception, feed) = Reception::start(&ReceiveSettings { listen, ..ReceiveSettings::default() })?;
    let names = Arc::new(Names::default());
    let mut settings = Settings::default();
    if matches!(beside, Beside::All) {
        settings.jsonl.path = folder.0.join("lines.jsonl");
    }
    let (exports, stages) = Exports::start(&settings.exports(), &names)?;
    let listening = match beside {
        Beside::Nothing | Beside::Store => None,
        Beside::All => {
            let listen = (Ipv4Addr::LOCALHOST, 0).into();
            Some(Listening::open(&ApiSettings { listen, ..ApiSettings::default() })?)
        }
    };
    let address = *reception.addresses().first().context("an address is received on")?;
    let collector = CollectorSettings::default();
    let parts = MonitorParts { reception, feed, collector, store, names, listening, exports, stages };
    let monitor = Monitor::start(parts)?;
    let is_over = AtomicBool::new(false);
    let sent = thread::scope(|scope| {
        if let Some(api) = monitor.api() {
            scope.spawn(|| ask(api.address(), &is_over));
        }
        let sent = scope.spawn(|| send(address, Duration::from_secs(seconds), per_second)).join();
        is_over.store(true, Ordering::Relaxed);
        sent
    });
    let sent = sent.ok().context("the sender ended")??;
    // Gaps in the numbers are confirmed when nothing has filled them for a while.
    thread::sleep(LINGER);
    let ledger = monitor.stop().outcome.context("the collector ended")?.ledger;
    drop(folder);
    let total = ledger.total;
    ensure!(total.balances(), "the ledger does not balance: {total:?}");
    // The kernel counts drops in pieces of up to 64 datagrams; the sequence numbers of the reports give the
    // exact number.
    ensure!(
        total.accepted + total.lost == sent.datagrams,
        "{} were sent, {} accepted, {} lost by their numbers",
        sent.datagrams,
        total.accepted,
        total.lost
    );
    let socket = ledger.sockets.into_iter().next().context("a socket is received on")?;
    Ok(Run { sent, total, socket })
}

/// Queries what a page shows, as often as a page that follows several views.
fn ask(api: SocketAddr, is_over: &AtomicBool) {
    let paths = ["ledger", "flows?limit=50", "nodes", "interfaces", "queues?limit=20", "events?limit=50"];
    while !is_over.load(Ordering::Relaxed) {
        for path in paths {
            let mut answer = Vec::new();
            // Missing answers are not what is measured.
            let _ = TcpStream::connect(api).and_then(|mut stream| {
                stream.set_read_timeout(Some(Duration::from_secs(5)))?;
                stream.write_all(format!("GET /api/v1/{path} HTTP/1.0\r\n\r\n").as_bytes())?;
                stream.read_to_end(&mut answer)
            });
        }
        thread::sleep(ASK_EVERY);
    }
}

fn open(path: PathBuf) -> Result<Arc<Store>> {
    let settings = StoreSettings { path, ..StoreSettings::default() };
    Ok(Arc::new(Store::open(settings).context("cannot open the store")?))
}

/// The outcome of the sender.
struct Sent {
    datagrams: u64,
    bytes: usize,
    took: Duration,
}

fn send(to: SocketAddr, time: Duration, per_second: u32) -> Result<Sent> {
    let mut sender = Sender::new(to)?;
    let started = Instant::now();
    let interval = Duration::from_secs(AT_ONCE as u64) / per_second;
    let mut due = Duration::ZERO;
    while due < time {
        // Waiting by sleeping would delay the sender by the granularity of the timer; it catches up.
        if let Some(early) = due.checked_sub(started.elapsed()).filter(|early| *early > GRANULARITY) {
            thread::sleep(early);
        }
        sender.send()?;
        due += interval;
    }
    let took = started.elapsed();
    // The loss of the last reports is unknown until a later one arrives.
    thread::sleep(DRAIN);
    sender.send()?;
    Ok(Sent { datagrams: sender.datagrams, bytes: REPORT_BYTES, took })
}

/// The switch.
struct Sender {
    socket: UdpSocket,
    reports: Datagrams,
    datagrams: u64,
}

impl Sender {
    fn new(to: SocketAddr) -> Result<Sender> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(to)?;
        Ok(Sender { socket, reports: Datagrams::of_one_flow(AT_ONCE, REPORT_BYTES)?, datagrams: 0 })
    }

    /// Sends the next reports in one piece.
    fn send(&mut self) -> Result<()> {
        self.reports.renumber();
        let bytes: Vec<u8> = self.reports.iter().flatten().copied().collect();
        let sent = sendmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &[IoSlice::new(&bytes)],
            &[ControlMessage::UdpGsoSegments(&SEGMENT_BYTES)],
            MsgFlags::empty(),
            None,
        );
        ensure!(sent == Ok(bytes.len()), "the kernel took {sent:?} of {} bytes", bytes.len());
        self.datagrams += AT_ONCE as u64;
        Ok(())
    }
}

/// Number of reports passed to the kernel at once.
const AT_ONCE: usize = 32;
/// Length of a report's datagram, bytes.
const REPORT_BYTES: usize = 256;
#[allow(clippy::cast_possible_truncation, reason = "256")]
const SEGMENT_BYTES: u16 = REPORT_BYTES as u16;
/// Time for the collector to handle what is pending, before the report that shows what is missing of it.
const DRAIN: Duration = Duration::from_secs(2);
/// Maximum wait for what is in transit.
const LINGER: Duration = Duration::from_secs(4);
/// Interval of the queries of a page.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// How early the sender may be.
const GRANULARITY: Duration = Duration::from_micros(60);
