//! The settings of the collector.

use serde::{Deserialize, Serialize};

use crate::detect::EventSettings;
use crate::ledger::LedgerSettings;
use crate::paths::PathSettings;
use crate::ports::PortSettings;

/// All settings of the collector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectorSettings {
    /// Thresholds of the sequence ledger.
    pub ledger: LedgerSettings,
    /// Bounds and times of flows and paths.
    pub paths: PathSettings,
    /// Bounds of the statistics by node and interface.
    pub ports: PortSettings,
    /// Events: what is announced, and when.
    pub events: EventSettings,
    /// Whether reports, and INT in them, are also accepted in the forms of deployed implementations that
    /// depart from the formats. Default false.
    pub lenient: bool,
    /// Outputs pending to be polled; further ones are dropped and counted. Default 65,536.
    pub max_outputs: usize,
}

impl Default for CollectorSettings {
    fn default() -> CollectorSettings {
        CollectorSettings {
            ledger: LedgerSettings::default(),
            paths: PathSettings::default(),
            ports: PortSettings::default(),
            events: EventSettings::default(),
            lenient: false,
            max_outputs: 65_536,
        }
    }
}
