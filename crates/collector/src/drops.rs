//! Which packets do nodes drop, where, and what does that mean?

mod reasons;
mod settings;

use hashbrown::HashMap;
use inband_model::{
    Confidence, Drop, DropClass, Event, EventDetail, Flow, Nanos, NodeId, Phase, ReportReference, Severity,
};

use crate::book::Course;
use crate::deadlines::Deadlines;
use crate::outbox::Outbox;

pub use self::settings::{DropReasonSettings, DropSettings};

use self::reasons::{Consequence, Reasons};

/// Drop reports, grouped by where and why packets were dropped; at most a stated number of groups.
#[derive(Debug)]
pub(crate) struct Drops {
    settings: DropSettings,
    reasons: Reasons,
    groups: HashMap<Place, Group>,
    closing: Deadlines<Place>,
    /// Groups whose flows may be getting nowhere, and when that is judged.
    watches: Deadlines<Place>,
    watched: HashMap<Place, Group>,
    ungrouped: u64,
}

/// Where and why packets were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) node_id: NodeId,
    pub(crate) reason: Option<u8>,
    pub(crate) ingress: Option<u16>,
    pub(crate) egress: Option<u16>,
    pub(crate) queue_id: Option<u8>,
}

/// One report of a drop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dropped {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    /// Packets the report tells of.
    pub(crate) packets: u64,
    pub(crate) flow: Option<Flow>,
    /// TTL of the packet.
    pub(crate) ttl: Option<u8>,
    /// Whether the queue it was to wait in is congested.
    pub(crate) is_congested: bool,
}

/// Drops at one place within a second.
#[derive(Debug, Clone)]
struct Group {
    first: ReportReference,
    last: ReportReference,
    reports: u64,
    packets: u64,
    /// Different flows with the TTL of their packets, at most [`MOST_FLOWS`].
    flows: Vec<Victim>,
    is_congested: bool,
}

/// A flow whose packets are dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Victim {
    pub(crate) flow: Flow,
    pub(crate) ttl: Option<u8>,
}

/// A question to whoever follows flows: does none of these flows get past the node?
#[derive(Debug)]
pub(crate) struct Suspicion {
    pub(crate) node_id: NodeId,
    pub(crate) since: Nanos,
    pub(crate) flows: Vec<Victim>,
    event: Event,
}

impl Drops {
    pub(crate) fn new(settings: DropSettings) -> Drops {
        Drops {
            reasons: Reasons::new(&settings),
            groups: HashMap::new(),
            closing: Deadlines::new(),
            watches: Deadlines::new(),
            watched: HashMap::new(),
            ungrouped: 0,
            settings,
        }
    }

    /// Takes in a report of a drop.
    pub(crate) fn record(&mut self, place: Place, dropped: &Dropped) {
        if let Some(group) = self.groups.get_mut(&place) {
            return group.take(dropped);
        }
        if self.groups.len() >= self.settings.max_groups {
            self.ungrouped += 1;
            return;
        }
        let mut group = Group {
            first: dropped.report,
            last: dropped.report,
            reports: 0,
            packets: 0,
            flows: Vec::new(),
            is_congested: false,
        };
        group.take(dropped);
        self.groups.insert(place, group);
        self.closing.set(dropped.now + self.settings.window(), place);
    }

    /// Whether a reason says that the TTL of the packet was used up.
    pub(crate) fn is_ttl_zero(&self, reason: Option<u8>) -> bool {
        self.reasons.of(reason).consequence == Consequence::TtlZero
    }

    /// Announces the groups whose second is over.
    pub(crate) fn handle_timeout(&mut self, now: Nanos, outbox: &mut Outbox) {
        while let Some(place) = self.closing.pop_due(now) {
            let Some(group) = self.groups.remove(&place) else { continue };
            let class = self.class(place, &group);
            let quiet = self.settings.window() + self.settings.window();
            outbox.begin(self.event(place, &group, class), Course::until_quiet(quiet));
            let is_miss = self.reasons.of(place.reason).consequence == Consequence::ForwardingMiss;
            let has_room = self.watched.len() < self.settings.max_groups;
            if is_miss && has_room && !self.watched.contains_key(&place) {
                self.watches.set(group.first.received_at + self.settings.blackhole_after(), place);
                self.watched.insert(place, group);
            }
        }
    }

