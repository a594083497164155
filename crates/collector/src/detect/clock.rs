//! Link latencies and clock errors from timestamps.

mod link;
mod settings;

use inband_model::api::LatencySummary;
use inband_model::{ClockDrift, Confidence, Event, EventDetail, Nanos, NegativeLinkLatency, Severity};

use crate::network::Network;
use crate::outbox::Outbox;
use crate::paths::{LinkIndex, Links, link_key};
use crate::purge::Purge;

pub use self::settings::ClockSettings;

use self::link::{Disagreement, LinkClock};
use super::detector::{Common, Crossing, Detector};
use super::slots::Slots;

pub(crate) type Settings = ClockSettings;

/// The times that packets take over links, by the clocks at their ends, for a bounded number of links.
#[derive(Debug)]
pub(crate) struct State {
    settings: ClockSettings,
    /// Whether the clocks are configured as synchronous.
    is_synchronous: bool,
    clocks: Slots<Box<LinkClock>>,
    /// Links whose latency is followed.
    timed: usize,
    purge: Purge,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        let (settings, is_synchronous) = (settings.clone(), common.synchronous_clocks);
        Self { settings, is_synchronous, clocks: Slots::default(), timed: 0, purge: Purge::default() }
    }

    fn handle_link_release(&mut self, link: LinkIndex) {
        if self.clocks.get(link.0).is_some() {
            self.clocks.clear(link.0);
            self.timed -= 1;
        }
    }

    fn handle_crossing(&mut self, crossing: &Crossing<'_>, network: &Network, outbox: &mut Outbox) {
        let Some((found, count)) = self.record(crossing) else { return };
        if !self.is_synchronous {
            return;
        }
        let link = network.links.ends(crossing.link);
        let key = link_key(&link);
        let (detail, confidence) = match found {
            Disagreement::Negative { lowest_ns } => {
                let detail = NegativeLinkLatency { link, lowest_ns };
                (EventDetail::NegativeLinkLatency(detail), Confidence::Certain)
            }
            Disagreement::Drift { ns_per_second } => {
                (EventDetail::ClockDrift(ClockDrift { link, ns_per_second }), Confidence::Probable)
            }
        };
        let report = crossing.sighting.report;
        let event = Event::of_report(detail, Severity::Warning, key, confidence, report);
        let Some(clock) = self.clocks.get_mut(crossing.link.0) else { return };
        outbox.begin_counting(Event { count, ..event }, self.settings.course(), clock.signs(found));
    }
}

impl State {
    /// The latency of a link; `None` where no report shows it.
    pub(crate) fn latency(&self, link: LinkIndex) -> Option<LatencySummary> {
        self.clocks.get(link.0)?.summary()
    }

    /// The uncertainty of the latency of a link: half of the round trip, as no time can be below zero. `None`
    /// where packets take one direction only and nothing is configured.
    pub(crate) fn uncertainty(&self, link: LinkIndex, links: &Links) -> Option<Nanos> {
        let there = self.clocks.get(link.0)?;
        let back = links.back(link).and_then(|back| self.clocks.get(back.0));
        let both = back.and_then(|back| {
            let round = there.lowest_ns().checked_add(back.lowest_ns())?;
            Some(Nanos(u64::try_from(round).ok()?.div_ceil(2)))
        });
        let set = self.settings.uncertainty_ns.map(Nanos);
        both.into_iter().chain(set).min()
    }

    /// Whether another link can be followed, if need be in place of silent ones.
    fn has_room(&mut self, now: Nanos) -> bool {
        if self.timed >= self.settings.max_links && self.purge.begins(now) {
            let is_silent = |clock: &LinkClock| now.since(clock.heard_at()) >= FORGET_AFTER;
            let silent = self.clocks.iter().filter(|(_, clock)| is_silent(clock)).map(|(place, _)| place);
            for place in silent.collect::<Vec<_>>() {
                self.clocks.clear(place);
                self.timed -= 1;
            }
        }
        self.timed < self.settings.max_links
    }

    fn record(&mut self, crossing: &Crossing<'_>) -> Option<(Disagreement, u64)> {
        let place = crossing.link.0;
        if self.clocks.get(place).is_none() {
            if !self.has_room(crossing.sighting.now) {
                return None;
            }
            self.timed += 1;
        }
        let clock = self.clocks.at(place, || Box::new(LinkClock::new()));
        clock.record(&self.settings, crossing.sighting.now, crossing.sent_at, crossing.came_at)
    }
}

/// How long a link must be without packets to make room for another.
const FORGET_AFTER: Nanos = Nanos::from_secs(300);
