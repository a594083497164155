//! One snapshot, and its renewal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::pipeline::{Asker, Sight, Unanswered};
use crate::processor_time::processor_time;

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
    /// The snapshot before the latest, which a caller drops: that takes time, too.
    replaced: Mutex<Option<Published<T>>>,
    /// Whether a new one has been requested.
    is_wanted: AtomicBool,
}

/// A snapshot, when it was made, and how much processor time that took.
#[derive(Debug)]
struct Published<T> {
    value: Arc<T>,
    at: Instant,
    cost: Duration,
}

impl<T: Send + Sync + 'static> Part<T> {
    pub(super) fn new(asker: &Asker, make: fn(&mut Sight<'_>) -> T) -> Self {
        let latest = watch::Sender::new(None);
        let shared = Shared { latest, replaced: Mutex::default(), is_wanted: AtomicBool::new(false) };
        Self { asker: asker.clone(), make, shared: Arc::new(shared) }
    }

    /// The last snapshot, however old it is; `None` if there is none yet.
    pub(super) fn last(&self) -> Option<Arc<T>> {
        self.shared.latest.borrow().as_ref().map(|published| Arc::clone(&published.value))
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
                self.shared.replace(None);
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
            let (at, begun) = (Instant::now(), processor_time());
            let value = Arc::new(make(sight));
            let published = Published { value, at, cost: processor_time().saturating_sub(begun) };
            guard.0.is_wanted.store(false, Ordering::Release);
            guard.0.latest.send_modify(|latest| guard.0.replace(latest.replace(published)));
        })
    }
}

impl<T> Shared<T> {
    /// Drops the snapshot that was replaced before, and keeps this one in its place.
    fn replace(&self, published: Option<Published<T>>) {
        let mut replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *replaced, published);
        drop(replaced);
        drop(before);
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
        self.at.elapsed() < lifetime(self.cost)
    }
}

/// For how long a snapshot is used that took this processor time.
fn lifetime(cost: Duration) -> Duration {
    let of_an_old_one = cost.saturating_mul(OLD_COSTS_APART).max(OLD);
    cost.saturating_mul(COSTS_APART).min(of_an_old_one).max(MIN_AGE)
}

/// A snapshot is used for this many times the processor time of its creation; if that is longer than `OLD`,
/// for that long, but for at least this many times.
const COSTS_APART: u32 = 300;
const OLD_COSTS_APART: u32 = 50;
const OLD: Duration = Duration::from_secs(10);
/// Minimum time for which a snapshot is used.
const MIN_AGE: Duration = Duration::from_millis(100);
/// Maximum wait for a snapshot.
const MAX_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
