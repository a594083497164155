//! How long do packets stay in a node on their way to one egress interface?

use inband_model::{Confidence, Event, EventDetail, LatencySpike, Nanos, NodeId, Phase, Severity};

use crate::outbox::Outbox;
use crate::sketch::Sketch;
use crate::views::{LevelView, PortView};

use super::gauge::Gauge;
use super::settings::SpikeSettings;
use super::spike::{Spike, SpikeDetector};
use super::{QueueIndex, Sample};

/// The egress interface of a node.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) node_id: NodeId,
    pub(crate) egress_interface: Option<u16>,
    pub(crate) first_seen: Nanos,
    pub(crate) last_seen: Nanos,
    latency: Sketch,
    utilization: Option<Gauge>,
    spikes: SpikeDetector,
    /// Its queues by their ids.
    pub(super) queues: Vec<(Option<u8>, QueueIndex)>,
}

impl Port {
    pub(super) fn new(now: Nanos, node_id: NodeId, egress_interface: Option<u16>) -> Port {
        Port {
            node_id,
            egress_interface,
            first_seen: now,
            last_seen: now,
            utilization: None,
            latency: Sketch::new(),
            spikes: SpikeDetector::new(),
            queues: Vec::new(),
        }
    }

    /// Takes in what a report tells of the node and the interface.
    #[inline]
    pub(super) fn record(&mut self, settings: &SpikeSettings, sample: &Sample<'_>, outbox: &mut Outbox) {
        self.last_seen = self.last_seen.max(sample.now);
        if let Some(utilization) = sample.reading.rest.egress_utilization {
            self.utilization.get_or_insert(Gauge::new(sample.now)).record(sample.now, utilization);
        }
        let Some(latency) = sample.reading.latency else { return };
        self.latency.record(latency.0);
        if let Some(spike) = self.spikes.record(settings, latency) {
            outbox.announce(self.latency_spike(sample, &spike));
        }
    }

    /// The hop latency.
    pub(crate) fn latency(&self) -> &Sketch {
        &self.latency
    }

    /// The port as users see it.
    pub(super) fn view(&self) -> PortView {
        PortView {
            node_id: self.node_id,
            egress_interface: self.egress_interface,
            latency: self.latency.summary(),
            utilization: self.utilization.map(|gauge| LevelView {
                last: gauge.last,
                max: gauge.max,
                last_at: gauge.last_at,
            }),
            last_seen: self.last_seen,
        }
    }

    fn latency_spike(&self, sample: &Sample<'_>, spike: &Spike) -> Event {
        let detail = LatencySpike {
            node_id: self.node_id,
            egress_interface: self.egress_interface,
            latency: spike.latency,
            median: spike.median,
            median_deviation: spike.median_deviation,
        };
        let egress = self.egress_interface.map_or("?".to_owned(), |id| id.to_string());
        Event {
            detail: EventDetail::LatencySpike(detail),
            severity: Severity::Warning,
            key: format!("node {} egress {egress}", self.node_id),
            first: sample.now,
            last: sample.now,
            count: spike.count,
            confidence: Confidence::Probable,
            evidence: vec![sample.report],
            phase: Phase::Once,
            silenced: false,
        }
    }
}
