//! One snapshot, and its renewal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::pipeline::{Asker, Sight, Unanswered};

/// A snapshot of one kind.
#[derive(Debug)]
pub(super) struct Part<T> {
    asker: Asker,
    make: fn(&mut Sight<'_>) -> T,
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    latest: watch::Sender<Option<Published<T>>>,
    /// Whether a new one has been requested.
    is_wanted: AtomicBool,
}

/// A snapshot, when it was made, and how long that took.
#[derive(Debug)]
struct Published<T> {
    value: Arc<T>,
    at: Instant,
    cost: Duration,
}

impl<T: Send + Sync + 'static> Part<T> {
    pub(super) fn new(asker: &Asker, make: fn(&mut Sight<'_>) -> T) -> Self {
        let shared = Shared { latest: watch::Sender::new(None), is_wanted: AtomicBool::new(false) };
        Self { asker: asker.clone(), make, shared: Arc::new(shared) }
    }

    /// The snapshot, renewed if it is too old.
    ///
    /// # Errors
    /// There is none, and none can be created.
    pub(super) async fn get(&self) -> Result<Arc<T>, Unanswered> {
        let mut changes = self.shared.latest.subscribe();
        let known = match &*changes.borrow_and_update() {
            Some(published) if published.is_fresh() => return Ok(Arc::clone(&published.value)),
            other => other.as_ref().map(|published| Arc::clone(&published.value)),
        };
        if !self.shared.is_wanted.swap(true, Ordering::AcqRel)
            && let Err(unanswered) = self.put()
        {
            self.shared.is_wanted.store(false, Ordering::Release);
            return match unanswered {
                // An older snapshot is better than none, as long as the collector runs.
                Unanswered::Busy => known.ok_or(unanswered),
                Unanswered::Stopped => Err(unanswered),
            };
        }
        match timeout(MAX_WAIT, changes.changed()).await {
            Ok(Ok(())) => {
                let latest = changes.borrow();
                latest.as_ref().map(|published| Arc::clone(&published.value)).ok_or(Unanswered::Stopped)
            }
            Ok(Err(_)) => Err(Unanswered::Stopped),
            Err(_) => Err(Unanswered::Busy),
        }
    }

    /// Requests a new snapshot.
    fn put(&self) -> Result<(), Unanswered> {
        let (shared, make) = (Arc::clone(&self.shared), self.make);
        let guard = Wanted(shared);
        self.asker.put(move |sight| {
            let at = Instant::now();
            let value = Arc::new(make(sight));
            let published = Published { value, at, cost: at.elapsed() };
            guard.0.is_wanted.store(false, Ordering::Release);
            guard.0.latest.send_replace(Some(published));
        })
    }
}

/// Marks a snapshot as wanted until the query has run or was dropped.
struct Wanted<T>(Arc<Shared<T>>);

impl<T> Drop for Wanted<T> {
    fn drop(&mut self) {
        self.0.is_wanted.store(false, Ordering::Release);
    }
}

impl<T> Published<T> {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < self.cost.saturating_mul(COSTS_APART).max(MIN_AGE)
    }
}

/// A snapshot is used for at least this many times its creation time.
const COSTS_APART: u32 = 50;
/// Minimum time for which a snapshot is used.
const MIN_AGE: Duration = Duration::from_millis(100);
/// Maximum wait for a snapshot.
const MAX_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
