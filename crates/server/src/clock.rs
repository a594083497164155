//! The clock of the collector, and the steps of the time of day.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use inband_model::Nanos;

/// A clock that neither jumps nor goes back, and notices when the time of day does.
///
/// It begins at the time of day and runs with the machine's monotonic clock, by which silence and gaps are judged: an
/// hour that somebody sets the clock forward is no hour of silence. The time of day is kept beside it, as how far it is
/// ahead. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    at_start: Nanos,
    /// How far the time of day is ahead, nanoseconds.
    ahead: AtomicI64,
    count: AtomicUsize,
    /// The latest of `count` steps, at most [`MAX_STEPS`].
    steps: Mutex<Vec<ClockStep>>,
}

/// The time of day was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// When that was noticed, on the clock that does not jump.
    pub at: Nanos,
    /// How far the time of day is ahead of that clock from then on, nanoseconds.
    pub ahead_ns: i64,
    /// By how much it was set forward, nanoseconds.
    pub by_ns: i64,
}

/// The time of day, and between which times on the monotonic clock it was that.
#[derive(Debug, Clone, Copy)]
struct Reading {
    after: Nanos,
    before: Nanos,
    time_of_day: Nanos,
}

impl Clock {
    /// A clock that shows the time of day.
    #[must_use]
    pub fn start() -> Self {
        Self::at(Instant::now(), time_of_day())
    }

    fn at(started: Instant, at_start: Nanos) -> Self {
        let (ahead, count, steps) = (AtomicI64::new(0), AtomicUsize::new(0), Mutex::default());
        Self(Arc::new(Inner { started, at_start, ahead, count, steps }))
    }

    /// The time. Whether the time of day was set is looked at in passing.
    #[must_use]
    pub fn now(&self) -> Nanos {
        let reading = self.read();
        if reading.difference_from(self.0.ahead.load(Ordering::Relaxed)) == 0 {
            return reading.before;
        }
        self.follow(|| self.read());
        // What is stamped now comes behind the step.
        self.read().before
    }

    /// How often the time of day was set.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.0.count.load(Ordering::Acquire)
    }

    /// The steps behind the first `known` ones, oldest first, and counts them as known; only the latest are remembered.
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

    /// Takes the time of day over, if it was set.
    fn follow(&self, read: impl FnOnce() -> Reading) {
        // Each change is whole.
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
    /// By how much the time of day is off from what a clock shows that is `ahead` of the monotonic one; 0 where both may
    /// be right, as the thread may have waited between two readings.
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

/// The time of day.
fn time_of_day() -> Nanos {
    nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// Differences up to this are not followed: the two clocks are not read at once.
const TOLERANCE: Nanos = Nanos::from_millis(1);
/// Steps that are remembered for those who have not asked yet.
const MAX_STEPS: usize = 64;

#[cfg(test)]
mod tests;
