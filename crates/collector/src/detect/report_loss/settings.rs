//! Settings of report loss.

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

use crate::book::Course;

/// The limit of report loss: `[events.report_loss]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LossSettings {
    /// Share of the reports of a window, in parts per million, whose loss raises an event when exceeded.
    /// Default 1000: 0.1 %.
    pub share_ppm: u64,
    /// Seconds over which the share is taken, at least 1. Default 60.
    pub window_s: u64,
}

impl Default for LossSettings {
    fn default() -> LossSettings {
        LossSettings { share_ppm: 1_000, window_s: 60 }
    }
}

impl LossSettings {
    pub(crate) fn window(&self) -> Nanos {
        Nanos::from_secs(self.window_s.max(1))
    }

    /// The course of the event of a stream.
    pub(crate) fn course(&self) -> Course {
        Course::renewed_within(self.window())
    }
}
