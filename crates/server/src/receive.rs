//! Reception of datagrams, independent of their processing.

mod allowed;
mod batch;
mod feed;
mod socket;
mod worker;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use inband_model::SocketLedger;
use thiserror::Error;

pub use self::batch::Batch;
pub use self::feed::{Feed, ReceptionCounts, Replay};

pub(crate) use self::feed::{Waker, feed};

use self::allowed::Allowed;
use self::feed::Inlet;
use self::worker::Worker;
use crate::clock::Clock;
use crate::settings::ReceiveSettings;

/// The sockets that receive reports, each read by its own thread.
///
/// The threads do not parse: they read datagrams, stamp and count them, and put them into a bounded queue.
/// What does not fit is counted as shed.
#[derive(Debug)]
pub struct Reception {
    addresses: Vec<SocketAddr>,
    buffer_bytes: usize,
    inlet: Inlet,
    clock: Clock,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Why reports cannot be received.
#[derive(Debug, Error)]
pub enum ReceptionError {
    /// No address is given.
    #[error("no address to receive reports on")]
    NoAddress,
    /// A socket cannot be opened.
    #[error("cannot receive reports on {address}")]
    Socket {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread to receive reports")]
    Thread(#[source] io::Error),
}

impl Reception {
    /// Opens the sockets and starts reading them into the feed.
    ///
    /// # Errors
    /// An address cannot be bound, or a thread cannot be started.
    pub fn start(settings: &ReceiveSettings) -> Result<(Reception, Feed), ReceptionError> {
        if settings.listen.is_empty() {
            return Err(ReceptionError::NoAddress);
        }
        let clock = Clock::start();
        let allowed = Allowed::new(&settings.allow);
        let (inlet, mut feed) = feed(settings.queue_bytes, clock.clone());
        feed.recent_bytes = settings.recent_bytes;
        let stop = Arc::new(AtomicBool::new(false));
        let mut reception = Reception {
            addresses: Vec::new(),
            buffer_bytes: usize::MAX,
            inlet,
            clock,
            stop: Arc::clone(&stop),
            threads: Vec::new(),
        };
        for address in &settings.listen {
            let failed = |source| ReceptionError::Socket { address: *address, source };
            let group = socket::open_group(*address, settings).map_err(failed)?;
            reception.addresses.push(group.address);
            reception.buffer_bytes = reception.buffer_bytes.min(group.buffer_bytes);
            for socket in group.sockets {
                let inlet = reception.inlet.clone();
                let (stop, clock) = (Arc::clone(&stop), reception.clock.clone());
                let worker = Worker::new(socket, group.address, allowed.clone(), inlet, stop, clock);
                let started = worker.spawn(settings.run_first).map_err(ReceptionError::Thread)?;
                reception.threads.push(started.0);
                feed.sockets.push(SocketLedger {
                    address: group.address,
                    wanted_buffer_bytes: settings.socket_buffer_bytes.into(),
                    buffer_bytes: group.buffer_bytes as u64,
                    priority: started.1.to_owned(),
                });
            }
        }
        Ok((reception, feed))
    }

    /// The addresses that receive reports, with the ports the kernel chose.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Receive buffer of each socket, at least, bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// Number of datagrams read so far from addresses that are allowed to report.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.inlet.taken()
    }

    /// The clock that stamps the datagrams.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Reads what has arrived, and closes the sockets.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
