//! What can be set?

use inband_model::Silence;
use serde::{Deserialize, Serialize};

use crate::correlate::PathSettings;
use crate::ledger::{LedgerSettings, LossSettings};
use crate::ports::{CongestionSettings, PortSettings, SpikeSettings};

/// Everything about the collector that can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectorSettings {
    /// Thresholds of the sequence ledger.
    pub ledger: LedgerSettings,
    /// Bounds and times of following flows.
    pub paths: PathSettings,
    /// Bounds of the statistics by node and interface.
    pub ports: PortSettings,
    /// What is announced, and when.
    pub events: EventSettings,
    /// Outputs that may wait to be polled; more are dropped and counted. Default 65,536.
    pub max_outputs: usize,
}

impl Default for CollectorSettings {
    fn default() -> CollectorSettings {
        CollectorSettings {
            ledger: LedgerSettings::default(),
            paths: PathSettings::default(),
            ports: PortSettings::default(),
            events: EventSettings::default(),
            max_outputs: 65_536,
        }
    }
}

/// What is announced, and when: `[events]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventSettings {
    /// Events that go on at the same time; more are announced and not followed to their end. Default 4096: about 5 MB.
    pub max_active: usize,
    /// Past events that are shown without asking the store. Default 4096: about 5 MB.
    pub max_past: usize,
    /// Events nobody is told of: `[[events.silence]]`. Default: none.
    pub silence: Vec<Silence>,
    /// When a stream loses more reports than it may.
    pub report_loss: LossSettings,
    /// When a queue is congested.
    pub queue_congestion: CongestionSettings,
    /// When a hop latency is a spike.
    pub latency_spike: SpikeSettings,
}

impl Default for EventSettings {
    fn default() -> EventSettings {
        EventSettings {
            max_active: 4_096,
            max_past: 4_096,
            silence: Vec::new(),
            report_loss: LossSettings::default(),
            queue_congestion: CongestionSettings::default(),
            latency_spike: SpikeSettings::default(),
        }
    }
}
