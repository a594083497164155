//! Settings of the sequence ledger.

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

/// Thresholds of the sequence ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerSettings {
    /// Sequence numbers behind the next expected one that are remembered individually; rounded up to a power
    /// of two, at least 64, at most 65,536 and at most a quarter of the sequence space. It grows where
    /// reports are later than that, to what the rate explains. Default 4096.
    pub reorder_window: u32,
    /// Milliseconds until a gap that is still open counts as lost. Default 200.
    pub confirm_after_ms: u64,
    /// Milliseconds of silence after which a small sequence number means a restart. Default 5000.
    pub reset_silence_ms: u64,
    /// Sequence numbers below this one are small. Default 1024.
    pub reset_below: u32,
    /// Skipped numbers count as lost up to `reset_step` plus `reset_rate_factor` times what the node has
    /// sent, at its rate, since its last report plus one second. A step beyond that is a restart. All steps
    /// share this credit: it is refilled with `reset_rate_factor` times the rate, and with `reset_step` a
    /// minute. Default 65,536.
    pub reset_step: u32,
    /// See `reset_step`. Default 8.
    pub reset_rate_factor: u32,
    /// Number of late reports of one sequence that mean a restart; also of duplicates that begin with a small
    /// number whose original is older than `confirm_after_ms`. Default 16.
    pub reset_run: u32,
    /// Streams followed at the same time. Default 16,384: about 20 MB, and up to 8 KiB for each whose reorder
    /// window grows.
    pub max_streams: usize,
    /// Streams that one source address may open: its node ids, each with its hw_ids. Reports of further ones
    /// are counted as `refused_node_ids` and kept as history, but nothing else is learned from them. Default
    /// 4,096.
    pub max_streams_per_source: usize,
    /// Seconds without a report after which a stream may be evicted in favour of a new one. Default 300.
    pub forget_after_s: u64,
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
            max_streams_per_source: 4_096,
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
