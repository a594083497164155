//! A timer for periodic work.

/// A timer that is due once in each interval, by a clock that may be set.
#[derive(Debug)]
pub(crate) struct Timer {
    /// When it is due, nanoseconds.
    at: u64,
    /// The interval, nanoseconds.
    every: u64,
}

impl Timer {
    /// A timer that is due at once, and again after `every` nanoseconds.
    pub(crate) const fn every(every: u64) -> Self {
        Self { at: 0, every }
    }

    /// Whether it is due at `now`; sets the next time then. A clock that was set back makes it due.
    pub(crate) fn is_due(&mut self, now: u64) -> bool {
        let is_due = now >= self.at || now + self.every < self.at;
        if is_due {
            self.at = now + self.every;
        }
        is_due
    }

    /// When it is due, nanoseconds.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }
}
