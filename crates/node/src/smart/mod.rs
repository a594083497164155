//! Which reports are worth sending? SD-Fabric's filters and triggers.
//!
//! A flow is reported when it is first seen, once per interval after that, and at once when its way through the
//! network changes. A drop is reported once per interval, flow and reason. A queue reports every packet that
//! waits too long in it, up to a quota. What is remembered is bounded: `table` holds some flows exactly,
//! `digests` the rest of them as SD-Fabric does, both in `filter`; `queues` holds the quotas.

mod digests;
mod filter;
mod observation;
mod queues;
mod table;

use inband_wire::FiveTuple;
use inband_wire::int::Domain;
use inband_wire::int::Location;

use crate::config::{NodeConfig, SmartConfig};
use crate::error::ConfigError;
use crate::passage::Hop;

use filter::{Filter, Key};
pub(crate) use observation::Observation;
pub(crate) use queues::Congestion;
use queues::Queues;

/// Filters and triggers with what they remember.
#[derive(Clone, Debug)]
pub(crate) struct Smart {
    flows: Filter,
    drops: Filter,
    queues: Queues,
    latency_mask: u32,
    domains: Vec<Domain>,
    /// The latest time the shell told, for devices that give packets none.
    clock: Option<u64>,
}

impl Smart {
    /// # Errors
    /// A threshold or size out of range.
    pub(crate) fn new(config: &NodeConfig) -> Result<Self, ConfigError> {
        let smart = &config.smart;
        check(smart)?;
        let interval_ns = smart.interval_ms.saturating_mul(1_000_000);
        Ok(Self {
            flows: Filter::new(smart.flows, interval_ns),
            drops: Filter::new(smart.drops, interval_ns),
            queues: Queues::new(smart)?,
            latency_mask: latency_mask(smart.min_hop_latency_change_ns),
            domains: config.wire_domains()?,
            clock: None,
        })
    }

    /// Takes over thresholds, interval and quotas from the next packet on; what is known of flows stays.
    ///
    /// # Errors
    /// A threshold or size out of range; nothing has changed then.
    pub(crate) fn reload(&mut self, smart: &SmartConfig) -> Result<(), ConfigError> {
        check(smart)?;
        let queues = Queues::new(smart)?;
        let interval_ns = smart.interval_ms.saturating_mul(1_000_000);
        self.queues.adopt(queues);
        self.flows.set_interval(interval_ns);
        self.drops.set_interval(interval_ns);
        self.latency_mask = latency_mask(smart.min_hop_latency_change_ns);
        Ok(())
    }

    /// Lets time pass for packets that come without one.
    pub(crate) fn handle_timeout(&mut self, now: u64) {
        self.clock = Some(now);
    }

    /// What `hop`, and the stack of an INT packet at `location`, say about the packet's way; `None` where the
    /// stack cannot be read.
    pub(crate) fn observe(
        &self,
        bytes: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
    ) -> Option<Observation> {
        Observation::new(bytes, location, hop, self.latency_mask, &self.domains)
    }

    /// Whether a packet of `flow` with this way through the network is to be reported.
    pub(crate) fn reports_flow(&mut self, flow: FiveTuple, seen: Observation, hop: &Hop<'_>) -> bool {
        let Some(now) = self.now(hop) else { return true };
        self.flows.passes(Key { flow, reason: None }, seen, now)
    }

    /// Whether the drop of a packet of `flow` is to be reported.
    pub(crate) fn reports_drop(&mut self, flow: FiveTuple, reason: u8, hop: &Hop<'_>) -> bool {
        let Some(now) = self.now(hop) else { return true };
        self.drops.passes(Key { flow, reason: Some(reason) }, Observation::default(), now)
    }

    /// Whether the packet waited long enough to be reported by its queue.
    pub(crate) fn is_over_trigger(&self, hop: &Hop<'_>) -> bool {
        let (Some(queue), Some(latency)) = (hop.device.queue, observation::latency(hop.device)) else {
            return false;
        };
        self.queues.is_over_trigger(hop.egress.id, queue.id, latency)
    }

    /// Whether the queue the packet waited in is congested.
    pub(crate) fn congestion(&mut self, hop: &Hop<'_>) -> Congestion {
        let (Some(queue), Some(latency)) = (hop.device.queue, observation::latency(hop.device)) else {
            return Congestion::None;
        };
        self.queues.observe(hop.egress.id, queue.id, latency)
    }

    /// Whether a queue that had no room for the packet is congested.
    pub(crate) fn tail_drop(&mut self, hop: &Hop<'_>) -> Congestion {
        hop.device.queue.map_or(Congestion::None, |queue| self.queues.overflow(hop.egress.id, queue.id))
    }

    /// The packet's time; without one nothing can be withheld for an interval.
    fn now(&self, hop: &Hop<'_>) -> Option<u64> {
        hop.device.clock().or(self.clock)
    }
}

/// The bits of a latency whose change is reported: those from the least change upwards, a power of two.
fn latency_mask(least_change_ns: u32) -> u32 {
    least_change_ns.checked_ilog2().map_or(u32::MAX, |bits| u32::MAX << bits)
}

/// Checks what `[smart]` says, whether or not it is used.
///
/// # Errors
/// A threshold or size out of range.
pub(crate) fn check(smart: &SmartConfig) -> Result<(), ConfigError> {
    for (key, size) in [("smart.flows", smart.flows), ("smart.drops", smart.drops)] {
        if size > MOST_FLOWS {
            return Err(ConfigError::out_of_range(key, size, format!("0 to {MOST_FLOWS}")));
        }
    }
    match smart.interval_ms {
        0 => Err(ConfigError::out_of_range("smart.interval_ms", 0, "at least 1")),
        _ => Queues::new(smart).map(|_| ()),
    }
}

/// Most flows that are remembered exactly.
const MOST_FLOWS: u32 = 1 << 24;

#[cfg(test)]
mod tests;
