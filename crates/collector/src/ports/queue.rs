//! How deep is a queue, and is it congested?

use inband_model::{Nanos, NodeId, NodeUnits};

use crate::book::Course;
use crate::outbox::Outbox;
use crate::views::QueueView;

use super::burst::Bursts;
use super::episode::{Episode, Recurrence};
use super::gauge::Gauge;
use super::jam::Jam;
use super::place::Place;
use super::port::Port;
use super::sample::Sample;
use super::settings::PortEventSettings;

/// One queue: its depth, and its episode of congestion if it is in one.
#[derive(Debug)]
pub(super) struct Queue {
    place: Place,
    depth: Option<Gauge>,
    episode: Option<Episode>,
    recurrence: Recurrence,
    bursts: Bursts,
    /// The packets of the episode; `None` where too many queues are congested.
    jam: Option<Jam>,
    /// Whether somebody will look after the episode in time.
    is_watched: bool,
}

/// Memory for the packets of congested queues, at most for a stated number of queues.
#[derive(Debug, Default)]
pub(super) struct Jams {
    spare: Vec<Jam>,
    used: usize,
}

impl Jams {
    fn take(&mut self, most: usize) -> Option<Jam> {
        if self.used >= most {
            return None;
        }
        self.used += 1;
        Some(self.spare.pop().unwrap_or_default())
    }

    fn give_back(&mut self, mut jam: Jam) {
        self.used -= 1;
        if self.spare.len() < MOST_SPARE {
            jam.clear();
            self.spare.push(jam);
        }
    }
}

impl Queue {
    pub(super) fn new(
        node_id: NodeId,
        egress_interface: Option<u16>,
        queue_id: Option<u8>,
        units: NodeUnits,
    ) -> Queue {
        Queue {
            place: Place { node_id, egress_interface, queue_id, units },
            depth: None,
            episode: None,
            recurrence: Recurrence::default(),
            bursts: Bursts::default(),
            jam: None,
            is_watched: false,
        }
    }

    /// Takes in a report; returns a time to look after the queue when an episode begins.
    #[inline]
    pub(super) fn record(
        &mut self,
        settings: &PortEventSettings,
        sample: &Sample<'_>,
        port: &Port,
        jams: &mut Jams,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        if let Some(queue) = sample.reading.queue() {
            self.depth.get_or_insert(Gauge::new(sample.now)).record(sample.now, queue.occupancy);
        }
        let congestion = &settings.queue_congestion;
        if let Some(episode) = &mut self.episode {
            if episode.goes_on(congestion, self.place.units, sample) {
                self.take(settings, sample, port, outbox);
            } else {
                self.calm_down(settings, sample.now, port.mean_utilization(sample.now), jams, outbox);
            }
            return None;
        }
        let episode = Episode::begin(congestion, self.place.units, sample, &mut self.recurrence)?;
        outbox.begin(episode.announce(self.place), Course::UNTIL_ENDED);
        let due = episode.due(congestion);
        self.episode = Some(episode);
        self.jam = jams.take(settings.culprits.max_queues);
        self.take(settings, sample, port, outbox);
        (!std::mem::replace(&mut self.is_watched, true)).then_some(due)
    }

    /// Ends an episode that has been silent long enough; returns when to look again.
    pub(super) fn handle_timeout(
        &mut self,
        settings: &PortEventSettings,
        now: Nanos,
        jams: &mut Jams,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        self.is_watched = false;
        let congestion = &settings.queue_congestion;
        let episode = self.episode.as_ref()?;
        let utilization = episode.utilization();
        if let Some(since) = episode.calm_since() {
            if episode.due(congestion) <= now {
                self.finish(settings, since, utilization, jams, outbox);
                self.recurrence.clear();
                return None;
            }
        } else if episode.due(congestion) <= now {
            let last_at = episode.last_at();
            self.calm_down(settings, last_at, utilization, jams, outbox);
        }
        let due = self.episode.as_ref()?.due(congestion);
        self.is_watched = true;
        Some(due)
    }

    /// Whether the queue is congested.
    pub(super) fn is_congested(&self) -> bool {
        self.episode.as_ref().is_some_and(|episode| episode.calm_since().is_none())
    }

    /// The queue as users see it; `None` when no report gave an occupancy.
    pub(super) fn view(&self, now: Nanos) -> Option<QueueView> {
        let depth = self.depth?;
        Some(QueueView {
            node_id: self.place.node_id,
            egress_interface: self.place.egress_interface,
            queue_id: self.place.queue_id?,
            last: depth.last,
            recent: depth.recent(now),
            max: depth.max,
            last_at: depth.last_at,
            congested: self.is_congested(),
        })
    }

    /// Takes a report into what is known of the episode.
    fn take(&mut self, settings: &PortEventSettings, sample: &Sample<'_>, port: &Port, outbox: &mut Outbox) {
        let utilization = port.mean_utilization(sample.now);
        if let Some(episode) = &mut self.episode {
            episode.note_utilization(utilization);
        }
        if Episode::is_congested(&settings.queue_congestion, self.place.units, sample) {
            self.bursts.record(&settings.microburst, self.place, sample, utilization, outbox);
        }
        if let Some(jam) = &mut self.jam {
            jam.record(sample, Nanos(settings.queue_congestion.trigger_ns));
        }
    }

    /// The queue is calm: ends the burst, and the episode unless there have been too many of them.
    fn calm_down(
        &mut self,
        settings: &PortEventSettings,
        since: Nanos,
        utilization: Option<u32>,
        jams: &mut Jams,
        outbox: &mut Outbox,
    ) {
        self.bursts.close(&settings.microburst, self.place, utilization, outbox);
        if self.episode.as_mut().is_some_and(|episode| episode.calm_down(since)) {
            self.finish(settings, since, utilization, jams, outbox);
        }
    }

    /// Ends the episode, and says what follows from it.
    fn finish(
        &mut self,
        settings: &PortEventSettings,
        last_at: Nanos,
        utilization: Option<u32>,
        jams: &mut Jams,
        outbox: &mut Outbox,
    ) {
        let Some(episode) = self.episode.take() else { return };
        self.bursts.close(&settings.microburst, self.place, utilization, outbox);
        if let Some(jam) = self.jam.take() {
            if let Some(event) = jam.culprits(&settings.culprits, self.place) {
                outbox.announce(event);
            }
            jams.give_back(jam);
        }
        outbox.end(episode.end(self.place, last_at));
    }
}

/// Most of that memory that is kept for later.
const MOST_SPARE: usize = 16;
