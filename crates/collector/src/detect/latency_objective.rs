//! Interfaces where too large a share of the packets exceeds a latency bound.

use inband_model::{Confidence, Event, EventDetail, LatencyObjective, Nanos};
use serde::{Deserialize, Serialize};

use crate::book::{Course, Signs};
use crate::outbox::Outbox;
use crate::ports::{Ports, Released, Sample};

use super::detector::{Common, Detector};
use super::slots::Slots;

/// The latency objective of a node: `[events.latency_objective]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LatencyObjectiveSettings {
    /// Hop latency that counts as over, nanoseconds. Default 5,000,000.
    pub bound_ns: u64,
    /// Share of the reports that may be over, thousandths. Default 50: 5 %.
    pub share_permille: u64,
    /// Seconds over which the share is taken, at least 1. Default 60.
    pub window_s: u64,
    /// Reports in the window below which the share is not judged. Default 20.
    pub least_reports: u64,
}

impl Default for LatencyObjectiveSettings {
    fn default() -> LatencyObjectiveSettings {
        LatencyObjectiveSettings { bound_ns: 5_000_000, share_permille: 50, window_s: 60, least_reports: 20 }
    }
}

impl LatencyObjectiveSettings {
    fn window(&self) -> Nanos {
        Nanos::from_secs(self.window_s.max(1))
    }

    /// The course of the event of an interface.
    fn course(&self) -> Course {
        Course::renewed_within(self.window())
    }
}

pub(crate) type Settings = LatencyObjectiveSettings;

/// The latest window of each interface.
#[derive(Debug)]
pub(crate) struct State {
    settings: LatencyObjectiveSettings,
    objectives: Slots<Objective>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), objectives: Slots::default() }
    }

    fn handle_release(&mut self, released: &Released) {
        self.objectives.clear(released.port.place());
    }

    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, _: &Ports, outbox: &mut Outbox) {
        let Some(latency) = hop.reading.latency else { return };
        let objective = self.objectives.at(hop.port.place(), Objective::default);
        if let Some(tally) = objective.record(&self.settings, hop.now(), latency) {
            outbox.begin(event(&self.settings, hop, tally), self.settings.course());
        }
    }
}

fn event(settings: &LatencyObjectiveSettings, hop: &Sample<'_>, tally: Tally) -> Event {
    let (node_id, egress_interface) = hop.interface();
    let detail = LatencyObjective {
        node_id,
        egress_interface,
        bound: Nanos(settings.bound_ns),
        window: Nanos::from_secs(settings.window_s),
        reports: tally.reports,
        over: tally.over,
    };
    let event = hop.warning(EventDetail::LatencyObjective(detail));
    Event { count: tally.over, confidence: Confidence::Certain, ..event }
}

/// The reports of a port in the latest window of time, kept in slices of it.
#[derive(Debug, Default)]
struct Objective {
    slices: [Tally; SLICES],
    current: usize,
    current_began_at: Nanos,
    signs: Signs,
}

/// Reports, and those of them with a latency over the bound.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    reports: u64,
    over: u64,
}

impl Objective {
    /// Records a latency; returns the tally of the window when too many are over, at a limited rate.
    #[inline]
    fn record(&mut self, settings: &LatencyObjectiveSettings, now: Nanos, latency: Nanos) -> Option<Tally> {
        let slice = (settings.window().0 / SLICES as u64).max(1);
        let elapsed = now.since(self.current_began_at).0;
        if elapsed >= slice {
            self.rotate(elapsed / slice, slice);
        }
        let tally = &mut self.slices[self.current];
        tally.reports += 1;
        if latency.0 <= settings.bound_ns {
            return None;
        }
        tally.over += 1;
        self.judge(settings, now)
    }

    /// Moves on by whole slices of this many nanoseconds, so that all slices together are one window.
    fn rotate(&mut self, passed: u64, slice: u64) {
        for _ in 0..passed.min(SLICES as u64) {
            self.current = (self.current + 1) % SLICES;
            self.slices[self.current] = Tally::default();
        }
        self.current_began_at = self.current_began_at + Nanos(passed * slice);
    }

    fn judge(&mut self, settings: &LatencyObjectiveSettings, now: Nanos) -> Option<Tally> {
        if !self.signs.are_due(now, settings.course()) {
            return None;
        }
        let sum = self.slices.iter().fold(Tally::default(), |sum, tally| Tally {
            reports: sum.reports + tally.reports,
            over: sum.over + tally.over,
        });
        let is_over =
            u128::from(sum.over) * 1_000 > u128::from(sum.reports) * u128::from(settings.share_permille);
        if sum.reports < settings.least_reports || !is_over {
            return None;
        }
        self.signs.announce(now);
        Some(sum)
    }
}

const SLICES: usize = 6;
