//! Egress interfaces that are nearly full, and the flows that fill them.

mod interface;
mod settings;

use hashbrown::HashMap;
use inband_model::{
    Confidence, EgressUtilization, Event, EventDetail, EventKind, Nanos, NodeId, Severity, Units,
};

use crate::book::Course;
use crate::outbox::Outbox;
use crate::ports::{Ports, Sample};
use crate::purge::Purge;

pub use self::settings::EgressUtilizationSettings;

use self::interface::{Interface, Level};
use self::settings::Levels;
use super::detector::{Common, Detector};

pub(crate) type Settings = EgressUtilizationSettings;

/// The busy interfaces, up to a configured maximum.
#[derive(Debug)]
pub(crate) struct State {
    settings: EgressUtilizationSettings,
    units: Units,
    interfaces: HashMap<Place, Interface>,
    purge: Purge,
    unfollowed: u64,
}

/// An egress interface; `None` where the node does not report it.
type Place = (NodeId, Option<u16>);

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        Self {
            settings: settings.clone(),
            units: common.units.clone(),
            interfaces: HashMap::new(),
            purge: Purge::default(),
            unfollowed: 0,
        }
    }

    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, _: &Ports, outbox: &mut Outbox) {
        if let Some(utilization) = hop.reading.metadata.egress_utilization {
            self.handle_utilization(hop, utilization, outbox);
        }
    }

    fn unfollowed_ports(&self) -> u64 {
        self.unfollowed
    }
}

impl State {
    fn handle_utilization(&mut self, hop: &Sample<'_>, utilization: u32, outbox: &mut Outbox) {
        let place = (hop.reading.hop.node_id, hop.reading.hop.egress_interface);
        if place.0 == NodeId::NOT_AVAILABLE {
            return;
        }
        let levels = self.settings.levels(self.units.of(place.0));
        if !self.interfaces.contains_key(&place) {
            // An interface that is far from full is not tracked.
            if !levels.is_busy(utilization) || !self.has_room(hop.now()) {
                return;
            }
            self.interfaces.insert(place, Interface::new(hop.now()));
        }
        let Some(interface) = self.interfaces.get_mut(&place) else { return };
        let second = interface.take(&self.settings, hop, utilization);
        let Some(second) = second else { return };
        let course = Course::renewed_within(self.settings.quiet());
        match interface.judge(&self.settings, levels, second) {
            Level::Over => outbox.begin(event(place, interface, second.mean, hop, levels), course),
            Level::Between if outbox.is_active(EventKind::EgressUtilization, &key(place)) => {
                outbox.begin(event(place, interface, second.mean, hop, levels), course);
            }
            Level::Between => {}
            Level::Below => {
                outbox.calm(EventKind::EgressUtilization, &key(place), hop.now());
                self.interfaces.remove(&place);
            }
        }
    }

    /// Whether there is room for another interface, if need be in place of those long without a report.
    fn has_room(&mut self, now: Nanos) -> bool {
        if self.interfaces.len() >= self.settings.max_interfaces && self.purge.begins(now) {
            let quiet = self.settings.quiet();
            self.interfaces.retain(|_, interface| now.since(interface.seen_at()) < quiet);
        }
        let has_room = self.interfaces.len() < self.settings.max_interfaces;
        self.unfollowed += u64::from(!has_room);
        has_room
    }
}

fn event(place: Place, interface: &Interface, mean: u32, hop: &Sample<'_>, levels: Levels) -> Event {
    let detail = EventDetail::EgressUtilization(EgressUtilization {
        node_id: place.0,
        egress_interface: place.1,
        utilization: mean,
        utilization_permille: levels.permille(mean),
        flows: interface.flows(),
        reported_bytes: interface.reported_bytes(),
    });
    let event = Event::of_report(detail, Severity::Warning, key(place), Confidence::Certain, hop.report());
    Event { first: interface.over_since().unwrap_or(event.first), count: interface.reports(), ..event }
}

fn key((node_id, egress_interface): Place) -> String {
    let egress = egress_interface.map_or("?".to_owned(), |id| id.to_string());
    format!("node {node_id} egress {egress}")
}
