//! Interfaces where a node holds packets much longer than usual.

mod runs;
mod settings;
mod spike;

use inband_model::{Event, EventDetail, EventKind, LatencySpike, Units};

use crate::outbox::Outbox;
use crate::ports::{Ports, Released, Sample};

pub use self::settings::SpikeSettings;

use self::runs::Spikes;
use self::spike::Spike;
use super::detector::{Common, Detector};
use super::slots::Slots;

pub(crate) type Settings = SpikeSettings;

/// The latest latencies of each interface.
#[derive(Debug)]
pub(crate) struct State {
    settings: SpikeSettings,
    units: Units,
    spikes: Slots<Spikes>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        Self { settings: settings.clone(), units: common.units.clone(), spikes: Slots::default() }
    }

    fn handle_release(&mut self, released: &Released) {
        self.spikes.clear(released.port.place());
    }

    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, _: &Ports, outbox: &mut Outbox) {
        let Some(latency) = hop.reading.latency else { return };
        let goes_on = || outbox.is_active(EventKind::LatencySpike, &hop.interface_key());
        let spikes =
            self.spikes.at(hop.port.place(), || Spikes::new(least_ns(&self.settings, &self.units, hop)));
        if let Some((spike, course)) = spikes.record(&self.settings, hop.now(), latency, goes_on) {
            outbox.begin_counting(event(hop, &spike), course, spikes.signs());
        }
    }
}

/// Nanoseconds above the median below which nothing is a spike: four steps of the node's clock, if that is
/// more than what is set.
fn least_ns(settings: &SpikeSettings, units: &Units, hop: &Sample<'_>) -> u64 {
    let units = units.of(hop.reading.hop.node_id);
    let is_told = hop.reading.metadata.hop_latency.is_some();
    let step = if is_told { units.latency } else { units.timestamp };
    settings.least_ns.max(step.to_nanos(4))
}

fn event(hop: &Sample<'_>, spike: &Spike) -> Event {
    let (node_id, egress_interface) = hop.interface();
    let detail = LatencySpike {
        node_id,
        egress_interface,
        latency: spike.latency,
        median: spike.median,
        median_deviation: spike.median_deviation,
        episodes: spike.episodes,
    };
    Event { count: spike.count, ..hop.warning(EventDetail::LatencySpike(detail)) }
}
