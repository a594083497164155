//! What would a device have measured? Stands in for it where packets come from a file.

use inband_node::DeviceMetadata;
use inband_node::config::OfflineConfig;
use inband_wire::int::{Buffer, Instructions, Queue};

/// A device that measures the same about every packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Device {
    hop_latency_ns: u32,
    queue: Queue,
    buffer: Buffer,
    egress_utilization: u32,
    unavailable: Instructions,
}

impl Device {
    pub(super) fn new(config: &OfflineConfig) -> Self {
        Self {
            hop_latency_ns: config.hop_latency,
            queue: Queue { id: config.queue_id, occupancy: config.queue_occupancy },
            buffer: Buffer { id: config.buffer_id, occupancy: config.buffer_occupancy },
            egress_utilization: config.egress_utilization,
            unavailable: config.unavailable.bitmap(),
        }
    }

    /// What it measured about a packet that came in at `captured_at_ns`.
    pub(super) fn metadata(&self, captured_at_ns: u64) -> DeviceMetadata {
        DeviceMetadata {
            ingress_timestamp: Some(captured_at_ns),
            egress_timestamp: Some(captured_at_ns.saturating_add(self.hop_latency_ns.into())),
            hop_latency: Some(self.hop_latency_ns),
            queue: Some(self.queue),
            buffer: Some(self.buffer),
            egress_utilization: Some(self.egress_utilization),
        }
        .without(self.unavailable)
    }
}
