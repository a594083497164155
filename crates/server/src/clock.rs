//! What time is it, without jumps?

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use inband_model::Nanos;

/// A clock that shows the time of day and neither jumps nor goes back.
///
/// Silence and gaps are judged by time, so a time of day that somebody sets an hour forward must not make an hour of
/// silence. It runs with the machine's monotonic clock, and follows the time of day by a tenth of the time that
/// passes.
#[derive(Debug)]
pub struct Clock {
    started: Instant,
    shown: Nanos,
    /// Of the monotonic clock, when `shown` was right.
    shown_at: Duration,
}

impl Clock {
    /// A clock that shows the time of day.
    #[must_use]
    pub fn start() -> Clock {
        Clock { started: Instant::now(), shown: time_of_day(), shown_at: Duration::ZERO }
    }

    /// The time.
    pub fn now(&mut self) -> Nanos {
        self.advance(self.started.elapsed(), time_of_day())
    }

    /// Lets the clock run up to `monotonic` on the monotonic clock, when the time of day is `time_of_day`.
    fn advance(&mut self, monotonic: Duration, time_of_day: Nanos) -> Nanos {
        let passed = u64::try_from(monotonic.saturating_sub(self.shown_at).as_nanos()).unwrap_or(u64::MAX);
        let unfollowed = self.shown + Nanos(passed);
        let most = passed / SLEW;
        let ahead = unfollowed.since(time_of_day).0.min(most);
        let behind = time_of_day.since(unfollowed).0.min(most);
        self.shown = Nanos(unfollowed.0 - ahead) + Nanos(behind);
        self.shown_at = monotonic.max(self.shown_at);
        self.shown
    }
}

/// The time of day.
fn time_of_day() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}

/// The time of day is followed by one part in so many of the time that passes.
const SLEW: u64 = 10;

#[cfg(test)]
mod tests;
