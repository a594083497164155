//! The wait for a sign that packets of suspected flows get past a node.

use std::collections::VecDeque;

use hashbrown::HashMap;
use inband_model::Nanos;

use crate::deadlines::Deadlines;

use super::group::Place;
use super::room::Room;
use super::suspects::Suspects;

/// The suspected flows of each place, in batches that are judged when their time has come.
#[derive(Debug)]
pub(super) struct Watch {
    after: Nanos,
    max_places: usize,
    places: HashMap<Place, VecDeque<Batch>>,
    due: Deadlines<Place>,
}

/// Suspected flows of a place that are judged together.
#[derive(Debug)]
pub(super) struct Batch {
    /// When the first of their drops was reported.
    pub(super) since: Nanos,
    pub(super) suspects: Suspects,
}

impl Watch {
    /// Judges flows `after` their drops, of at most `max_places` places.
    pub(super) fn new(after: Nanos, max_places: usize) -> Self {
        Self { after, max_places, places: HashMap::new(), due: Deadlines::new() }
    }

    /// Adds suspects of a place whose first drop was reported at `batch.since`.
    pub(super) fn add(&mut self, place: Place, batch: Batch, room: &mut Room) {
        if self.places.len() >= self.max_places && !self.places.contains_key(&place) {
            batch.suspects.release(room);
            return;
        }
        let batches = self.places.entry(place).or_default();
        // Windows may be short, so that their number would have no bound.
        let span = Nanos(self.after.0 / MAX_BATCHES);
        if let Some(latest) = batches.back_mut()
            && batch.since.since(latest.since) < span
        {
            return latest.suspects.merge(batch.suspects, room);
        }
        self.due.set(batch.since + self.after, place);
        batches.push_back(batch);
    }

    /// The next batch that is due.
    pub(super) fn pop_due(&mut self, now: Nanos) -> Option<(Place, Batch)> {
        let place = self.due.pop_due(now)?;
        let batches = self.places.get_mut(&place)?;
        let batch = batches.pop_front()?;
        if batches.is_empty() {
            self.places.remove(&place);
        }
        Some((place, batch))
    }

    /// When the next batch is due.
    pub(super) fn next_timeout(&self) -> Option<Nanos> {
        self.due.next()
    }
}

/// Maximum number of batches of a place that begin within the time after which flows are judged.
const MAX_BATCHES: u64 = 4;
