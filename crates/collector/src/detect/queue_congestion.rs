//! Congestion of queues.

mod episode;
mod recurrence;
mod settings;

use std::collections::VecDeque;

use inband_model::{EndReason, Event, EventKind, Nanos, NodeUnits, Units};

use crate::book::Course;
use crate::deadlines::Deadlines;
use crate::network::Network;
use crate::outbox::Outbox;
use crate::ports::{Place, Ports, QueueIndex, Released, Sample};

pub use self::settings::CongestionSettings;

use self::episode::Episode;
use self::recurrence::Recurrence;
use super::congestion::{CongestionChange, CongestionStep, Departure};
use super::detector::{Common, Detector};
use super::slots::Slots;

pub(crate) type Settings = CongestionSettings;

/// The queues with their episodes of congestion.
#[derive(Debug)]
pub(crate) struct State {
    settings: CongestionSettings,
    units: Units,
    queues: Slots<Queue>,
    /// When to check queues for calm, each at most once.
    calm: Deadlines<QueueIndex>,
    /// Steps that the detectors have not handled yet.
    steps: VecDeque<Next>,
}

/// A pending item.
#[derive(Debug)]
enum Next {
    /// The detectors handle a step.
    Step(CongestionStep),
    /// A begin is announced, or the episode so far, after the end of the one before.
    Begin(Box<Event>),
    /// An end is announced, after the steps of the episode.
    End(Box<Event>, EndReason),
}

/// A queue, and its episode while it is congested.
#[derive(Debug)]
struct Queue {
    index: QueueIndex,
    place: Place,
    units: NodeUnits,
    episode: Option<Episode>,
    recurrence: Recurrence,
    /// Whether a check of the episode is scheduled.
    is_watched: bool,
}

impl State {
    /// The thresholds of congestion.
    pub(crate) const fn settings(&self) -> &CongestionSettings {
        &self.settings
    }
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        Self {
            settings: settings.clone(),
            units: common.units.clone(),
            queues: Slots::default(),
            calm: Deadlines::new(),
            steps: VecDeque::new(),
        }
    }

    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, ports: &Ports, _: &mut Outbox) {
        let Some(index) = hop.queue else { return };
        let queue = self.queues.at(index.place(), || Queue::new(index, hop, &self.units));
        let is_congested = Episode::is_congested(&self.settings, queue.units, hop);
        if is_congested || queue.episode.is_some() {
            let utilization = ports[hop.port].mean_utilization(hop.now());
            let due = queue.record(&self.settings, hop, is_congested, utilization, &mut self.steps);
            if let Some(due) = due {
                self.calm.set(due, index);
            }
        }
    }

    #[inline]
    fn has_congestion(&self) -> bool {
        !self.steps.is_empty()
    }

    fn poll_congestion(&mut self, outbox: &mut Outbox) -> Option<CongestionStep> {
        loop {
            match self.steps.pop_front()? {
                Next::Step(step) => return Some(step),
                Next::Begin(event) => outbox.begin(*event, Course::COMPLETE_UNTIL_ENDED),
                // An event for which there was no room was announced once, and has no end.
                Next::End(event, reason) if outbox.is_active(EventKind::QueueCongestion, &event.key) => {
                    outbox.end(*event, reason);
                }
                Next::End(..) => {}
            }
        }
    }

    fn handle_release(&mut self, released: &Released) {
        released.queues.iter().for_each(|queue| self.queues.clear(queue.place()));
    }

    /// Ends the episodes of congestion that have been silent long enough.
    fn handle_timeout(&mut self, now: Nanos, _: &Network, _: &mut Outbox) {
        while let Some(index) = self.calm.pop_due(now) {
            let Some(queue) = self.queues.get_mut(index.place()) else { continue };
            if let Some(due) = queue.handle_timeout(&self.settings, now, &mut self.steps) {
                self.calm.set(due, index);
            }
        }
    }

    fn next_timeout(&self) -> Option<Nanos> {
        self.calm.next()
    }
}

impl Queue {
    fn new(index: QueueIndex, hop: &Sample<'_>, units: &Units) -> Self {
        let (node_id, egress_interface) = hop.interface();
        let queue_id = hop.reading.queue().map(|queue| queue.id);
        Self {
            index,
            place: Place { node_id, egress_interface, queue_id },
            units: units.of(node_id),
            episode: None,
            recurrence: Recurrence::default(),
            is_watched: false,
        }
    }

