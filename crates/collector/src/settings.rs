//! What can be set?

use serde::{Deserialize, Serialize};

use crate::ledger::LedgerSettings;

/// Everything about the collector that can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectorSettings {
    /// Thresholds of the sequence ledger.
    pub ledger: LedgerSettings,
    /// Outputs that may wait to be polled; more are dropped and counted. Default 65,536.
    pub max_outputs: usize,
}

impl Default for CollectorSettings {
    fn default() -> CollectorSettings {
        CollectorSettings { ledger: LedgerSettings::default(), max_outputs: 65_536 }
    }
}
