//! A range of times.

use inband_model::Nanos;

/// A range of times, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The first time.
    pub from: Nanos,
    /// The last time.
    pub to: Nanos,
}

impl TimeRange {
    /// All times.
    pub const ALL: TimeRange = TimeRange { from: Nanos::ZERO, to: Nanos::MAX };

    /// Whether a time, as stored in files, is in the range.
    pub(crate) fn has(self, time: i64) -> bool {
        (self.from.0..=self.to.0).contains(&time.cast_unsigned())
    }

    /// Leaves out what is before `least` or after `greatest`, as in questions; no time is negative.
    pub(crate) fn narrow(&mut self, least: i64, greatest: i64) {
        self.from = self.from.max(Nanos(u64::try_from(least).unwrap_or(0)));
        self.to = self.to.min(Nanos(u64::try_from(greatest).unwrap_or(0)));
    }
}
