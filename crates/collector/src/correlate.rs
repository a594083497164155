//! Correlation of the reports on one flow.

mod change;
mod finding;
mod head;
mod likeness;
mod postcard;
mod stack;
mod trail;
mod upstream;
mod views;

use hashbrown::HashSet;
use inband_model::{Flow, HopLatencyObservation, Nanos, NodeId, Observation, Origin, QueueDepthObservation};

use crate::deadlines::Deadlines;
use crate::detect::congestion::CongestionChange;
use crate::detect::detector::{ChangeStage, Common, SeenChange};
use crate::detect::{Detectors, EventSettings};
use crate::flows::{FlowEntry, FlowIndex};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::paths::PathSettings;
use crate::ports::{PortSettings, Ports, Sample};
use crate::share::Share;
use crate::sighting::Sighting;

use self::trail::Trail;

/// Follows flows, their paths, and the nodes on them.
#[derive(Debug)]
pub(crate) struct Correlator {
    network: Network,
    detectors: Detectors,
    reminders: Deadlines<Reminder>,
    next_sweep: Option<Nanos>,
    /// The hops of the current path; kept here to reuse its memory.
    trail: Trail,
    /// Interfaces by which packets enter the hop behind one that removes stacks, where a stack may begin in
    /// the middle of a path.
    seams: HashSet<(NodeId, u16)>,
    evicted_flows: u64,
    aged_flows: u64,
    /// Reports on packets older than the latest of their flow, which say nothing of its path.
    late_reports: u64,
    /// Reports of nodes beyond the number through which a flow is followed.
    unplaced_nodes: u64,
}

/// A flow to check again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reminder {
    flow: FlowIndex,
    /// When the flow was first seen: another flow may have taken its place by then.
    first_seen: Nanos,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The nodes that report a flow have had time to settle.
    Settle,
    /// An old path has had time to show whether its links still carry flows.
    SettleChange,
    /// The path of a flapping flow may be reported again.
    Tell,
    /// A stack has waited for the hops before it.
    EndHold,
}

impl Correlator {
    pub(crate) fn new(
        settings: PathSettings,
        ports: PortSettings,
        events: &EventSettings,
        share: Share,
    ) -> Self {
        let common = Common {
            settle: settings.settle(),
            synchronous_clocks: settings.synchronous_clocks,
            share,
            units: events.units.clone(),
        };
        Self {
            detectors: Detectors::new(events, &common),
            network: Network::new(settings, ports),
            reminders: Deadlines::new(),
            next_sweep: None,
            trail: Trail::default(),
            seams: HashSet::new(),
            evicted_flows: 0,
            aged_flows: 0,
            late_reports: 0,
            unplaced_nodes: 0,
        }
    }

    /// Handles an individual report.
    pub(crate) fn handle_report(&mut self, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        self.detectors.handle_report(sighting, &self.network, outbox);
        let Some(flow) = sighting.reading.flow.filter(|flow| sighting.share.has_flow(flow)) else {
            return self.record_hops(sighting, outbox);
        };
        if self.network.settings.hop_observations {
            observe_hops(flow, sighting, outbox);
        }
        let Some(index) = self.flow(sighting.now, flow, outbox) else {
            return self.record_hops(sighting, outbox);
        };
        if sighting.reading.dropped {
            self.note_drop(index, sighting);
        }
        let entry = &mut self.network.flows[index];
        entry.last_seen = entry.last_seen.max(sighting.now);
        entry.reports += 1;
        match sighting.reading.origin {
            Origin::MdStack => self.handle_stack(index, sighting, outbox),
            Origin::MxReport | Origin::XdReport => {
                self.record_hops(sighting, outbox);
                self.handle_postcard(index, sighting, outbox);
            }
        }
    }

    /// Does what has become due.
    pub(crate) fn handle_timeout(&mut self, now: Nanos, outbox: &mut Outbox) {
        self.detectors.handle_timeout(now, &self.network, outbox);
        spread_congestion(&mut self.network.ports, &mut self.detectors, outbox);
        if self.network.ports.is_search_due(now) || self.network.links.is_search_due(now) {
            self.release_silent(now);
        }
        while let Some(reminder) = self.reminders.pop_due(now) {
            let entry = self.network.flows.get_mut(reminder.flow);
            if entry.is_none_or(|entry| entry.first_seen != reminder.first_seen) {
                continue;
            }
            match reminder.what {
                What::Settle => self.settle(reminder.flow, now, outbox),
                What::SettleChange => self.settle_change(reminder.flow, now, outbox),
                What::EndHold => self.give_up_hold(reminder.flow, now, outbox),
                What::Tell => self.tell_kept_back(reminder.flow, now, outbox),
            }
        }
        if self.next_sweep.is_some_and(|due| due <= now) {
            self.sweep(now, outbox);
        }
    }

    /// Makes room for ports and links that found none.
    #[cold]
    fn release_silent(&mut self, now: Nanos) {
        let Network { paths, ports, links, .. } = &mut self.network;
        let (used_ports, used_links) = paths.places_in_use();
        if ports.is_search_due(now) {
            for released in ports.release_silent(now, &used_ports) {
                self.detectors.handle_release(&released);
            }
        }
        if links.is_search_due(now) {
            for link in links.release_silent(now, &used_links) {
                self.detectors.handle_link_release(link);
            }
        }
    }

    /// Handles what keeps history from being written; `None` while it is written.
    pub(crate) fn handle_history(&mut self, now: Nanos, trouble: Option<&str>, outbox: &mut Outbox) {
        self.detectors.handle_history(now, trouble, outbox);
    }

