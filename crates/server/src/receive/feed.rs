//! Where do datagrams wait to be understood, and what if there is no room?

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use inband_model::{Nanos, SocketLedger};

use super::batch::Batch;
use crate::clock::Clock;

/// A queue of batches that is full at a number of bytes, and the counts of what did not come through it.
/// Batches are stamped by `clock`.
pub(super) fn feed(queue_bytes: usize, clock: Clock) -> (Inlet, Feed) {
    let (sender, receiver) = sync_channel(MAX_BATCHES);
    let state = Arc::new(State { queue_bytes, ..State::default() });
    (
        Inlet { sender, state: Arc::clone(&state) },
        Feed { receiver, state, clock: Some(clock), sockets: Vec::new(), recent_bytes: 0 },
    )
}

/// What was received and cannot be read from the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceptionCounts {
    /// Datagrams there was no room for in the queue.
    pub shed: u64,
    /// Datagrams the kernel dropped before the socket was read.
    pub kernel_dropped: u64,
    /// Datagrams from addresses that may not report.
    pub refused: u64,
    /// Times a socket could not be read.
    pub failures: u64,
}

impl ReceptionCounts {
    /// Adds what was counted later.
    pub(crate) fn add(&mut self, later: ReceptionCounts) {
        self.shed += later.shed;
        self.kernel_dropped += later.kernel_dropped;
        self.refused += later.refused;
        self.failures += later.failures;
    }
}

/// The end of the queue that is filled.
#[derive(Debug, Clone)]
pub(super) struct Inlet {
    sender: SyncSender<Batch>,
    state: Arc<State>,
}

/// The end of the queue that is emptied.
#[derive(Debug)]
pub struct Feed {
    receiver: Receiver<Batch>,
    state: Arc<State>,
    /// What stamps the datagrams; `None` for a capture, whose time is its own.
    clock: Option<Clock>,
    /// The sockets it comes from.
    pub(super) sockets: Vec<SocketLedger>,
    /// Bytes of the newest datagrams that are kept.
    pub(super) recent_bytes: usize,
}

/// Fills a feed with datagrams of a capture: it waits for room, because a file does not run away.
#[derive(Debug)]
pub struct Replay {
    sender: SyncSender<Batch>,
}

#[derive(Debug, Default)]
struct State {
    queue_bytes: usize,
    waiting_bytes: AtomicUsize,
    taken: AtomicU64,
    shed: AtomicU64,
    kernel_dropped: AtomicU64,
    refused: AtomicU64,
    failures: AtomicU64,
}

impl Inlet {
    /// Puts a batch into the queue, or counts its datagrams as shed. It never waits.
    pub(super) fn put(&self, batch: Batch) {
        count(&self.state.taken, datagrams(&batch));
        let cost = batch.cost();
        let waiting = self.state.waiting_bytes.fetch_add(cost, Ordering::Relaxed);
        let refused = if waiting.saturating_add(cost) > self.state.queue_bytes {
            Some(batch)
        } else {
            self.sender.try_send(batch).err().map(|error| match error {
                TrySendError::Full(batch) | TrySendError::Disconnected(batch) => batch,
            })
        };
        if let Some(batch) = refused {
            self.state.waiting_bytes.fetch_sub(cost, Ordering::Relaxed);
            count(&self.state.shed, datagrams(&batch));
        }
    }

    /// Datagrams that were put in so far, and those there was no room for.
    pub(super) fn taken(&self) -> u64 {
        self.state.taken.load(Ordering::Relaxed)
    }

    pub(super) fn count_kernel_dropped(&self, datagrams: u64) {
        count(&self.state.kernel_dropped, datagrams);
    }

    pub(super) fn count_refused(&self, datagrams: u64) {
        count(&self.state.refused, datagrams);
    }

    pub(super) fn count_failure(&self) {
        count(&self.state.failures, 1);
    }
}

impl Replay {
    /// A feed that is filled by a replay. Time in it is that of the capture.
    #[must_use]
    pub fn feed() -> (Replay, Feed) {
        let (sender, receiver) = sync_channel(MAX_REPLAYED);
        let state = Arc::new(State::default());
        (
            Replay { sender },
            Feed { receiver, state, clock: None, sockets: Vec::new(), recent_bytes: REPLAY_RECENT_BYTES },
        )
    }

    /// Puts in a datagram that was captured at `captured_at`; false when nobody reads any more.
    #[must_use]
    pub fn put(&self, captured_at: Nanos, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> bool {
        let mut batch = Batch::new(captured_at, to);
        batch.push(from, datagram);
        self.sender.send(batch).is_ok()
    }
}

impl Feed {
    /// The clock that stamps the datagrams; `None` for a capture, whose time is its own.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock.clone()
    }

    /// The sockets it comes from; none for a capture.
    pub(crate) fn sockets(&self) -> &[SocketLedger] {
        &self.sockets
    }

    /// Bytes of the newest datagrams that are kept.
    pub(crate) fn recent_bytes(&self) -> usize {
        self.recent_bytes
    }

    /// The next batch; waits for it so long.
    ///
    /// # Errors
    /// `Timeout` when none came, `Disconnected` when none will come.
    pub fn next(&self, wait: Duration) -> Result<Batch, RecvTimeoutError> {
        let batch = self.receiver.recv_timeout(wait)?;
        if self.clock.is_some() {
            self.state.waiting_bytes.fetch_sub(batch.cost(), Ordering::Relaxed);
        }
        Ok(batch)
    }

    /// What was counted since the last call.
    #[must_use]
    pub fn take_counts(&self) -> ReceptionCounts {
        let State { shed, kernel_dropped, refused, failures, .. } = &*self.state;
        let [shed, kernel_dropped, refused, failures] =
            [shed, kernel_dropped, refused, failures].map(|count| count.swap(0, Ordering::Relaxed));
        ReceptionCounts { shed, kernel_dropped, refused, failures }
    }
}

fn datagrams(batch: &Batch) -> u64 {
    u64::try_from(batch.len()).unwrap_or(u64::MAX)
}

fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// Most batches that wait, however small they are.
const MAX_BATCHES: usize = 65_536;
/// Bytes of the newest datagrams of a capture that are kept.
const REPLAY_RECENT_BYTES: usize = 64 << 20;
/// Most datagrams of a capture that are read ahead.
const MAX_REPLAYED: usize = 1_024;

#[cfg(test)]
mod tests;
