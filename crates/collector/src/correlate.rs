//! What do the reports on one flow say together?

mod change;
mod clocks;
mod dropped;
mod events;
mod finding;

mod loops;
mod newcomers;
mod postcard;
mod rules;
mod settings;
mod stack;
mod trail;
mod views;

use std::net::SocketAddr;

use inband_model::{
    Event, Flow, HopLatencyObservation, Nanos, Observation, Origin, PathChangeKind, QueueDepthObservation,
    ReportReference,
};

use crate::book::Course;
use crate::deadlines::Deadlines;
use crate::detect::detector::{Fabric, SeenReport};
use crate::detect::{Detectors, EventSettings};
use crate::drops::Drops;
use crate::flows::{FlowEntry, FlowIndex, FlowTable};
use crate::ledger::Arrival;
use crate::numbers::Numbers;
use crate::outbox::Outbox;
use crate::paths::{Links, PathTable, Topology};
use crate::policy::{MOST_RULES, PathRule};
use crate::ports::{PortSettings, Ports, Sample};
use crate::report::{HopReading, Reading};
use crate::silent::SilentLosses;

pub use self::settings::{EdgeInterface, LoopSettings, NewFlowSettings, PathSettings};

use self::newcomers::Newcomers;
use self::trail::Trail;

/// Follows flows, their paths, and the nodes on them.
#[derive(Debug)]
pub(crate) struct Correlator {
    settings: PathSettings,
    flows: FlowTable,
    paths: PathTable,
    links: Links,
    /// The links that are given.
    topology: Topology,
    ports: Ports,
    reminders: Deadlines<Reminder>,
    next_sweep: Option<Nanos>,
    /// The hops of the path at hand; here so that its memory is used again.
    trail: Trail,
    newcomers: Newcomers,
    loop_settings: LoopSettings,
    drops: Drops,
    silent_losses: SilentLosses,
    detectors: Detectors,
    numbers: Numbers,
    rules: Vec<PathRule>,
    /// Path rules that flows broke that are forgotten.
    orphans: Vec<(u64, Flow)>,
    clock_course: Course,
    /// Announcements to end: of flows that are forgotten while it was not certain of what kind a change of their path is.
    undecided: Vec<Event>,
    evicted_flows: u64,
    aged_flows: u64,
    /// Reports on older packets than the latest of their flow, which say nothing of its path.
    late_reports: u64,
    /// Reports of nodes beyond the number that a flow is followed through.
    unplaced_nodes: u64,
}

/// A report on its way through the correlator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting<'a> {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    /// Where it came from, and where it was sent to.
    pub(crate) from: SocketAddr,
    pub(crate) session: SocketAddr,
    /// What the sequence number of its datagram was.
    pub(crate) arrival: Arrival,
    pub(crate) reading: &'a Reading,
    /// First hop first.
    pub(crate) hops: &'a [HopReading],
}

/// A flow to look at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reminder {
    flow: FlowIndex,
    /// When the flow was first seen: another flow may stand in its place by then.
    first_seen: Nanos,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The nodes that report a flow have had time to settle.
    Settle,
    /// An old path has had time to show whether its links still carry flows.
    Classify,
    /// The path of a flow that flaps may be told again.
    Tell,
}

impl Correlator {
    pub(crate) fn new(settings: PathSettings, ports: PortSettings, events: &EventSettings) -> Correlator {
        Correlator {
            flows: FlowTable::new(settings.max_flows),
            paths: PathTable::new(settings.max_paths),
            links: Links::new(settings.max_links, events.clock.clone()),
            topology: Topology::new(&settings.links),
            ports: Ports::new(ports, events.of_ports()),
            reminders: Deadlines::new(),
            next_sweep: None,
            trail: Trail::default(),
            newcomers: Newcomers::new(events.new_flow.clone()),
            loop_settings: events.loops.clone(),
            drops: Drops::new(events.drop.clone()),
            silent_losses: SilentLosses::new(events.silent_loss.clone()),
            detectors: Detectors::new(events),
            numbers: Numbers::new(events.sequence_gap.clone(), settings.settle()),
            rules: events.path_policy.iter().take(MOST_RULES).cloned().collect(),
            orphans: Vec::new(),
            clock_course: events.clock.course(),
            undecided: Vec::new(),
            evicted_flows: 0,
            aged_flows: 0,
            late_reports: 0,
            unplaced_nodes: 0,
            settings,
        }
    }

