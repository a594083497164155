//! The thread that reads one socket.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::allowed::Allowed;
use super::batch::Batch;
use super::feed::Inlet;
use crate::clock::Clock;
use crate::sys::{self, Message, Messages};

/// Reads datagrams from one socket, stamps them and puts them into the queue.
pub(super) struct Worker {
    socket: UdpSocket,
    /// The address the socket is bound to; datagrams to a wildcard address name their own.
    session: SocketAddr,
    allowed: Allowed,
    inlet: Inlet,
    stop: Arc<AtomicBool>,
    clock: Clock,
    /// The kernel's count of drops when it was last read.
    dropped: u32,
}

impl Worker {
    pub(super) fn new(
        socket: UdpSocket,
        session: SocketAddr,
        allowed: Allowed,
        inlet: Inlet,
        stop: Arc<AtomicBool>,
        clock: Clock,
    ) -> Worker {
        Worker { socket, session, allowed, inlet, stop, clock, dropped: 0 }
    }

    /// Starts the thread and returns its priority. The priority needs privileges that may be dropped soon.
    pub(super) fn spawn(self, runs_first: bool) -> io::Result<(JoinHandle<()>, &'static str)> {
        let (sender, priority) = sync_channel(1);
        let run = move || {
            let priority = if runs_first { sys::run_first() } else { None };
            // The starting thread waits for this.
            let _ = sender.send(priority.unwrap_or("normal"));
            self.run();
        };
        let thread = Builder::new().name("receive".to_owned()).spawn(run)?;
        Ok((thread, priority.recv().unwrap_or("normal")))
    }

    fn run(mut self) {
        let mut messages = Messages::new();
        let mut counted_at = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            self.receive(&mut messages);
            if counted_at.elapsed() >= COUNT_EVERY {
                counted_at = Instant::now();
                self.count_drops();
            }
        }
        // What has arrived counts as received, so it is read too, within a time limit.
        let stopped_at = Instant::now();
        while stopped_at.elapsed() < LAST_ORDERS && self.receive(&mut messages) {}
        self.count_drops();
    }

    /// Reads the pending datagrams; false when none came for a while.
    fn receive(&mut self, messages: &mut Messages) -> bool {
        match messages.receive(self.socket.as_fd()) {
            Ok(()) => {
                self.hand_on(messages);
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => false,
            Err(_) => {
                self.inlet.count_failure();
                // A persistent fault must not keep the processor busy.
                std::thread::sleep(COUNT_EVERY);
                false
            }
        }
    }

    fn hand_on(&mut self, messages: &Messages) {
        let mut batch = Batch::new(self.clock.now(), self.session);
        let mut refused = 0;
        for message in messages.iter() {
            let from = message.from.unwrap_or(NOWHERE);
            let session = message.to.map_or(self.session, |to| SocketAddr::new(to, self.session.port()));
            if session != batch.session {
                let next = Batch::new(batch.received_at, session);
                self.put(std::mem::replace(&mut batch, next));
            }
            if self.allowed.includes(from) {
                datagrams(&message).for_each(|datagram| batch.push(from, datagram));
            } else {
                refused += u64::try_from(datagrams(&message).count()).unwrap_or(u64::MAX);
            }
        }
        if refused > 0 {
            self.inlet.count_refused(refused);
        }
        self.put(batch);
    }

    fn put(&self, batch: Batch) {
        if !batch.is_empty() {
            self.inlet.put(batch);
        }
    }

    fn count_drops(&mut self) {
        // A kernel without this count has none later either.
        let Ok(dropped) = sys::dropped(self.socket.as_fd()) else { return };
        let more = dropped.wrapping_sub(self.dropped);
        self.dropped = dropped;
        if more > 0 {
            self.inlet.count_kernel_dropped(u64::from(more));
        }
    }
}

/// The datagrams of one coalesced piece; an empty piece is one empty datagram.
fn datagrams<'a>(message: &Message<'a>) -> impl Iterator<Item = &'a [u8]> {
    let size = message.segment_bytes.unwrap_or(message.bytes.len()).max(1);
    let empty = message.bytes.is_empty().then_some(message.bytes);
    message.bytes.chunks(size).chain(empty)
}

/// Interval at which the kernel's count of drops is read.
const COUNT_EVERY: Duration = Duration::from_millis(100);
/// How long a stopped worker continues while datagrams arrive.
const LAST_ORDERS: Duration = Duration::from_millis(500);
/// Sender of a datagram without an address.
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);
