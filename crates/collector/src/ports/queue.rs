//! How deep is a queue, and is it congested?

use inband_model::{Nanos, NodeId};

use crate::book::Course;
use crate::outbox::Outbox;
use crate::views::QueueView;

use super::Sample;
use super::episode::{Episode, Place};
use super::gauge::Gauge;
use super::settings::CongestionSettings;

/// One queue: its depth, and its episode of congestion if it is in one.
#[derive(Debug)]
pub(super) struct Queue {
    place: Place,
    depth: Option<Gauge>,
    episode: Option<Episode>,
    /// Whether somebody will look after the episode in time.
    is_watched: bool,
}

impl Queue {
    pub(super) fn new(node_id: NodeId, egress_interface: Option<u16>, queue_id: Option<u8>) -> Queue {
        Queue {
            place: Place { node_id, egress_interface, queue_id },
            depth: None,
            episode: None,
            is_watched: false,
        }
    }

    /// Takes in a report; returns a time to look after the queue when an episode begins.
    #[inline]
    pub(super) fn record(
        &mut self,
        settings: &CongestionSettings,
        sample: &Sample<'_>,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        if let Some(queue) = sample.reading.queue {
            self.depth.get_or_insert(Gauge::new(sample.now)).record(sample.now, queue.occupancy);
        }
        if let Some(episode) = &mut self.episode {
            if episode.goes_on(settings, sample) {
                return None;
            }
            outbox.end(episode.end(self.place, sample.now));
            self.episode = None;
            return None;
        }
        let episode = Episode::begin(settings, sample)?;
        outbox.begin(episode.announce(self.place), Course::UNTIL_ENDED);
        let due = episode.quiet_at(settings);
        self.episode = Some(episode);
        (!std::mem::replace(&mut self.is_watched, true)).then_some(due)
    }

    /// Ends an episode that has been silent long enough; returns when to look again.
    pub(super) fn handle_timeout(
        &mut self,
        settings: &CongestionSettings,
        now: Nanos,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        self.is_watched = false;
        let episode = self.episode.as_ref()?;
        let due = episode.quiet_at(settings);
        if due > now {
            self.is_watched = true;
            return Some(due);
        }
        outbox.end(episode.end(self.place, episode.last_at()));
        self.episode = None;
        None
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
            congested: self.episode.is_some(),
        })
    }
}
