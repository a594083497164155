//! The depth of a queue.

use inband_model::Nanos;
use inband_model::api::QueueView;

use super::gauge::Gauge;
use super::place::Place;
use super::sample::Sample;

/// One queue: its depth, and whether it is congested.
#[derive(Debug)]
pub(super) struct Queue {
    place: Place,
    depth: Option<Gauge>,
    pub(super) is_congested: bool,
}

impl Queue {
    pub(super) fn new(place: Place) -> Self {
        Self { place, depth: None, is_congested: false }
    }

    /// Records a report.
    #[inline]
    pub(super) fn record(&mut self, sample: &Sample<'_>) {
        if let Some(queue) = sample.reading.queue() {
            self.depth.get_or_insert(Gauge::new(sample.now())).record(sample.now(), queue.occupancy);
        }
    }

    /// The queue as users see it; `None` when no report contained an occupancy.
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
            congested: self.is_congested,
        })
    }
}
