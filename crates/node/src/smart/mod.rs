//! SD-Fabric's report filters and triggers.
//!
//! A flow is reported when it is first seen, once per interval after that, and immediately when its path
//! through the network or its latency changes. A drop is reported once per interval, flow and reason. A queue
//! reports every packet that waits too long in it, up to a quota. The state is bounded: `table` stores some
//! flows exactly, `digests` the rest as SD-Fabric does, both in `filter`; `queues` holds the quotas.
//! [`SmartSettings`] is the configuration, [`Smart`] the state of a core.

mod digests;
mod filter;
mod key;
mod latency;
mod observation;
mod queues;
mod reported;
mod settings;
mod table;

use inband_wire::FiveTuple;
use inband_wire::int::Location;

use crate::passage::Hop;

use filter::Filter;
use key::Key;
use observation::Observation;
pub(crate) use queues::Congestion;
use queues::Quotas;
pub(crate) use settings::{SmartSettings, check};

/// The state of filters and triggers.
#[derive(Clone, Debug)]
pub(crate) struct Smart {
    flows: Filter,
    drops: Filter,
    quotas: Quotas,
    /// Scratch space for the latencies of a packet's stack.
    upstream: Vec<u32>,
    /// The shell's latest time, for devices that give packets none.
    clock: Option<u64>,
}

impl Smart {
    pub(crate) fn new(settings: &SmartSettings) -> Self {
        let SmartSettings { interval_ns, flows, drops, .. } = *settings;
        Self {
            flows: Filter::new(flows, interval_ns),
            drops: Filter::new(drops, interval_ns),
            quotas: Quotas::default(),
            upstream: Vec::new(),
            clock: None,
        }
    }

    /// Applies new thresholds, interval and quotas; the state of flows is kept.
    pub(crate) fn adopt(&mut self, settings: &SmartSettings) {
        self.quotas.adopt(&settings.queues);
        self.flows.set_interval(settings.interval_ns);
        self.drops.set_interval(settings.interval_ns);
    }

    /// Sets the time of packets that have none.
    pub(crate) fn handle_timeout(&mut self, now: u64) {
        self.clock = Some(now);
    }

    /// Whether to report a packet of `flow`, given `hop` and the stack of an INT packet at `location`; also
    /// true if the stack cannot be read.
    pub(crate) fn reports_flow(
        &mut self,
        settings: &SmartSettings,
        flow: FiveTuple,
        packet: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
    ) -> bool {
        let Some(now) = self.now(hop) else { return true };
        let (sensitivity, upstream) = (settings.sensitivity, &mut self.upstream);
        match Observation::new(packet, location, hop, sensitivity, &settings.domains, upstream) {
            Some(seen) => self.flows.passes(Key { flow, reason: None }, seen, now, sensitivity),
            None => true,
        }
    }

    /// Records a packet of `flow` that is reported because of its queue.
    ///
    /// It counts as the flow's latest packet, and its report as one of the flow's. SD-Fabric's pipeline
    /// differs: its filter sees no packet that a queue reports.
    // sd-fabric-1.0/flow-01, sd-fabric-1.0/flow-03
    pub(crate) fn handle_queue_report(
        &mut self,
        settings: &SmartSettings,
        flow: FiveTuple,
        packet: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
    ) {
        let Some(now) = self.now(hop).filter(|_| settings.hears_of_queue_reports) else { return };
        let (sensitivity, upstream) = (settings.sensitivity, &mut self.upstream);
        let domains = &settings.domains;
        if let Some(seen) = Observation::new(packet, location, hop, sensitivity, domains, upstream) {
            self.flows.remember(Key { flow, reason: None }, seen, now);
        }
    }

    /// Whether to report the drop of a packet of `flow`.
    pub(crate) fn reports_drop(
        &mut self,
        settings: &SmartSettings,
        flow: FiveTuple,
        reason: u8,
        hop: &Hop<'_>,
    ) -> bool {
        let Some(now) = self.now(hop) else { return true };
        let key = Key { flow, reason: Some(reason) };
        self.drops.passes(key, Observation::default(), now, settings.sensitivity)
    }

    /// Whether the queue the packet waited in is congested.
    pub(crate) fn congestion(&mut self, settings: &SmartSettings, hop: &Hop<'_>) -> Congestion {
        let (Some(queue), Some(latency)) = (hop.device.queue, observation::latency(hop.device)) else {
            return Congestion::None;
        };
        self.quotas.observe(&settings.queues, (hop.egress.id, queue.id), latency)
    }

    /// Whether a full queue that dropped the packet is congested.
    pub(crate) fn tail_drop(&mut self, settings: &SmartSettings, hop: &Hop<'_>) -> Congestion {
        let Some(queue) = hop.device.queue else { return Congestion::None };
        self.quotas.overflow(&settings.queues, hop.egress.id, queue.id)
    }

    /// The packet's time; without it no report is suppressed.
    fn now(&self, hop: &Hop<'_>) -> Option<u64> {
        hop.device.clock().or(self.clock)
    }
}

#[cfg(test)]
mod tests;
