//! The collector's clock, and changes of the system time.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use inband_model::Nanos;

/// A monotonic clock that starts at the system time and detects when that is set.
///
/// It runs with the machine's monotonic clock, by which silence and gaps are measured: setting the system
/// time forward by an hour is no hour of silence. The system time is kept as its offset from this clock.
/// Clones are the same clock.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    at_start: Nanos,
    /// Offset of the system time, nanoseconds.
    ahead: AtomicI64,
    count: AtomicUsize,
    /// The latest of `count` steps, at most [`MAX_STEPS`].
    steps: Mutex<Vec<ClockStep>>,
}

/// A change of the system time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// When it was detected, by the monotonic clock.
    pub at: Nanos,
    /// New offset of the system time from the monotonic clock, nanoseconds.
    pub ahead_ns: i64,
    /// By how much the system time was set forward, nanoseconds.
    pub by_ns: i64,
}

/// A reading of the system time, with the monotonic times before and after it.
#[derive(Debug, Clone, Copy)]
struct Reading {
    after: Nanos,
    before: Nanos,
    time_of_day: Nanos,
}

impl Clock {
    /// Creates a clock that shows the system time.
    #[must_use]
    pub fn start() -> Self {
        Self::at(Instant::now(), time_of_day())
    }

    /// A clock that was started some time ago.
    #[cfg(test)]
    pub(crate) fn started_before(ago: Duration) -> Self {
        Self::at(Instant::now() - ago, Nanos(time_of_day().0 - nanos(ago).0))
    }

    fn at(started: Instant, at_start: Nanos) -> Self {
        let (ahead, count, steps) = (AtomicI64::new(0), AtomicUsize::new(0), Mutex::default());
        Self(Arc::new(Inner { started, at_start, ahead, count, steps }))
    }

    /// The current time; also checks whether the system time was set.
    #[must_use]
    pub fn now(&self) -> Nanos {
        let reading = self.read();
        if reading.difference_from(self.0.ahead.load(Ordering::Relaxed)) == 0 {
            return reading.before;
        }
        self.follow(|| self.read());
        // Datagrams are stamped after the step.
        self.read().before
    }

    /// The time when it was started.
    #[must_use]
    pub fn started_at(&self) -> Nanos {
        self.0.at_start
    }

    /// How often the system time was set.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.0.count.load(Ordering::Acquire)
    }

    /// The steps after the first `known` ones, oldest first; marks them as known. Only the latest steps are
    /// stored.
    #[must_use]
    pub fn take_steps(&self, known: &mut usize) -> Vec<ClockStep> {
        if self.steps() == *known {
            return Vec::new();
        }
        let steps = self.0.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.steps();
        let new = count.saturating_sub(std::mem::replace(known, count)).min(steps.len());
        steps[steps.len() - new..].to_vec()
    }

    /// Follows the system time if it was set.
    fn follow(&self, read: impl FnOnce() -> Reading) {
        // Each change is complete.
        let mut steps = self.0.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = read();
        let ahead = self.0.ahead.load(Ordering::Relaxed);
        let by_ns = reading.difference_from(ahead);
        if by_ns == 0 {
            return;
        }
        let ahead_ns = ahead.saturating_add(by_ns);
        if steps.len() >= MAX_STEPS {
            steps.remove(0);
        }
        steps.push(ClockStep { at: reading.before, ahead_ns, by_ns });
        self.0.ahead.store(ahead_ns, Ordering::Relaxed);
        self.0.count.fetch_add(1, Ordering::Release);
    }

    fn read(&self) -> Reading {
        let monotonic = || self.0.at_start + nanos(self.0.started.elapsed());
        let after = monotonic();
        let time_of_day = time_of_day();
        Reading { after, before: monotonic(), time_of_day }
    }
}

impl Reading {
    /// Difference of the system time from a clock that is `ahead` of the monotonic one; 0 if it may be
    /// explained by a pause of the thread between two readings.
    fn difference_from(self, ahead: i64) -> i64 {
        let shown = |monotonic: Nanos| i128::from(monotonic.0) + i128::from(ahead);
        let time_of_day = i128::from(self.time_of_day.0);
        let tolerance = i128::from(TOLERANCE.0);
        let (least, most) = (shown(self.after) - tolerance, shown(self.before) + tolerance);
        if (least..=most).contains(&time_of_day) {
            return 0;
        }
        let difference = time_of_day - shown(self.before);
        i64::try_from(difference).unwrap_or(if difference > 0 { i64::MAX } else { i64::MIN })
    }
}

/// The system time.
fn time_of_day() -> Nanos {
    nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// Smaller differences are ignored, because the two clocks are not read at the same instant.
const TOLERANCE: Nanos = Nanos::from_millis(1);
/// Maximum number of steps stored for readers that have not seen them.
const MAX_STEPS: usize = 64;

#[cfg(test)]
mod tests;
