//! Can the telemetry itself be trusted?

use std::net::{IpAddr, SocketAddr};

use hashbrown::{HashMap, HashSet};
use inband_model::{
    Confidence, DuplicateNodeId, Event, EventDetail, Flow, Nanos, NodeId, ReportAboutReport, ReportReference,
    Severity, UnknownNode,
};
use serde::{Deserialize, Serialize};

use crate::book::Course;
use crate::outbox::Outbox;

/// What is strange about nodes: `[events.health]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthSettings {
    /// Ids of all nodes there are; empty: any. Default empty.
    pub known_nodes: Vec<u32>,
    /// Times that the address of a node's reports changes within `window_s` from which on two nodes share its id.
    /// Default 4.
    pub address_changes: u32,
    /// Seconds in which they do, and without another sign after which an event ends. Default 60.
    pub window_s: u64,
}

impl Default for HealthSettings {
    fn default() -> HealthSettings {
        HealthSettings { known_nodes: Vec::new(), address_changes: 4, window_s: 60 }
    }
}

/// What is strange about nodes.
#[derive(Debug)]
pub(crate) struct Health {
    settings: HealthSettings,
    known: HashSet<NodeId>,
    /// When each strange thing was told last, at most [`MOST_TOLD`] of them.
    told: HashMap<(Sign, NodeId), Nanos>,
    /// When it was last looked for what may be told again.
    purged_at: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sign {
    Unknown,
    AboutReport,
}

/// Whether the addresses a stream comes from take turns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AddressTurns {
    began_at: Nanos,
    changes: u32,
    told_at: Option<Nanos>,
}

impl Health {
    pub(crate) fn new(settings: HealthSettings) -> Health {
        let known = settings.known_nodes.iter().copied().map(NodeId).collect();
        Health { settings, known, told: HashMap::new(), purged_at: Nanos::ZERO }
    }

    /// Whether there is a list of nodes to look them up in.
    #[inline]
    pub(crate) fn knows_nodes(&self) -> bool {
        !self.known.is_empty()
    }

    /// Looks whether a node, which sent a report from `address` or stands on a stack, is one that is known.
    pub(crate) fn look_up(
        &mut self,
        report: ReportReference,
        node_id: NodeId,
        address: Option<IpAddr>,
        outbox: &mut Outbox,
    ) {
        if self.known.contains(&node_id) || node_id == NodeId::NOT_AVAILABLE {
            return;
        }
        if self.tells(Sign::Unknown, node_id, report.received_at) {
            let detail = EventDetail::UnknownNode(UnknownNode { node_id, address });
            outbox.begin(event(detail, format!("node {node_id}"), report), self.course());
        }
    }

    /// Looks whether a reported packet is a telemetry report on its way to `session`.
    #[inline]
    pub(crate) fn look_at(
        &mut self,
        report: ReportReference,
        session: SocketAddr,
        flow: Flow,
        outbox: &mut Outbox,
    ) {
        let is_report = flow.protocol == UDP
            && flow.destination_port == session.port()
            && (flow.destination == session.ip() || session.ip().is_unspecified());
        if is_report && self.tells(Sign::AboutReport, report.node_id, report.received_at) {
            let node_id = report.node_id;
            let detail = EventDetail::ReportAboutReport(ReportAboutReport { node_id, flow });
            let event = event(detail, format!("node {node_id}"), report);
            outbox.begin(Event { severity: Severity::Critical, ..event }, self.course());
        }
    }

    fn course(&self) -> Course {
        Course::until_quiet(Nanos::from_secs(self.settings.window_s))
    }

    /// Whether a sign is to be told: once a second for each node.
    fn tells(&mut self, sign: Sign, node_id: NodeId, now: Nanos) -> bool {
        if let Some(told_at) = self.told.get_mut(&(sign, node_id)) {
            let is_due = now.since(*told_at) >= PAUSE;
            if is_due {
                *told_at = now;
            }
            return is_due;
        }
        if self.told.len() >= MOST_TOLD && now.since(self.purged_at) >= PAUSE {
            self.purged_at = now;
            self.told.retain(|_, told_at| now.since(*told_at) < PAUSE);
        }
        if self.told.len() >= MOST_TOLD {
            return false;
        }
        self.told.insert((sign, node_id), now);
        true
    }
}

impl AddressTurns {
    /// Notes that the address has changed; tells once a second when it did so too often.
    pub(crate) fn change(&mut self, settings: &HealthSettings, now: Nanos) -> bool {
        if now.since(self.began_at) > Nanos::from_secs(settings.window_s) {
            (self.began_at, self.changes) = (now, 0);
        }
        self.changes = self.changes.saturating_add(1);
        let is_due = self.told_at.is_none_or(|told_at| now.since(told_at) >= PAUSE);
        let tells = self.changes >= settings.address_changes && is_due;
        if tells {
            self.told_at = Some(now);
        }
        tells
    }
}

/// Announces that two senders use one node id.
pub(crate) fn duplicate_node_id(
    settings: &HealthSettings,
    report: ReportReference,
    addresses: Vec<IpAddr>,
    outbox: &mut Outbox,
) {
    let node_id = report.node_id;
    let detail = EventDetail::DuplicateNodeId(DuplicateNodeId { node_id, addresses });
    let course = Course::until_quiet(Nanos::from_secs(settings.window_s));
    outbox.begin(event(detail, format!("node {node_id}"), report), course);
}

fn event(detail: EventDetail, key: String, report: ReportReference) -> Event {
    Event::of_report(detail, Severity::Warning, key, Confidence::Probable, report)
}

const UDP: u8 = 17;
const PAUSE: Nanos = Nanos::from_secs(1);
/// Most strange things that are remembered at the same time.
const MOST_TOLD: usize = 4_096;
