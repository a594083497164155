//! Does the collector survive one very hot switch?
//!
//! 487,000 reports of 256 bytes a second, all of one flow and to one socket, as a switch sends them that reports every
//! packet of a full 10 Gbit/s port. The sender is a thread of this process and uses segmentation offload, so that it
//! takes little of the machine; everything is on loopback, without privileges.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use inband_collector::CollectorSettings;
use inband_server::{Keep, Pipeline, ReceiveSettings, Reception, Stage};
use inband_store::{Store, StoreSettings};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};

use crate::folder::Folder;
use crate::reports::Datagrams;

/// Sends for so long, at so many reports a second, and says where each of them went.
///
/// # Errors
/// Sockets or the store cannot be opened, or the ledger does not account for every report that was sent.
pub(crate) fn report(seconds: u64, per_second: u32, keeps: bool) -> Result<String> {
    let folder = Folder::new("hot");
    let store = if keeps { Some(open(folder.0.clone())?) } else { None };
    let listen = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let (reception, feed) = Reception::start(&ReceiveSettings { listen, ..ReceiveSettings::default() })?;
    let stages = store.iter().map(|store| Box::new(Keep::new(Arc::clone(store))) as Box<dyn Stage>);
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages.collect())?;
    let address = *reception.addresses().first().context("an address is received on")?;
    let sent = thread::spawn(move || send(address, Duration::from_secs(seconds), per_second));
    let sent = sent.join().ok().context("the sender ended")??;
    // Gaps in the numbers are confirmed when nothing has filled them for a while.
    thread::sleep(LINGER);
    reception.stop();
    let total = pipeline.stop().context("the collector ended")?.ledger.total;
    drop(store);
    drop(folder);
    ensure!(total.balances(), "the ledger does not balance: {total:?}");
    // What the kernel drops it counts in pieces of up to 64 datagrams; the numbers of the reports tell how many it was.
    ensure!(
        total.accepted + total.lost == sent.datagrams,
        "{} were sent, {} accepted, {} lost by their numbers",
        sent.datagrams,
        total.accepted,
        total.lost
    );
    let what = if keeps { "ledger, paths and store" } else { "ledger and paths" };
    Ok(format!(
        "One hot switch, {what}: {} reports of {} bytes in {:.1?}, {:.0} a second: {} lost (the kernel dropped {} pieces, {} \
         were shed), {} accepted, {} stored, {} not stored",
        sent.datagrams,
        sent.bytes,
        sent.took,
        sent.datagrams as f64 / sent.took.as_secs_f64(),
        total.lost,
        total.kernel_dropped,
        total.shed,
        total.accepted,
        total.stored,
        total.store_failed
    ))
}

fn open(path: PathBuf) -> Result<Arc<Store>> {
    let settings = StoreSettings { path, ..StoreSettings::default() };
    Ok(Arc::new(Store::open(settings).context("cannot open the store")?))
}

/// What the sender did.
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
        // Waiting by sleeping would let the sender fall behind by the granularity of the timer; it catches up.
        if let Some(early) = due.checked_sub(started.elapsed()).filter(|early| *early > GRANULARITY) {
            thread::sleep(early);
        }
        sender.send()?;
        due += interval;
    }
    let took = started.elapsed();
    // Of the last reports nobody knows that they are missing until a later one comes.
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

    /// Sends the next reports, in one piece.
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

/// Reports the sender hands to the kernel at once.
const AT_ONCE: usize = 32;
/// Length of a report's datagram, bytes.
const REPORT_BYTES: usize = 256;
#[allow(clippy::cast_possible_truncation, reason = "256")]
const SEGMENT_BYTES: u16 = REPORT_BYTES as u16;
/// How long the collector is given for what waits, before the report that shows what of it is missing.
const DRAIN: Duration = Duration::from_secs(2);
/// How long is waited for what is under way.
const LINGER: Duration = Duration::from_secs(4);
/// How early the sender may be.
const GRANULARITY: Duration = Duration::from_micros(60);
