//! Microbursts, and storms of them.

mod bursts;
mod settings;

use crate::outbox::Outbox;
use crate::ports::Released;

pub use self::settings::MicroburstSettings;

use self::bursts::Bursts;
use super::congestion::{CongestionChange, CongestionStep};
use super::detector::{Common, Detector};
use super::slots::Slots;

pub(crate) type Settings = MicroburstSettings;

/// The bursts of each queue that has been congested.
#[derive(Debug)]
pub(crate) struct State {
    settings: MicroburstSettings,
    queues: Slots<Bursts>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), queues: Slots::default() }
    }

    fn handle_release(&mut self, released: &Released) {
        released.queues.iter().for_each(|queue| self.queues.clear(queue.place()));
    }

    fn handle_congestion(&mut self, step: &CongestionStep, outbox: &mut Outbox) {
        let bursts = self.queues.at(step.queue.place(), Bursts::default);
        match &step.change {
            CongestionChange::Departed(departure) if departure.is_congested => {
                bursts.record(&self.settings, step, departure, outbox);
            }
            CongestionChange::Departed(_) => {}
            CongestionChange::Calm | CongestionChange::Over => bursts.close(&self.settings, step, outbox),
        }
    }
}