    /// The next group of which it is time to say whether its flows get nowhere.
    pub(crate) fn next_suspicion(&mut self, now: Nanos) -> Option<Suspicion> {
        let place = self.watches.pop_due(now)?;
        let group = self.watched.remove(&place)?;
        let mut event = self.event(place, &group, DropClass::Blackhole);
        event.key.push_str(" blackhole");
        event.severity = Severity::Critical;
        let since = group.first.received_at;
        Some(Suspicion { node_id: place.node_id, since, flows: group.flows, event })
    }

    /// Announces that the flows of a suspicion get nowhere.
    pub(crate) fn confirm(&self, now: Nanos, suspicion: Suspicion, outbox: &mut Outbox) {
        let quiet = self.settings.blackhole_after() + self.settings.window() + self.settings.window();
        let event = Event { last: suspicion.event.last.max(now), ..suspicion.event };
        outbox.begin(event, Course::until_quiet(quiet));
    }

    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        [self.closing.next(), self.watches.next()].into_iter().flatten().min()
    }

    /// Drop reports that were counted in no group, for want of room.
    pub(crate) fn ungrouped(&self) -> u64 {
        self.ungrouped
    }

    fn class(&self, place: Place, group: &Group) -> DropClass {
        match self.reasons.of(place.reason).consequence {
            Consequence::Denied => DropClass::Policy,
            Consequence::QueueFull if group.is_congested => DropClass::CongestionLoss,
            _ => DropClass::Other,
        }
    }

    fn event(&self, place: Place, group: &Group, class: DropClass) -> Event {
        let reason = self.reasons.of(place.reason);
        let detail = Drop {
            node_id: place.node_id,
            ingress_interface: place.ingress,
            egress_interface: place.egress,
            queue_id: place.queue_id,
            reason: place.reason,
            reason_name: reason.name.clone(),
            check: reason.check.clone(),
            class,
            reports: group.reports,
            packets: group.packets,
            flow_count: group.flows.len() as u64,
            flows: group.flows.iter().map(|victim| victim.flow).collect(),
        };
        let mut evidence = vec![group.first];
        if group.last != group.first {
            evidence.push(group.last);
        }
        Event {
            detail: EventDetail::Drop(detail),
            severity: if class == DropClass::Policy { Severity::Info } else { Severity::Warning },
            key: place.key(),
            first: group.first.received_at,
            last: group.last.received_at,
            count: group.reports,
            confidence: match class {
                DropClass::Policy => Confidence::Certain,
                DropClass::Blackhole | DropClass::CongestionLoss => Confidence::Probable,
                DropClass::Other => Confidence::Possible,
            },
            evidence,
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }
}

impl Group {
    fn take(&mut self, dropped: &Dropped) {
        self.last = dropped.report;
        self.reports += 1;
        self.packets += dropped.packets;
        self.is_congested |= dropped.is_congested;
        let Some(flow) = dropped.flow else { return };
        let is_known = self.flows.iter().any(|victim| victim.flow == flow);
        if !is_known && self.flows.len() < MOST_FLOWS {
            self.flows.push(Victim { flow, ttl: dropped.ttl });
        }
    }
}

impl Place {
    fn key(&self) -> String {
        let text = |id: Option<u32>| id.map_or("?".to_owned(), |id| id.to_string());
        let interface = |id: Option<u16>| text(id.map(u32::from));
        format!(
            "node {} reason {} ingress {} egress {} queue {}",
            self.node_id,
            text(self.reason.map(u32::from)),
            interface(self.ingress),
            interface(self.egress),
            text(self.queue_id.map(u32::from))
        )
    }
}

/// Most flows of a group that are told apart.
const MOST_FLOWS: usize = 32;
