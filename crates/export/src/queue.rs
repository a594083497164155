//! The bounded queue between the pipeline's thread, which never waits, and the thread that delivers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::tally::{Failure, Tally};

/// An item of the queue: one message or several.
pub(super) trait Messages: Send + 'static {
    /// The number of messages.
    fn messages(&self) -> u64 {
        1
    }

    /// How much of the queue the item takes.
    fn room(&self) -> u64 {
        self.messages()
    }
}

/// The sending side; what does not fit is counted.
#[derive(Debug)]
pub(super) struct Inlet<T> {
    sender: Sender<T>,
    /// How much of the queue is taken.
    queued: Arc<AtomicU64>,
    most: u64,
    tally: Arc<Tally>,
}

/// The receiving side.
#[derive(Debug)]
pub(super) struct Outlet<T> {
    receiver: Receiver<T>,
    queued: Arc<AtomicU64>,
}

/// The result of waiting for an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<T> {
    /// The oldest item.
    Item(T),
    /// Nothing arrived in time.
    Nothing,
    /// The queue is empty and closed.
    End,
}

/// A queue with room for `most` messages.
pub(super) fn queue<T: Messages>(most: u64, tally: Arc<Tally>) -> (Inlet<T>, Outlet<T>) {
    let (sender, receiver) = channel();
    let queued = Arc::new(AtomicU64::new(0));
    (Inlet { sender, queued: Arc::clone(&queued), most, tally }, Outlet { receiver, queued })
}

impl<T: Messages> Inlet<T> {
    /// Offers messages to the output; what does not fit is counted as failed, and returned.
    pub(super) fn put(&self, item: T) -> Option<T> {
        // Only one thread puts items in, so the room found here is still there below.
        if !self.find_room(item.room()) {
            self.turn_away(item.messages());
            return Some(item);
        }
        self.put_beyond(item);
        None
    }

    /// Offers messages to the output even if the queue is full; the caller bounds their number.
    pub(super) fn put_beyond(&self, item: T) {
        let (messages, room) = (item.messages(), item.room());
        self.tally.count_offered(messages);
        self.queued.fetch_add(room, Ordering::AcqRel);
        if self.sender.send(item).is_err() {
            self.tally.count_failed(Failure::Stopped, messages);
        }
    }
}

impl<T> Inlet<T> {
    /// Whether `room` fits; a replay waits until it does. An item larger than the queue then goes in alone,
    /// as it would never fit otherwise.
    pub(super) fn find_room(&self, room: u64) -> bool {
        let is_waited_for = self.tally.is_waited_for();
        self.tally.wait_until(|| {
            let queued = self.queued.load(Ordering::Acquire);
            queued + room <= self.most || (is_waited_for && queued == 0)
        })
    }

    /// Counts messages that are not made because they would not fit.
    pub(super) fn turn_away(&self, messages: u64) {
        self.tally.count_offered(messages);
        self.tally.count_failed(Failure::QueueFull, messages);
    }
}

impl<T: Messages> Outlet<T> {
    /// Takes the oldest item, waiting for one up to `patience`.
    pub(super) fn next(&self, patience: Duration) -> Next<T> {
        match self.receiver.recv_timeout(patience) {
            Ok(item) => {
                self.queued.fetch_sub(item.room(), Ordering::AcqRel);
                Next::Item(item)
            }
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }
}

/// The deadline of an output that is ending; unset until then.
#[derive(Debug, Default)]
pub(super) struct Ending {
    deadline: Mutex<Option<Instant>>,
    begins: Condvar,
}

impl Ending {
    /// Starts the end: the output has `grace` for what is still queued.
    pub(super) fn begin(&self, grace: Duration) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + grace);
        self.begins.notify_all();
    }

    /// The time left; `None` if the output is not ending.
    pub(super) fn left(&self) -> Option<Duration> {
        self.left_with(Duration::ZERO)
    }

    /// The time left until `margin` after the deadline; `None` if the output is not ending.
    pub(super) fn left_with(&self, margin: Duration) -> Option<Duration> {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.map(|deadline| (deadline + margin).saturating_duration_since(Instant::now()))
    }

    /// Waits for `pause`, or until the end begins.
    pub(super) fn pause(&self, pause: Duration) {
        let deadline = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.begins.wait_timeout_while(deadline, pause, |deadline| deadline.is_none()));
    }
}

#[cfg(test)]
mod tests;
