//! How do messages get from the thread that understands reports to the thread that delivers them, without the first
//! ever waiting?

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::tally::{Failure, Tally};

/// What is put in: one message or several.
pub(super) trait Messages: Send + 'static {
    /// How many messages it is.
    fn messages(&self) -> u64 {
        1
    }

    /// How much of the queue it takes.
    fn room(&self) -> u64 {
        self.messages()
    }
}

/// Where messages are put in; what does not fit is counted.
#[derive(Debug)]
pub(super) struct Inlet<T> {
    sender: Sender<T>,
    /// How much of it is taken.
    queued: Arc<AtomicU64>,
    most: u64,
    tally: Arc<Tally>,
}

/// Where messages are taken out.
#[derive(Debug)]
pub(super) struct Outlet<T> {
    receiver: Receiver<T>,
    queued: Arc<AtomicU64>,
}

/// What comes out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<T> {
    /// The oldest that waits.
    Item(T),
    /// Nothing came in the time that was given.
    Nothing,
    /// Nothing waits, and nothing more comes.
    End,
}

/// A queue in which at most so many messages wait.
pub(super) fn queue<T: Messages>(most: u64, tally: Arc<Tally>) -> (Inlet<T>, Outlet<T>) {
    let (sender, receiver) = channel();
    let queued = Arc::new(AtomicU64::new(0));
    (Inlet { sender, queued: Arc::clone(&queued), most, tally }, Outlet { receiver, queued })
}

impl<T: Messages> Inlet<T> {
    /// Offers messages to the output.
    pub(super) fn put(&self, item: T) {
        let (messages, room) = (item.messages(), item.room());
        // Only one thread puts in, so that the room seen here is still there below.
        if !self.find_room(room) {
            return self.turn_away(messages);
        }
        self.tally.count_offered(messages);
        self.queued.fetch_add(room, Ordering::AcqRel);
        if self.sender.send(item).is_err() {
            self.tally.count_failed(Failure::Stopped, messages);
        }
    }
}

impl<T> Inlet<T> {
    /// Whether so much fits; a replay waits until it does. What is larger than the queue then goes in alone, as nothing
    /// would ever make room for it.
    pub(super) fn find_room(&self, room: u64) -> bool {
        let is_waited_for = self.tally.is_waited_for();
        self.tally.wait_until(|| {
            let queued = self.queued.load(Ordering::Acquire);
            queued + room <= self.most || (is_waited_for && queued == 0)
        })
    }

    /// Counts messages that nobody makes, as they would not fit.
    pub(super) fn turn_away(&self, messages: u64) {
        self.tally.count_offered(messages);
        self.tally.count_failed(Failure::QueueFull, messages);
    }
}

impl<T: Messages> Outlet<T> {
    /// Takes the oldest out, or waits so long for one.
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

/// By when an output has to come to its end; nothing at first.
#[derive(Debug, Default)]
pub(super) struct Ending {
    deadline: Mutex<Option<Instant>>,
    begins: Condvar,
}

impl Ending {
    /// Gives the output so long for what still waits.
    pub(super) fn begin(&self, grace: Duration) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + grace);
        self.begins.notify_all();
    }

    /// The time that is left; `None`: as much as wanted.
    pub(super) fn left(&self) -> Option<Duration> {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits so long, or until the end begins.
    pub(super) fn pause(&self, pause: Duration) {
        let deadline = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.begins.wait_timeout_while(deadline, pause, |deadline| deadline.is_none()));
    }
}

#[cfg(test)]
mod tests;
