//! Settings of clock checks by timestamps.

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

use crate::book::Course;

/// Checks of clocks by timestamps: `[events.clock]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockSettings {
    /// Nanoseconds in a second by which one clock may run faster than another. Default 1000.
    pub drift_ns_per_s: u64,
    /// By how much the clocks may disagree, nanoseconds, where that is known: every link latency is then that
    /// exact. Default: unknown; the sum of both directions of a link decides.
    pub uncertainty_ns: Option<u64>,
    /// Links whose latency is followed. Default 8192: about 22 MB.
    pub max_links: usize,
    /// Seconds without another sign after which an event ends, at least 1. Default 60.
    pub quiet_s: u64,
}

impl Default for ClockSettings {
    fn default() -> ClockSettings {
        ClockSettings { drift_ns_per_s: 1_000, uncertainty_ns: None, max_links: 8_192, quiet_s: 60 }
    }
}

impl ClockSettings {
    /// The course of the event of a link.
    pub(super) fn course(&self) -> Course {
        Course::until_quiet(Nanos::from_secs(self.quiet_s))
    }
}
