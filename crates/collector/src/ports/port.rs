//! How long do packets stay in a node on their way to one egress interface?

use inband_model::{Confidence, Event, EventDetail, LatencySpike, NodeId, Severity};

use crate::outbox::Outbox;

use super::histogram::Histogram;
use super::settings::SpikeSettings;
use super::spike::{Spike, SpikeDetector};
use super::{PortView, QueueIndex, Sample};

/// The egress interface of a node.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) node_id: NodeId,
    pub(super) egress_interface: Option<u16>,
    latency: Histogram,
    spikes: SpikeDetector,
    /// Its queues by their ids.
    pub(super) queues: Vec<(Option<u8>, QueueIndex)>,
}

impl Port {
    pub(super) fn new(node_id: NodeId, egress_interface: Option<u16>) -> Port {
        Port {
            node_id,
            egress_interface,
            latency: Histogram::new(),
            spikes: SpikeDetector::new(),
            queues: Vec::new(),
        }
    }

    /// Takes in the latency of a report, if it tells one.
    #[inline]
    pub(super) fn record_latency(
        &mut self,
        settings: &SpikeSettings,
        sample: &Sample<'_>,
        outbox: &mut Outbox,
    ) {
        let Some(latency) = sample.reading.latency else { return };
        self.latency.record(latency.0);
        if let Some(spike) = self.spikes.record(settings, latency) {
            outbox.announce(self.latency_spike(sample, &spike));
        }
    }

    /// The port as users see it; `None` when no report told a latency.
    pub(super) fn view(&self) -> Option<PortView> {
        let latency = self.latency.summary()?;
        Some(PortView { node_id: self.node_id, egress_interface: self.egress_interface, latency })
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
        }
    }
}
