//! A span of times.

use inband_model::Nanos;

/// A span of times, both ends in it.
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

    /// Whether a time as files have it is in the span.
    pub(crate) fn has(self, time: i64) -> bool {
        (self.from.0..=self.to.0).contains(&time.cast_unsigned())
    }
}
