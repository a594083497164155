//! Settings of nearly full egress interfaces.

use inband_model::{Nanos, NodeUnits};
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
    /// The value of egress utilization that means a full link, at nodes without `utilization_full` in the
    /// names file. Default 10,000: hundredths of a percent.
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
    /// The levels of an interface, in the units of its node.
    pub(super) fn levels(&self, units: NodeUnits) -> Levels {
        let full = units.utilization_full.unwrap_or(self.full_utilization);
        let (above, below) = (self.above_permille, self.below_permille.min(self.above_permille));
        Levels { full: u64::from(full.max(1)), above_permille: above, below_permille: below }
    }

    /// How long an interface may be silent before its state is unknown.
    pub(super) fn quiet(&self) -> Nanos {
        Nanos::from_secs(self.for_s.clamp(MIN_QUIET_S, MAX_QUIET_S))
    }
}

/// What a value of egress utilization of one interface means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    /// The value that means a full link, at least 1.
    full: u64,
    above_permille: u64,
    below_permille: u64,
}

impl Levels {
    /// A value in thousandths of a full link.
    pub(super) fn permille(self, value: u32) -> u64 {
        u64::from(value) * 1_000 / self.full
    }

    /// Whether a value is high enough to follow the interface and to keep an event active.
    pub(super) fn is_busy(self, value: u32) -> bool {
        u64::from(value) * 1_000 >= self.full.saturating_mul(self.below_permille)
    }

    /// Whether a value counts as nearly full.
    pub(super) fn is_nearly_full(self, value: u32) -> bool {
        u64::from(value) * 1_000 > self.full.saturating_mul(self.above_permille)
    }
}

/// Smart nodes report a flow every 1.07 s.
const MIN_QUIET_S: u64 = 3;
const MAX_QUIET_S: u64 = 60;
