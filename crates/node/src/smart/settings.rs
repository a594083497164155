//! Compiled `[smart]` settings.

use inband_wire::int::Domain;

use crate::config::{LatencyChange, NodeConfig, SmartConfig};
use crate::error::ConfigError;
use crate::passage::Hop;

use super::latency::Sensitivity;
use super::observation;
use super::queues::Queues;

/// The settings of filters and triggers.
#[derive(Clone, Debug)]
pub(crate) struct SmartSettings {
    pub(super) interval_ns: u64,
    /// How many flows are stored exactly.
    pub(super) flows: u32,
    /// How many dropped flows are stored exactly.
    pub(super) drops: u32,
    pub(super) queues: Queues,
    pub(super) sensitivity: Sensitivity,
    /// Whether a report that bypasses the filters counts as one of theirs.
    pub(super) hears_of_queue_reports: bool,
    pub(super) domains: Vec<Domain>,
}

impl SmartSettings {
    /// # Errors
    /// A threshold or size out of range.
    pub(crate) fn new(config: &NodeConfig) -> Result<Self, ConfigError> {
        let smart = &config.smart;
        check(smart)?;
        Ok(Self {
            interval_ns: smart.interval_ms.saturating_mul(1_000_000),
            flows: smart.flows,
            drops: smart.drops,
            queues: Queues::new(smart)?,
            sensitivity: Sensitivity::new(smart),
            hears_of_queue_reports: hears_of_queue_reports(smart),
            domains: config.wire_domains()?,
        })
    }

    /// Takes the domains of `other`, which a reload does not change.
    pub(crate) fn keep_domains(&mut self, other: &Self) {
        self.domains.clone_from(&other.domains);
    }

    /// Whether the packet waited long enough to be reported by its queue.
    #[inline]
    pub(crate) fn is_over_trigger(&self, hop: &Hop<'_>) -> bool {
        let (Some(queue), Some(latency)) = (hop.device.queue, observation::latency(hop.device)) else {
            return false;
        };
        self.queues.is_over_trigger(hop.egress.id, queue.id, latency)
    }
}

/// Whether queue reports count for the filters as reports of their flows. SD-Fabric's pipeline behavior is
/// selected as a whole.
fn hears_of_queue_reports(smart: &SmartConfig) -> bool {
    smart.latency_change == LatencyChange::Difference
}

/// Checks `[smart]`, whether or not it is used.
///
/// # Errors
/// A threshold or size out of range.
pub(crate) fn check(smart: &SmartConfig) -> Result<(), ConfigError> {
    for (key, size) in [("smart.flows", smart.flows), ("smart.drops", smart.drops)] {
        if size > MAX_FLOWS {
            return Err(ConfigError::out_of_range(key, size, format!("0 to {MAX_FLOWS}")));
        }
    }
    match smart.interval_ms {
        0 => Err(ConfigError::out_of_range("smart.interval_ms", 0, "at least 1")),
        _ => Queues::new(smart).map(|_| ()),
    }
}

/// Maximum number of flows that are stored exactly.
const MAX_FLOWS: u32 = 1 << 24;
