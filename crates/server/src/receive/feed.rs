//! The queue of datagrams between reception and pipeline, and what it sheds.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use inband_model::{Nanos, Prefix, SocketLedger};

use super::allowed::Allowed;
use super::batch::Batch;
use crate::clock::Clock;

/// A queue of batches bounded by bytes, with counts of the datagrams that did not pass it. Batches are
/// stamped by `clock`.
pub(crate) fn feed(queue_bytes: usize, clock: Clock) -> (Inlet, Feed) {
    let (sender, receiver) = sync_channel(MAX_BATCHES);
    let state = Arc::new(State { queue_bytes, ..State::default() });
    (
        Inlet { sender, state: Arc::clone(&state) },
        Feed { receiver, state, clock: Some(clock), sockets: Vec::new(), recent_bytes: 0 },
    )
}

/// Counts of reception that batches do not contain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceptionCounts {
    /// Datagrams for which the queue had no room.
    pub shed: u64,
    /// Datagrams the kernel dropped before the socket was read.
    pub kernel_dropped: u64,
    /// Datagrams from addresses that are not allowed to report.
    pub refused: u64,
    /// How often reading a socket failed.
    pub failures: u64,
}

impl ReceptionCounts {
    /// Adds later counts.
    pub(crate) fn add(&mut self, later: ReceptionCounts) {
        self.shed += later.shed;
        self.kernel_dropped += later.kernel_dropped;
        self.refused += later.refused;
        self.failures += later.failures;
    }
}

/// The sending end of the queue.
#[derive(Debug, Clone)]
pub(crate) struct Inlet {
    sender: SyncSender<Batch>,
    state: Arc<State>,
}

/// The receiving end of the queue.
#[derive(Debug)]
pub struct Feed {
    receiver: Receiver<Batch>,
    state: Arc<State>,
    /// The clock that stamps the datagrams; `None` for a capture, which has its own time.
    clock: Option<Clock>,
    /// The sockets that fill the queue.
    pub(super) sockets: Vec<SocketLedger>,
    /// Maximum bytes of the newest datagrams to keep.
    pub(super) recent_bytes: usize,
}

/// Ends the wait of the thread that reads a feed.
#[derive(Debug, Clone)]
pub(crate) struct Waker(Arc<State>);

/// Fills a feed with datagrams of a capture; it waits for room, because a file can wait.
#[derive(Debug)]
pub struct Replay {
    sender: SyncSender<Batch>,
    allowed: Allowed,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The thread that reads the feed.
    reader: OnceLock<Thread>,
    /// Whether its wait is to end without a batch.
    is_woken: AtomicBool,
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
    pub(crate) fn put(&self, batch: Batch) {
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
        self.state.wake();
    }

    /// Number of datagrams put in so far, including those shed.
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
    /// A feed that is filled by a replay with the reports of these senders; without any prefix, of all. Its
    /// time is that of the capture.
    #[must_use]
    pub fn feed(allow: &[Prefix]) -> (Replay, Feed) {
        let (sender, receiver) = sync_channel(MAX_REPLAYED);
        let state = Arc::new(State::default());
        (
            Replay { sender, allowed: Allowed::new(allow), state: Arc::clone(&state) },
            Feed { receiver, state, clock: None, sockets: Vec::new(), recent_bytes: REPLAY_RECENT_BYTES },
        )
    }

    /// Adds a datagram captured at `captured_at`, or counts it as refused; false when the feed is no longer
    /// read.
    #[must_use]
    pub fn put(&self, captured_at: Nanos, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> bool {
        if !self.allowed.includes(from) {
            count(&self.state.refused, 1);
            return true;
        }
        let mut batch = Batch::new(captured_at, to);
        batch.push(from, datagram);
        let is_read = self.sender.send(batch).is_ok();
        self.state.wake();
        is_read
    }
}

impl Feed {
    /// The clock that stamps the datagrams; `None` for a capture, which has its own time.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock.clone()
    }

    /// The sockets that fill the queue; empty for a capture.
    pub(crate) fn sockets(&self) -> &[SocketLedger] {
        &self.sockets
    }

    /// Maximum bytes of the newest datagrams to keep.
    pub(crate) fn recent_bytes(&self) -> usize {
        self.recent_bytes
    }

    /// Whether datagrams wait, or were counted to wait a moment ago.
    pub(crate) fn is_waiting(&self) -> bool {
        self.state.waiting_bytes.load(Ordering::Relaxed) > 0
    }

    /// A handle that ends a wait of `next`.
    pub(crate) fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.state))
    }

    /// Waits up to `wait` for the next batch, or until it is woken. Always called by the same thread.
    ///
    /// # Errors
    /// `Timeout` if none came, `Disconnected` if none will come.
    pub fn next(&self, wait: Duration) -> Result<Batch, RecvTimeoutError> {
        self.state.reader.get_or_init(thread::current);
        let mut end = None;
        let batch = loop {
            match self.receiver.try_recv() {
                Ok(batch) => break batch,
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {}
            }
            // No clock is read while batches wait.
            let left =
                end.get_or_insert_with(|| Instant::now() + wait).saturating_duration_since(Instant::now());
            if left.is_zero() || self.state.is_woken.swap(false, Ordering::AcqRel) {
                return Err(RecvTimeoutError::Timeout);
            }
            thread::park_timeout(left);
        };
        if self.clock.is_some() {
            self.state.waiting_bytes.fetch_sub(batch.cost(), Ordering::Relaxed);
        }
        Ok(batch)
    }

    /// The counts since the last call.
    #[must_use]
    pub fn take_counts(&self) -> ReceptionCounts {
        let State { shed, kernel_dropped, refused, failures, .. } = &*self.state;
        let [shed, kernel_dropped, refused, failures] =
            [shed, kernel_dropped, refused, failures].map(|count| count.swap(0, Ordering::Relaxed));
        ReceptionCounts { shed, kernel_dropped, refused, failures }
    }
}

impl Waker {
    /// Ends the wait, or the next one.
    pub(crate) fn wake(&self) {
        self.0.is_woken.store(true, Ordering::Release);
        self.0.wake();
    }
}

impl State {
    fn wake(&self) {
        if let Some(reader) = self.reader.get() {
            reader.unpark();
        }
    }
}

fn datagrams(batch: &Batch) -> u64 {
    u64::try_from(batch.len()).unwrap_or(u64::MAX)
}

fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// Maximum number of queued batches, however small.
const MAX_BATCHES: usize = 65_536;
/// Bytes of the newest datagrams to keep of a capture.
const REPLAY_RECENT_BYTES: usize = 64 << 20;
/// Maximum number of datagrams of a capture read ahead.
const MAX_REPLAYED: usize = 1_024;

#[cfg(test)]
mod tests;
