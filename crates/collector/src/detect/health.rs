//! Irregularities of the telemetry itself.

use std::net::{IpAddr, SocketAddr};

use hashbrown::{HashMap, HashSet};
use inband_model::{
    Confidence, DuplicateNodeId, Event, EventDetail, Flow, Nanos, NodeId, ReportAboutReport, ReportReference,
    Severity, UnknownNode,
};
use serde::{Deserialize, Serialize};

use crate::book::{Course, MIN_QUIET, Signs};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::purge::Purge;
use crate::sighting::Sighting;

use super::detector::{Common, Detector};

/// Irregularities of nodes: `[events.health]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthSettings {
    /// Ids of all existing nodes; empty: any. Default empty.
    pub known_nodes: Vec<u32>,
    /// Address changes of a node's reports within `window_s` from which two nodes are assumed to share its
    /// id. Default 4.
    pub address_changes: u32,
    /// Seconds over which they are counted, and without another sign after which an event ends, at least 1.
    /// Default 60.
    pub window_s: u64,
}

impl Default for HealthSettings {
    fn default() -> HealthSettings {
        HealthSettings { known_nodes: Vec::new(), address_changes: 4, window_s: 60 }
    }
}

pub(crate) type Settings = HealthSettings;

/// Irregularities of nodes.
#[derive(Debug)]
pub(crate) struct State {
    settings: HealthSettings,
    known: HashSet<NodeId>,
    /// The signs of each irregularity, and when its last one was, for at most [`MAX_SIGNS`] irregularities.
    told: HashMap<(Sign, NodeId), (Signs, Nanos)>,
    purge: Purge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sign {
    Unknown,
    AboutReport,
}

/// Whether the source addresses of a stream alternate.
#[derive(Debug, Default)]
pub(crate) struct AddressTurns {
    began_at: Nanos,
    changes: u32,
    /// Changes in the previous window.
    before: u32,
    /// The changes that are too many.
    signs: Signs,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        let known = settings.known_nodes.iter().copied().map(NodeId).collect();
        Self { settings: settings.clone(), known, told: HashMap::new(), purge: Purge::default() }
    }

    #[inline]
    fn handle_report(&mut self, sighting: &Sighting<'_>, _: &Network, outbox: &mut Outbox) {
        let report = sighting.report;
        if !self.known.is_empty() {
            let is_own = |node_id| sighting.share.has_node(node_id);
            if is_own(report.node_id) {
                self.look_up(report, report.node_id, Some(sighting.from.ip()), outbox);
            }
            for reading in sighting.hops.iter().filter(|reading| is_own(reading.hop.node_id)) {
                self.look_up(report, reading.hop.node_id, None, outbox);
            }
        }
        if let Some(flow) = &sighting.reading.flow
            && sighting.has_reporter()
        {
            self.look_at(report, sighting.session, flow, outbox);
        }
    }
}

impl State {
    /// Checks whether a node that sent a report from `address`, or is on a stack, is a known one.
    fn look_up(
        &mut self,
        report: ReportReference,
        node_id: NodeId,
        address: Option<IpAddr>,
        outbox: &mut Outbox,
    ) {
        if self.known.contains(&node_id) || node_id == NodeId::NOT_AVAILABLE {
            return;
        }
        self.tell(Sign::Unknown, node_id, report.received_at, outbox, || {
            let detail = EventDetail::UnknownNode(UnknownNode { node_id, address });
            event(detail, format!("node {node_id}"), report)
        });
    }

    /// Checks whether a reported packet is a telemetry report on its way to `session`.
    #[inline]
    fn look_at(&mut self, report: ReportReference, session: SocketAddr, flow: &Flow, outbox: &mut Outbox) {
        let is_report = flow.protocol == UDP
            && flow.destination_port == session.port()
            && (flow.destination == session.ip() || session.ip().is_unspecified());
        if !is_report {
            return;
        }
        let node_id = report.node_id;
        self.tell(Sign::AboutReport, node_id, report.received_at, outbox, || {
            let detail = EventDetail::ReportAboutReport(ReportAboutReport { node_id, flow: *flow });
            let event = event(detail, format!("node {node_id}"), report);
            Event { severity: Severity::Critical, ..event }
        });
    }

    /// Counts a sign of an irregularity, and announces it at a limited rate.
    fn tell(
        &mut self,
        sign: Sign,
        node_id: NodeId,
        now: Nanos,
        outbox: &mut Outbox,
        event: impl FnOnce() -> Event,
    ) {
        let course = self.settings.course();
        if !self.told.contains_key(&(sign, node_id)) {
            if self.told.len() >= MAX_SIGNS && self.purge.begins(now) {
                self.told.retain(|_, (_, seen_at)| now.since(*seen_at) < MIN_QUIET);
            }
            if self.told.len() >= MAX_SIGNS {
                return;
            }
        }
        let (signs, seen_at) = self.told.entry((sign, node_id)).or_default();
        *seen_at = now;
        if let Some(count) = signs.take(now, course) {
            outbox.begin_counting(Event { count, ..event() }, course, signs);
        }
    }
}

impl HealthSettings {
    fn window(&self) -> Nanos {
        Nanos::from_secs(self.window_s.max(1))
    }

    fn course(&self) -> Course {
        Course::until_quiet(self.window())
    }
}

impl AddressTurns {
    /// Records that the address has changed; returns whether it changes too often for one node.
    pub(crate) fn change(&mut self, settings: &HealthSettings, now: Nanos) -> bool {
        let window = settings.window();
        if now.since(self.began_at) > window {
            let is_next = now.since(self.began_at) <= window + window;
            self.before = if is_next { self.changes } else { 0 };
            (self.began_at, self.changes) = (if is_next { self.began_at + window } else { now }, 0);
        }
        self.changes = self.changes.saturating_add(1);
        // Those of the previous window count by how much of it is within a window of now.
        let left = window.since(now.since(self.began_at));
        let before = u128::from(self.before) * u128::from(left.0) / u128::from(window.0);
        let changes = self.changes.saturating_add(u32::try_from(before).unwrap_or(u32::MAX));
        changes >= settings.address_changes
    }
}

/// Counts a change of address that shows that two senders use one node id, and announces it at a limited
/// rate.
pub(crate) fn duplicate_node_id(
    settings: &HealthSettings,
    report: ReportReference,
    addresses: [Option<IpAddr>; 2],
    turns: &mut AddressTurns,
    outbox: &mut Outbox,
) {
    let Some(count) = turns.signs.take(report.received_at, settings.course()) else { return };
    let (node_id, addresses) = (report.node_id, addresses.into_iter().flatten().collect());
    let detail = EventDetail::DuplicateNodeId(DuplicateNodeId { node_id, addresses });
    let event = Event { count, ..event(detail, format!("node {node_id}"), report) };
    outbox.begin_counting(event, settings.course(), &mut turns.signs);
}

fn event(detail: EventDetail, key: String, report: ReportReference) -> Event {
    Event::of_report(detail, Severity::Warning, key, Confidence::Probable, report)
}

const UDP: u8 = 17;
/// Maximum number of irregularities remembered at the same time.
const MAX_SIGNS: usize = 4_096;