    /// Takes in an individual report.
    pub(crate) fn handle_report(&mut self, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        self.detectors.handle_report(&sighting.as_seen(), outbox);
        if sighting.reading.dropped {
            self.handle_drop(sighting);
        }
        let Some(flow) = sighting.reading.flow else {
            return self.record_hops(sighting, outbox);
        };
        self.handle_numbers(flow, sighting, outbox);
        if self.settings.hop_observations {
            observe_hops(flow, sighting, outbox);
        }
        let Some(index) = self.flow(sighting.now, flow) else {
            return self.record_hops(sighting, outbox);
        };
        self.end_orphans(sighting.now, outbox);
        if sighting.reading.dropped {
            self.flows[index].dropped_at = Some(sighting.now);
            self.note_ttl(index, sighting);
        }
        let entry = &mut self.flows[index];
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
        self.ports.handle_timeout(now, outbox);
        self.drops.handle_timeout(now, outbox);
        while let Some(suspicion) = self.drops.next_suspicion(now) {
            if suspicion.flows.iter().all(|victim| !self.gets_past(&suspicion, victim)) {
                self.drops.confirm(now, suspicion, outbox);
            }
        }
        self.numbers.handle_timeout(now, outbox);
        let alive_since = Nanos(now.0.saturating_sub(self.settings.reroute_after_ns));
        self.detectors.handle_timeout(now, &Fabric { ports: &self.ports, alive_since }, outbox);
        while let Some(reminder) = self.reminders.pop_due(now) {
            let entry = self.flows.get_mut(reminder.flow);
            if entry.is_none_or(|entry| entry.first_seen != reminder.first_seen) {
                continue;
            }
            match reminder.what {
                What::Settle => self.settle(reminder.flow, now, outbox),
                What::Classify => self.classify(reminder.flow, now, outbox),
                What::Tell => self.tell_kept_back(reminder.flow, now, outbox),
            }
        }
        if self.next_sweep.is_some_and(|due| due <= now) {
            self.sweep(now);
        }
        self.end_orphans(now, outbox);
    }

    /// When `handle_timeout` has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        let timeouts = [
            self.ports.next_timeout(),
            self.drops.next_timeout(),
            self.numbers.next_timeout(),
            self.detectors.next_timeout(),
            self.reminders.next(),
            self.next_sweep,
        ];
        timeouts.into_iter().flatten().min()
    }

    /// Finds a flow, or adds it; `None` when no flow may be followed.
    fn flow(&mut self, now: Nanos, flow: Flow) -> Option<FlowIndex> {
        if let Some(index) = self.flows.find(&flow) {
            return Some(index);
        }
        if self.flows.is_full() {
            let oldest = self.flows.longest_silent()?;
            self.forget(oldest);
            self.evicted_flows += 1;
        }
        self.next_sweep.get_or_insert(now + SWEEP);
        self.flows.insert(now, flow)
    }

    /// Removes flows that have been silent for long: as many places a second as it takes to see them all.
    fn sweep(&mut self, now: Nanos) {
        let idle = Nanos::from_secs(self.settings.flow_idle_s);
        let mut places =
            self.flows.places() / usize::try_from(self.settings.flow_idle_s.max(1)).unwrap_or(1) + 1;
        let before = Nanos(now.0.saturating_sub(idle.0));
        while let Some(index) = self.flows.next_silent(before, &mut places) {
            self.forget(index);
            self.aged_flows += 1;
        }
        self.next_sweep = (self.flows.len() > 0).then_some(now + SWEEP);
    }

    fn forget(&mut self, index: FlowIndex) {
        if let Some(entry) = self.flows.remove(index) {
            if let Some(pending) = &entry.pending {
                self.undecided.push(self.decided(entry.flow, pending, PathChangeKind::EcmpMove));
            }
            self.release_all(&entry);
            if entry.violations != 0 {
                self.orphans.push((entry.violations, entry.flow));
            }
        }
    }

    fn release_all(&mut self, entry: &FlowEntry) {
        for path in entry.paths() {
            self.paths.release(path);
        }
    }

    /// Takes the hops of a report into the statistics of their ports.
    fn record_hops(&mut self, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        for reading in sighting.hops {
            if let Some(port) =
                self.ports.open(sighting.now, reading.hop.node_id, reading.hop.egress_interface)
            {
                let sample = sighting.sample(reading);
                self.ports.record(port, &sample, outbox);
                self.detectors.handle_hop(&sample, outbox);
            }
        }
    }

    fn remind(&mut self, due: Nanos, flow: FlowIndex, what: What) {
        let first_seen = self.flows[flow].first_seen;
        if self.reminders.len() >= MOST_REMINDERS * self.settings.max_flows {
            // Flows come and go faster than their reminders become due.
            let flows = &self.flows;
            self.reminders.retain(|reminder| {
                flows.get(reminder.flow).is_some_and(|entry| entry.first_seen == reminder.first_seen)
            });
        }
        self.reminders.set(due, Reminder { flow, first_seen, what });
    }
}

impl Sighting<'_> {
    /// What detectors see of it.
    #[inline]
    fn as_seen(&self) -> SeenReport<'_> {
        let Sighting { report, from, session, hops, .. } = *self;
        SeenReport { report, from: from.ip(), session, flow: self.reading.flow, hops }
    }

    fn sample<'b>(&'b self, reading: &'b HopReading) -> Sample<'b> {
        // Q is about the queue of the reporting node.
        let is_reporter = reading.hop.node_id == self.report.node_id;
        Sample {
            now: self.now,
            report: self.report,
            reading,
            congested_queue: self.reading.congested_queue && is_reporter,
            flow: self.reading.flow.as_ref(),
            packet_bytes: self.reading.packet_bytes,
        }
    }
}

/// Gives out what each hop of a report measured.
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

/// How often flows are looked through for silent ones.
const SWEEP: Nanos = Nanos::from_secs(1);
/// Reminders for each flow that may be followed, at most; a flow that is followed has three.
const MOST_REMINDERS: usize = 4;
