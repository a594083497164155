//! Packets that nodes drop: where, and what that means.

mod dropped;
mod group;
mod past;
mod reasons;
mod room;
mod settings;
mod suspects;
mod tally;
mod totals;
mod watch;

use hashbrown::HashMap;
use inband_model::{
    Confidence, Drop, DropClass, Event, EventDetail, Nanos, Phase, ReportReference, Severity,
};

use crate::book::Course;
use crate::deadlines::Deadlines;
use crate::network::Network;
use crate::outbox::Outbox;
use crate::report::{Between, HopReading};
use crate::share::Share;
use crate::sighting::Sighting;

pub use self::settings::{DropReasonSettings, DropSettings};

use self::dropped::Dropped;
use self::group::{Group, Place, Rooms};
use self::past::{Fate, fate};
use self::reasons::{Consequence, Reasons};
use self::suspects::Suspect;
use self::tally::Tally;
use self::totals::{Subject, Totals};
use self::watch::{Batch, Watch};
use super::detector::{Common, Detector};

pub(crate) type Settings = DropSettings;

/// Drop reports, grouped by where and why packets were dropped, for a bounded number of groups.
#[derive(Debug)]
pub(crate) struct State {
    settings: DropSettings,
    reasons: Reasons,
    groups: HashMap<Place, Group>,
    closing: Deadlines<Place>,
    /// Flows that may be blackholed, until that is decided.
    watch: Watch,
    totals: Totals,
    rooms: Rooms,
    ungrouped: u64,
    share: Share,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        Self {
            reasons: Reasons::new(settings),
            groups: HashMap::new(),
            closing: Deadlines::new(),
            watch: Watch::new(settings.blackhole_after(), settings.max_groups),
            totals: Totals::new(settings.max_groups.saturating_mul(2)),
            rooms: Rooms::new(),
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
            let Group { first, last, tally, suspects } = group;
            let event = self.event(now, Subject::Drops(place), (first, last), tally, outbox);
            outbox.begin(event, Course::renewed_within(self.settings.quiet()));
            // Of packets without a known flow, none can be seen to get past the node.
            if !suspects.is_empty() {
                let batch = Batch { since: first.received_at, suspects };
                self.watch.add(place, batch, &mut self.rooms.suspects);
            }
        }
        while let Some((place, batch)) = self.watch.pop_due(now) {
            self.judge(now, place, batch, network, outbox);
        }
        self.totals.handle_timeout(now, outbox, &mut self.rooms.ids);
    }

    fn next_timeout(&self) -> Option<Nanos> {
        let timeouts = [self.closing.next(), self.watch.next_timeout(), self.totals.next_timeout()];
        timeouts.into_iter().flatten().min()
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
        let is_miss = self.reasons.of(place.reason).consequence == Consequence::ForwardingMiss;
        if let Some(group) = self.groups.get_mut(&place) {
            return group.take(dropped, is_miss, &mut self.rooms);
        }
        if self.groups.len() >= self.settings.max_groups {
            self.ungrouped += 1;
            return;
        }
        let mut group = Group::new(dropped.report);
        group.take(dropped, is_miss, &mut self.rooms);
        self.groups.insert(place, group);
        self.closing.set(dropped.now + self.settings.window(), place);
    }

    /// Announces those suspected flows of a place of which no packet got past the node.
    fn judge(&mut self, now: Nanos, place: Place, batch: Batch, network: &Network, outbox: &mut Outbox) {
        let Batch { since, suspects } = batch;
        let mut gone = suspects.release(&mut self.rooms.suspects);
        gone.retain(|suspect: &Suspect| {
            // The state of flows followed elsewhere is unknown.
            self.share.has_flow(&suspect.flow) && fate(network, place.node_id, since, suspect) == Fate::Gone
        });
        let first = gone.first().map(|suspect| suspect.first);
        let last = gone.iter().map(|suspect| suspect.last).max_by_key(|report| report.received_at);
        let Some(evidence) = first.zip(last) else { return };
        let mut tally = Tally::default();
        gone.iter().for_each(|suspect| suspect.add_to(&mut tally, &mut self.rooms.ids));
        let event = self.event(now, Subject::Blackhole(place), evidence, tally, outbox);
        // What has not been reported is missing up to the present.
        let event = Event { last: event.last.max(now), ..event };
        outbox.begin(event, Course::renewed_within(self.settings.blackhole_quiet()));
    }

    fn class(&self, subject: Subject, is_congested: bool) -> DropClass {
        let Subject::Drops(place) = subject else { return DropClass::Blackhole };
        match self.reasons.of(place.reason).consequence {
            Consequence::Denied => DropClass::Policy,
            Consequence::QueueFull if is_congested => DropClass::CongestionLoss,
            _ => DropClass::Other,
        }
    }

    /// The event of a subject with its latest drops, and those since it began.
    fn event(
        &mut self,
        now: Nanos,
        subject: Subject,
        (first, last): (ReportReference, ReportReference),
        tally: Tally,
        outbox: &Outbox,
    ) -> Event {
        let (Subject::Drops(place) | Subject::Blackhole(place)) = subject;
        let all = self.totals.add(now, subject, tally, (outbox, &mut self.rooms.ids));
        let class = self.class(subject, all.is_congested);
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
            reports: all.reports,
            packets: all.packets,
            flow_count: all.flow_count,
            flows: all.flows,
        };
        let mut evidence = vec![first];
        if last != first {
            evidence.push(last);
        }
        Event {
            detail: EventDetail::Drop(detail),
            severity: match class {
                DropClass::Policy => Severity::Info,
                DropClass::Blackhole => Severity::Critical,
                DropClass::CongestionLoss | DropClass::Other => Severity::Warning,
            },
            key: subject.key(),
            first: first.received_at,
            last: last.received_at,
            count: all.reports,
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