    /// When `handle_timeout` has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        let timeouts = [self.detectors.next_timeout(), self.reminders.next(), self.next_sweep];
        timeouts.into_iter().flatten().min()
    }

    /// Finds or adds a flow; `None` when no flow may be followed.
    fn flow(&mut self, now: Nanos, flow: Flow, outbox: &mut Outbox) -> Option<FlowIndex> {
        if let Some(index) = self.network.flows.find(&flow) {
            return Some(index);
        }
        if self.network.flows.is_full() {
            let oldest = self.network.flows.longest_silent()?;
            self.forget(oldest, now, outbox);
            self.evicted_flows += 1;
        }
        self.next_sweep.get_or_insert(now + SWEEP);
        self.network.flows.insert(now, flow)
    }

    /// Removes flows that have been silent too long: it visits as many places a second as are needed to cover
    /// the table in time.
    fn sweep(&mut self, now: Nanos, outbox: &mut Outbox) {
        let idle = Nanos::from_secs(self.network.settings.flow_idle_s);
        let mut places = self.network.flows.places()
            / usize::try_from(self.network.settings.flow_idle_s.max(1)).unwrap_or(1)
            + 1;
        let before = Nanos(now.0.saturating_sub(idle.0));
        while let Some(index) = self.network.flows.next_silent(before, &mut places) {
            self.forget(index, now, outbox);
            self.aged_flows += 1;
        }
        self.next_sweep = (self.network.flows.len() > 0).then_some(now + SWEEP);
    }

    fn forget(&mut self, index: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let Some(entry) = self.network.flows.remove(index) else { return };
        if let Some(change) = entry.recent_change {
            let seen = SeenChange { index, flow: entry.flow, now, change, stage: ChangeStage::Forgotten };
            self.detectors.handle_change(&seen, &self.network, outbox);
        }
        self.release_all(&entry);
        self.detectors.handle_eviction(index, &entry, now, outbox);
    }

    /// Records that a packet of a flow was dropped, and whether its TTL was zero.
    fn note_drop(&mut self, flow: FlowIndex, sighting: &Sighting<'_>) {
        let entry = &mut self.network.flows[flow];
        entry.dropped_at = Some(sighting.now);
        if self.detectors.drop.is_ttl_zero(sighting.reading.drop.map(|drop| drop.reason)) {
            entry.ttl_zero_at = Some(sighting.now);
        }
    }

    fn release_all(&mut self, entry: &FlowEntry) {
        for path in entry.paths() {
            self.network.paths.release(path);
        }
    }

    /// Records the hops of a report in the statistics of their ports.
    // Kept out of line: the common report of a known path records its hops itself.
    #[inline(never)]
    fn record_hops(&mut self, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let own = sighting.hops.iter().filter(|reading| sighting.share.has_node(reading.hop.node_id));
        for reading in own {
            if let Some(port) =
                self.network.ports.open(sighting.now, reading.hop.node_id, reading.hop.egress_interface)
            {
                let mut sample = Sample::new(sighting, port, reading);
                record_hop(&mut sample, &mut self.network.ports, &mut self.detectors, outbox);
            }
        }
    }

    fn remind(&mut self, due: Nanos, flow: FlowIndex, what: What) {
        let first_seen = self.network.flows[flow].first_seen;
        if self.reminders.len() >= MAX_REMINDERS * self.network.settings.max_flows {
            // Flows come and go faster than their reminders become due.
            let flows = &self.network.flows;
            self.reminders.retain(|reminder| {
                flows.get(reminder.flow).is_some_and(|entry| entry.first_seen == reminder.first_seen)
            });
        }
        self.reminders.set(due, Reminder { flow, first_seen, what });
    }
}

/// Records one hop of a report in the statistics of its port, and passes it to the detectors.
// Inlined with its callees: each call would cost every hop 17 instructions.
#[inline(always)]
fn record_hop(sample: &mut Sample<'_>, ports: &mut Ports, detectors: &mut Detectors, outbox: &mut Outbox) {
    sample.queue = ports.record(sample);
    detectors.handle_hop(sample, ports, outbox);
    // Kept out of line and rarely called: inlining it would cost every hop.
    if detectors.has_congestion() {
        spread_congestion(ports, detectors, outbox);
    }
}

/// Passes the congestion that one detector has found to all of them.
#[inline(never)]
fn spread_congestion(ports: &mut Ports, detectors: &mut Detectors, outbox: &mut Outbox) {
    while let Some(step) = detectors.poll_congestion(outbox) {
        ports.note_congestion(step.queue, matches!(step.change, CongestionChange::Departed(_)));
        detectors.handle_congestion(&step, outbox);
    }
}

/// Returns the measurements of each hop of a report as observations.
fn observe_hops(flow: Flow, sighting: &Sighting<'_>, outbox: &mut Outbox) {
    let (received_at, origin) = (sighting.now, sighting.reading.origin);
    for reading in sighting.hops {
        let hop = reading.hop;
        if let Some(latency) = reading.latency {
            let observation = HopLatencyObservation { flow, hop, latency, received_at, origin };
            outbox.observe(Observation::HopLatency(observation));
        }
        if let Some(queue) = reading.queue() {
            let (queue_id, occupancy) = (queue.id, queue.occupancy);
            let observation = QueueDepthObservation { flow, hop, queue_id, occupancy, received_at, origin };
            outbox.observe(Observation::QueueDepth(observation));
        }
    }
}

/// Interval at which flows are searched for silent ones.
const SWEEP: Nanos = Nanos::from_secs(1);
/// Maximum number of reminders for each flow that may be followed; a followed flow has four.
const MAX_REMINDERS: usize = 5;
