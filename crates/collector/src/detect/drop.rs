//! Packets that nodes drop: where, and what that means.

mod group;
mod past;
mod reasons;
mod settings;

use hashbrown::HashMap;
use inband_model::{
    Confidence, Drop, DropClass, Event, EventDetail, Nanos, NodeId, Phase, Severity,
};

use crate::book::Course;
use crate::deadlines::Deadlines;
use crate::network::Network;
use crate::outbox::Outbox;
use crate::report::{Between, HopReading};
use crate::share::Share;
use crate::sighting::Sighting;

pub use self::settings::{DropReasonSettings, DropSettings};

use self::group::{Dropped, Group, Place, Victim};
use self::past::gets_past;
use self::reasons::{Consequence, Reasons};
use super::detector::{Common, Detector};

pub(crate) type Settings = DropSettings;

/// Drop reports, grouped by where and why packets were dropped, for a bounded number of groups.
#[derive(Debug)]
pub(crate) struct State {
    settings: DropSettings,
    reasons: Reasons,
    groups: HashMap<Place, Group>,
    closing: Deadlines<Place>,
    /// Groups whose flows may be blackholed, and when that is decided.
    watches: Deadlines<Place>,
    watched: HashMap<Place, Group>,
    ungrouped: u64,
    share: Share,
}

/// A suspected blackhole: it is one if none of these flows gets past the node.
#[derive(Debug)]
struct Suspicion {
    node_id: NodeId,
    since: Nanos,
    flows: Vec<Victim>,
    event: Event,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        Self {
            reasons: Reasons::new(settings),
            groups: HashMap::new(),
            closing: Deadlines::new(),
            watches: Deadlines::new(),
            watched: HashMap::new(),
            ungrouped: 0,
            share: common.share,
            settings: settings.clone(),
        }
    }

    #[inline]
    fn handle_report(&mut self, sighting: &Sighting<'_>, network: &Network, _: &mut Outbox) {
        if sighting.reading.dropped && sighting.has_reporter() {
            self.handle_drop(sighting, network);
        }
    }

    /// Announces the groups whose window is over, and the blackholed flows.
    fn handle_timeout(&mut self, now: Nanos, network: &Network, outbox: &mut Outbox) {
        while let Some(place) = self.closing.pop_due(now) {
            let Some(group) = self.groups.remove(&place) else { continue };
            let class = self.class(place, &group);
            let quiet = self.settings.window() + self.settings.window();
            outbox.begin(self.event(place, &group, class), Course::until_quiet(quiet));
            let is_miss = self.reasons.of(place.reason).consequence == Consequence::ForwardingMiss;
            let has_room = self.watched.len() < self.settings.max_groups;
            // Of packets without a known flow, none can be seen to get past the node.
            let has_flows = !group.flows.is_empty();
            if is_miss && has_flows && has_room && !self.watched.contains_key(&place) {
                self.watches.set(group.first.received_at + self.settings.blackhole_after(), place);
                self.watched.insert(place, group);
            }
        }
        while let Some(suspicion) = self.next_suspicion(now) {
            let is_past = |victim: &Victim| {
                // The state of flows followed elsewhere is unknown.
                !self.share.has_flow(&victim.flow)
                    || gets_past(network, suspicion.node_id, suspicion.since, victim)
            };
            if !suspicion.flows.iter().any(is_past) {
                self.confirm(now, suspicion, outbox);
            }
        }
    }

    fn next_timeout(&self) -> Option<Nanos> {
        [self.closing.next(), self.watches.next()].into_iter().flatten().min()
    }
}

impl State {
    /// Whether a reason means that the TTL of the packet was used up.
    pub(crate) fn is_ttl_zero(&self, reason: Option<u8>) -> bool {
        self.reasons.of(reason).consequence == Consequence::TtlZero
    }

    /// Drop reports outside any group, for lack of room.
    pub(crate) fn ungrouped(&self) -> u64 {
        self.ungrouped
    }

    /// Handles the report of a packet that a node dropped.
    fn handle_drop(&mut self, sighting: &Sighting<'_>, network: &Network) {
        let (reading, node_id) = (sighting.reading, sighting.report.node_id);
        if let Some(missing) = reading.missing {
            // For other missing packets it is unknown where they were dropped.
            if let Some(Between { ingress, egress }) = missing.dropped {
                let place = Place { node_id, reason: None, ingress, egress, queue_id: None };
                self.record(place, missing.packets.into(), sighting, network);
            }
            return;
        }
        let own = sighting.hops.iter().rev().find(|reading| reading.hop.node_id == node_id);
        let egress = own.and_then(|reading| reading.hop.egress_interface);
        let queue_id =
            reading.drop.map(|drop| drop.queue_id).or(own.and_then(HopReading::queue).map(|queue| queue.id));
        let place = Place {
            node_id,
            reason: reading.drop.map(|drop| drop.reason),
            ingress: own.and_then(|reading| reading.hop.ingress_interface),
            egress,
            queue_id,
        };
        self.record(place, 1, sighting, network);
    }

    fn record(&mut self, place: Place, packets: u64, sighting: &Sighting<'_>, network: &Network) {
        let reading = sighting.reading;
        let is_congested = network.ports.is_congested(place.node_id, place.egress, place.queue_id);
        let dropped = Dropped {
            now: sighting.now,
            report: sighting.report,
            packets,
            flow: reading.flow,
            ttl: reading.ttl,
            is_congested: reading.congested_queue || is_congested,
        };
        self.take(place, &dropped);
    }

    fn take(&mut self, place: Place, dropped: &Dropped) {
        if let Some(group) = self.groups.get_mut(&place) {
            return group.take(dropped);
        }
        if self.groups.len() >= self.settings.max_groups {
            self.ungrouped += 1;
            return;
        }
        let mut group = Group::new(dropped.report);
        group.take(dropped);
        self.groups.insert(place, group);
        self.closing.set(dropped.now + self.settings.window(), place);
    }

    /// The next group whose flows are due to be checked for a blackhole.
    fn next_suspicion(&mut self, now: Nanos) -> Option<Suspicion> {
        let place = self.watches.pop_due(now)?;
        let group = self.watched.remove(&place)?;
        let mut event = self.event(place, &group, DropClass::Blackhole);
        event.key.push_str(" blackhole");
        event.severity = Severity::Critical;
        let since = group.first.received_at;
        Some(Suspicion { node_id: place.node_id, since, flows: group.flows, event })
    }

    /// Announces that the flows of a suspicion are blackholed.
    fn confirm(&self, now: Nanos, suspicion: Suspicion, outbox: &mut Outbox) {
        let quiet = self.settings.blackhole_after() + self.settings.window() + self.settings.window();
        let event = Event { last: suspicion.event.last.max(now), ..suspicion.event };
        outbox.begin(event, Course::until_quiet(quiet));
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
