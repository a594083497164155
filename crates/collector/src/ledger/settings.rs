//! When is a report late, lost, or the first of a restarted node?

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

/// Thresholds of the sequence ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerSettings {
    /// Sequence numbers behind the next expected one that are remembered one by one; rounded up to a power
    /// of two, at least 64, at most 65,536 and at most a quarter of the sequence space. Default 4096.
    pub reorder_window: u32,
    /// Milliseconds until a gap that is still open counts as lost. Default 200.
    pub confirm_after_ms: u64,
    /// Milliseconds of silence after which a small sequence number means a restart. Default 5000.
    pub reset_silence_ms: u64,
    /// Sequence numbers below this one are small. Default 1024.
    pub reset_below: u32,
    /// A step forward is a restart when it is larger than `reset_step` plus `reset_rate_factor` times what the
    /// node would have sent since its last report, and a second more, at its rate. Default 65,536.
    pub reset_step: u32,
    /// See `reset_step`. Default 8.
    pub reset_rate_factor: u32,
    /// Late reports in unbroken sequence, with nothing else between them, that mean a restart; and duplicates that begin
    /// with a small number when nothing new has come for `confirm_after_ms`. Default 16.
    pub reset_run: u32,
    /// Streams followed at the same time. Default 16,384: about 20 MB.
    pub max_streams: usize,
    /// Seconds without a report after which a stream may be forgotten in favour of a new one. Default 300.
    pub forget_after_s: u64,
}

/// When a stream loses more reports than it may: `[events.report_loss]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LossSettings {
    /// Share of reports lost, in parts per million, above which an event is raised. Default 1000: 0.1 %.
    pub share_ppm: u64,
    /// Seconds over which the share is taken. Default 60.
    pub window_s: u64,
}

impl Default for LossSettings {
    fn default() -> LossSettings {
        LossSettings { share_ppm: 1_000, window_s: 60 }
    }
}

impl LossSettings {
    pub(super) fn window(&self) -> Nanos {
        Nanos::from_secs(self.window_s)
    }
}

impl Default for LedgerSettings {
    fn default() -> LedgerSettings {
        LedgerSettings {
            reorder_window: 4096,
            confirm_after_ms: 200,
            reset_silence_ms: 5_000,
            reset_below: 1024,
            reset_step: 65_536,
            reset_rate_factor: 8,
            reset_run: 16,
            max_streams: 16_384,
            forget_after_s: 300,
        }
    }
}

impl LedgerSettings {
    pub(super) fn confirm_after(&self) -> Nanos {
        Nanos::from_millis(self.confirm_after_ms)
    }

    pub(super) fn reset_silence(&self) -> Nanos {
        Nanos::from_millis(self.reset_silence_ms)
    }

    pub(super) fn forget_after(&self) -> Nanos {
        Nanos::from_secs(self.forget_after_s)
    }
}
