//! The latency of packets in a node on the way to one egress interface.

use inband_model::api::{LevelView, PortView};
use inband_model::{Nanos, NodeId};

use crate::sketch::Sketch;

use super::gauge::Gauge;
use super::index::{QueueIndex, QueueKey};
use super::sample::Sample;

/// The egress interface of a node.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) node_id: NodeId,
    pub(crate) egress_interface: Option<u16>,
    pub(crate) first_seen: Nanos,
    pub(crate) last_seen: Nanos,
    latency: Sketch,
    utilization: Option<Gauge>,
    /// Bytes and number of reported packets.
    carried: (u64, u64),
    /// Whether its place is free.
    pub(super) is_released: bool,
    /// Its queues by their ids.
    pub(super) queues: Vec<(QueueKey, QueueIndex)>,
}

impl Port {
    pub(super) fn new(now: Nanos, node_id: NodeId, egress_interface: Option<u16>) -> Port {
        Port {
            node_id,
            egress_interface,
            first_seen: now,
            last_seen: now,
            utilization: None,
            carried: (0, 0),
            latency: Sketch::new(),
            is_released: false,
            queues: Vec::new(),
        }
    }

    /// Records a report of the node and the interface.
    #[inline(always)]
    pub(super) fn record(&mut self, sample: &Sample<'_>) {
        self.last_seen = self.last_seen.max(sample.now());
        self.carried.0 += u64::from(sample.packet_bytes());
        self.carried.1 += 1;
        if let Some(utilization) = sample.reading.metadata.egress_utilization {
            self.utilization.get_or_insert(Gauge::new(sample.now())).record(sample.now(), utilization);
        }
        if let Some(latency) = sample.reading.latency {
            self.latency.record(latency.0);
        }
    }

    /// Mean utilisation over a second; `None` where no report contains it.
    #[inline]
    pub(crate) fn mean_utilization(&self, now: Nanos) -> Option<u32> {
        self.utilization.as_ref()?.mean(now)
    }

    /// Bytes and number of reported packets.
    pub(crate) fn carried(&self) -> (u64, u64) {
        self.carried
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
}
