//! SD-Fabric's filters and triggers, which choose the reports that are worth sending.
//!
//! A flow is reported when it is first seen, once per interval after that, and at once when its way through the
//! network or its latency changes. A drop is reported once per interval, flow and reason. A queue reports every packet that
//! waits too long in it, up to a quota. What is remembered is bounded: `table` holds some flows exactly,
//! `digests` the rest of them as SD-Fabric does, both in `filter`; `queues` holds the quotas.

mod digests;
mod filter;
mod latency;
mod observation;
mod queues;
mod table;

use inband_wire::FiveTuple;
use inband_wire::int::Domain;
use inband_wire::int::Location;

use crate::config::{LatencyChange, NodeConfig, SmartConfig};
use crate::error::ConfigError;
use crate::passage::Hop;

use filter::{Filter, Key};
use latency::Sensitivity;
use observation::Observation;
pub(crate) use queues::Congestion;
use queues::Queues;

/// Filters and triggers with what they remember.
#[derive(Clone, Debug)]
pub(crate) struct Smart {
    flows: Filter,
    drops: Filter,
    queues: Queues,
    sensitivity: Sensitivity,
    /// Whether a report that goes past the filters counts as one of theirs.
    hears_of_queue_reports: bool,
    domains: Vec<Domain>,
    /// Latencies of the stack's hops, of one packet at a time.
    upstream: Vec<u32>,
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
            sensitivity: Sensitivity::new(smart),
            hears_of_queue_reports: hears_of_queue_reports(smart),
            domains: config.wire_domains()?,
            upstream: Vec::new(),
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
        self.sensitivity = Sensitivity::new(smart);
        self.hears_of_queue_reports = hears_of_queue_reports(smart);
        Ok(())
    }

    /// Lets time pass for packets that come without one.
    pub(crate) fn handle_timeout(&mut self, now: u64) {
        self.clock = Some(now);
    }

    /// Whether a packet of `flow` is to be reported, by what `hop`, and the stack of an INT packet at `location`,
    /// say of its way; also where the stack cannot be read.
    pub(crate) fn reports_flow(
        &mut self,
        flow: FiveTuple,
        packet: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
    ) -> bool {
        let Some(now) = self.now(hop) else { return true };
        let (sensitivity, upstream) = (self.sensitivity, &mut self.upstream);
        match Observation::new(packet, location, hop, sensitivity, &self.domains, upstream) {
            Some(seen) => self.flows.passes(Key { flow, reason: None }, seen, now, sensitivity),
            None => true,
        }
    }

    /// Hears of a packet of `flow` that is reported because of its queue.
    ///
    /// It is the flow's latest packet, and its report one of the flow's. The pipeline of SD-Fabric does not look at
    /// it that way: its filter sees no packet that a queue reports.
    // sd-fabric-1.0/flow-01, sd-fabric-1.0/flow-03
    pub(crate) fn handle_queue_report(
        &mut self,
        flow: FiveTuple,
        packet: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
    ) {
        let Some(now) = self.now(hop).filter(|_| self.hears_of_queue_reports) else { return };
        let (sensitivity, upstream) = (self.sensitivity, &mut self.upstream);
        if let Some(seen) = Observation::new(packet, location, hop, sensitivity, &self.domains, upstream) {
            self.flows.remember(Key { flow, reason: None }, seen, now);
        }
    }

    /// Whether the drop of a packet of `flow` is to be reported.
    pub(crate) fn reports_drop(&mut self, flow: FiveTuple, reason: u8, hop: &Hop<'_>) -> bool {
        let Some(now) = self.now(hop) else { return true };
        let key = Key { flow, reason: Some(reason) };
        self.drops.passes(key, Observation::default(), now, self.sensitivity)
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

/// Whether reports of queues count for the filters as reports of their flows. What SD-Fabric's pipeline does is
/// chosen as a whole.
fn hears_of_queue_reports(smart: &SmartConfig) -> bool {
    smart.latency_change == LatencyChange::Difference
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
