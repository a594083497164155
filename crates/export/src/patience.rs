//! Waiting for outputs that are slower than a replay.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A replay's patience with one output: it waits while the output decides about messages, gives up after
/// [`GRACE`] without a decision, and resumes after the next one.
#[derive(Debug)]
pub(super) struct Patience {
    /// Set when the replay is interrupted: nothing is waited for.
    interrupted: Arc<AtomicBool>,
    /// Number of decisions when the output was given up; `None` if it was not.
    given_up_at: Mutex<Option<u64>>,
}

impl Patience {
    /// Patience that ends when `interrupted` is set.
    pub(super) fn new(interrupted: Arc<AtomicBool>) -> Patience {
        Patience { interrupted, given_up_at: Mutex::new(None) }
    }

    /// Waits until `is_done` and returns whether it is. `decisions` returns how many messages the output has
    /// decided about.
    pub(super) fn wait(&self, decisions: impl Fn() -> u64, is_done: impl Fn() -> bool) -> bool {
        let (mut seen, mut since) = (decisions(), Instant::now());
        loop {
            if is_done() {
                return true;
            }
            if self.interrupted.load(Ordering::Relaxed) || self.is_given_up(seen) {
                return false;
            }
            thread::sleep(PAUSE);
            let decided = decisions();
            if decided != seen {
                (seen, since) = (decided, Instant::now());
            } else if since.elapsed() >= GRACE {
                *self.given_up_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
            }
        }
    }

    fn is_given_up(&self, decisions: u64) -> bool {
        *self.given_up_at.lock().unwrap_or_else(PoisonError::into_inner) == Some(decisions)
    }
}

/// Longest time without a decision before an output counts as unreachable.
const GRACE: Duration = Duration::from_secs(5);
/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests;
