//! Flows whose packets made others wait in a queue.

mod departures;
mod settings;

use hashbrown::HashMap;

use crate::outbox::Outbox;
use crate::ports::QueueIndex;

pub use self::settings::CulpritSettings;

use self::departures::Departures;
use super::congestion::{CongestionChange, CongestionStep};
use super::detector::{Common, Detector};

pub(crate) type Settings = CulpritSettings;

/// The packets of congested queues, for a bounded number of queues at the same time.
#[derive(Debug)]
pub(crate) struct State {
    settings: CulpritSettings,
    queues: HashMap<QueueIndex, Departures>,
    /// Memory of finished episodes, for reuse.
    spare: Vec<Departures>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), queues: HashMap::new(), spare: Vec::new() }
    }

    fn handle_congestion(&mut self, step: &CongestionStep, outbox: &mut Outbox) {
        match &step.change {
            CongestionChange::Departed(departure) => {
                if departure.is_first && self.queues.len() < self.settings.max_queues {
                    self.queues.insert(step.queue, self.spare.pop().unwrap_or_default());
                }
                if let Some(departures) = self.queues.get_mut(&step.queue) {
                    departures.record(departure);
                }
            }
            CongestionChange::Calm => {}
            CongestionChange::Over => {
                let Some(mut departures) = self.queues.remove(&step.queue) else { return };
                if let Some(event) = departures.culprits(&self.settings, step.place) {
                    outbox.announce(event);
                }
                if self.spare.len() < MAX_SPARE {
                    departures.clear();
                    self.spare.push(departures);
                }
            }
        }
    }
}

/// Maximum number of episodes whose memory is kept for reuse.
const MAX_SPARE: usize = 16;