    /// Records a report that shows congestion or belongs to an episode; returns when to check the queue if an
    /// episode begins.
    fn record(
        &mut self,
        settings: &CongestionSettings,
        hop: &Sample<'_>,
        is_congested: bool,
        utilization: Option<u32>,
        steps: &mut VecDeque<Next>,
    ) -> Option<Nanos> {
        // The report of a capture may follow the end of an episode at once.
        self.expire(settings, hop.now(), steps);
        let is_first = self.episode.is_none();
        if is_first && !is_congested {
            return None;
        }
        let is_recurring = is_first && self.recurrence.note(settings, hop.now());
        let episode = self.episode.get_or_insert_with(|| Episode::begin(settings, hop, is_recurring));
        if !is_first && !episode.goes_on(settings, self.units, hop) {
            self.calm_down(settings, (hop.now(), EndReason::Over), utilization, steps);
            return None;
        }
        if episode.is_announcement_due() {
            steps.push_back(Next::Begin(Box::new(episode.announce(self.place))));
        }
        episode.note_utilization(utilization);
        let due = episode.due(settings);
        let (came_at, left_at) = hop.residence();
        let departure = Departure {
            report: hop.report(),
            flow: hop.flow().copied(),
            bytes: u64::from(hop.packet_bytes().max(1)),
            came_at,
            left_at,
            latency: hop.reading.latency,
            occupancy: hop.reading.queue().map(|queue| queue.occupancy),
            is_first,
            is_congested,
            is_queue_report: hop.congested_queue(),
            is_dropped: hop.is_dropped(),
            is_delayed: hop.reading.latency.is_some_and(|latency| latency > Nanos(settings.trigger_ns)),
        };
        steps.push_back(self.step(utilization, CongestionChange::Departed(departure), false));
        (is_first && !std::mem::replace(&mut self.is_watched, true)).then_some(due)
    }

    /// Ends an episode that has been silent long enough; returns when to check again.
    fn handle_timeout(
        &mut self,
        settings: &CongestionSettings,
        now: Nanos,
        steps: &mut VecDeque<Next>,
    ) -> Option<Nanos> {
        self.is_watched = false;
        self.expire(settings, now, steps);
        let due = self.episode.as_ref()?.due(settings);
        self.is_watched = true;
        Some(due)
    }

    /// Does what is due at a time: a silent queue is calm, and an episode that was calm long enough is over.
    fn expire(&mut self, settings: &CongestionSettings, now: Nanos, steps: &mut VecDeque<Next>) {
        while let Some(episode) = self.episode.as_ref().filter(|episode| episode.due(settings) <= now) {
            let utilization = episode.utilization();
            let (last_at, calm) = (episode.last_at(), episode.calm());
            if let Some((since, reason)) = calm {
                self.finish(settings, (since, reason), utilization, steps);
                self.recurrence.clear();
            } else {
                self.calm_down(settings, (last_at, EndReason::Quiet), utilization, steps);
            }
        }
    }

    /// The queue is calm, as a report or silence shows: ends the episode unless it is a recurring one.
    fn calm_down(
        &mut self,
        settings: &CongestionSettings,
        (since, reason): (Nanos, EndReason),
        utilization: Option<u32>,
        steps: &mut VecDeque<Next>,
    ) {
        if self.episode.as_mut().is_some_and(|episode| episode.calm_down(since, reason)) {
            self.finish(settings, (since, reason), utilization, steps);
        } else {
            steps.push_back(self.step(utilization, CongestionChange::Calm, is_silence(settings, reason)));
        }
    }

    /// Ends the episode.
    fn finish(
        &mut self,
        settings: &CongestionSettings,
        (last_at, reason): (Nanos, EndReason),
        utilization: Option<u32>,
        steps: &mut VecDeque<Next>,
    ) {
        let over = self.step(utilization, CongestionChange::Over, is_silence(settings, reason));
        let Some(episode) = self.episode.take() else { return };
        steps.push_back(over);
        steps.push_back(Next::End(Box::new(episode.end(self.place, last_at)), reason));
    }

    fn step(&self, utilization: Option<u32>, change: CongestionChange, is_silence: bool) -> Next {
        let Self { index: queue, place, units, .. } = *self;
        let is_truncated = self.episode.as_ref().is_some_and(Episode::is_cut_short);
        Next::Step(CongestionStep { queue, place, units, utilization, is_truncated, is_silence, change })
    }
}

/// Whether silence ended an episode. Without a quiet time each report ends its own.
fn is_silence(settings: &CongestionSettings, reason: EndReason) -> bool {
    reason == EndReason::Quiet && settings.quiet() > Nanos::ZERO
}

#[cfg(test)]
mod tests;
