//! Settings of nearly full egress interfaces.

use inband_model::Nanos;
use serde::{Deserialize, Serialize};

/// When an egress interface is nearly full: `[events.egress_utilization]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EgressUtilizationSettings {
    /// Mean utilization of each second above which it is nearly full, thousandths of a full link. Default
    /// 900.
    pub above_permille: u64,
    /// Seconds for which it must be above that. Default 10.
    pub for_s: u64,
    /// Mean utilization below which the event ends, thousandths. Default 800.
    pub below_permille: u64,
    /// The value of egress utilization that means a full link. Default 10,000: hundredths of a percent.
    pub full_utilization: u32,
    /// Interfaces that are followed at the same time: those above `below_permille`. Default 1024: about 2 MB.
    pub max_interfaces: usize,
}

impl Default for EgressUtilizationSettings {
    fn default() -> Self {
        Self {
            above_permille: 900,
            for_s: 10,
            below_permille: 800,
            full_utilization: 10_000,
            max_interfaces: 1_024,
        }
    }
}

impl EgressUtilizationSettings {
    /// A level in thousandths of a full link.
    pub(super) fn permille(&self, level: u32) -> u64 {
        u64::from(level) * 1_000 / u64::from(self.full_utilization.max(1))
    }

    /// Whether a level is high enough to follow the interface and to keep an event active.
    pub(super) fn is_busy(&self, level: u32) -> bool {
        u64::from(level) * 1_000 >= self.full(self.below_permille.min(self.above_permille))
    }

    /// Whether a level counts as nearly full.
    pub(super) fn is_nearly_full(&self, level: u32) -> bool {
        u64::from(level) * 1_000 > self.full(self.above_permille)
    }

    fn full(&self, permille: u64) -> u64 {
        u64::from(self.full_utilization).saturating_mul(permille)
    }

    /// How long an interface may be silent before its state is unknown.
    pub(super) fn quiet(&self) -> Nanos {
        Nanos::from_secs(self.for_s.clamp(MIN_QUIET_S, MAX_QUIET_S))
    }
}

/// Smart nodes report a flow every 1.07 s.
const MIN_QUIET_S: u64 = 3;
const MAX_QUIET_S: u64 = 60;
