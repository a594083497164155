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
}
