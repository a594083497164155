//! Device information about one packet's passage through the node.

use inband_wire::int::{Buffer, HopMetadata, Instructions, Interfaces, Queue};

use crate::device_counters::DeviceCounters;
use crate::interfaces::Interface;

/// One packet's passage through the node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// Identifier of the ingress interface.
    pub ingress: u16,
    /// Identifier of the egress interface.
    pub egress: u16,
    /// The device's measurements.
    pub metadata: DeviceMetadata,
}

/// The measurements of a device for a packet; `None`: not available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMetadata {
    /// When the packet arrived, nanoseconds of the device's clock.
    pub ingress_timestamp: Option<u64>,
    /// When the packet leaves, nanoseconds of the device's clock.
    pub egress_timestamp: Option<u64>,
    /// Time inside the device, nanoseconds.
    pub hop_latency: Option<u32>,
    /// The egress queue.
    pub queue: Option<Queue>,
    /// The shared buffer.
    pub buffer: Option<Buffer>,
    /// Utilization of the egress interface.
    pub egress_utilization: Option<u32>,
    /// The device's counters; needed only where [`Profile::reads_counters`](crate::Profile::reads_counters).
    pub counters: Option<DeviceCounters>,
}

/// The sources of this hop's metadata, which is assembled on demand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop<'a> {
    pub(crate) identity: Identity,
    pub(crate) ingress: Interface,
    pub(crate) egress: Interface,
    pub(crate) device: &'a DeviceMetadata,
}

/// The node's own part of its metadata, independent of device measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Node ID; `None`: withheld.
    pub(crate) node_id: Option<u32>,
    /// Whether level 1 interfaces are reported.
    pub(crate) interfaces: bool,
    /// Whether level 2 interfaces are reported.
    pub(crate) level2_interfaces: bool,
}

impl Hop<'_> {
    #[inline]
    pub(crate) fn metadata(&self) -> HopMetadata {
        let Identity { node_id, interfaces, level2_interfaces } = self.identity;
        let level2 = |id: Option<u32>| if level2_interfaces { id } else { None };
        HopMetadata {
            node_id,
            interfaces: interfaces.then_some(Interfaces { ingress: self.ingress.id, egress: self.egress.id }),
            hop_latency: self.device.hop_latency,
            queue: self.device.queue,
            ingress_timestamp: self.device.ingress_timestamp,
            egress_timestamp: self.device.egress_timestamp,
            ingress_interface_level2: level2(self.ingress.level2_id),
            egress_interface_level2: level2(self.egress.level2_id),
            egress_utilization: self.device.egress_utilization,
            buffer: self.device.buffer,
            checksum_complement: None,
        }
    }
}

impl DeviceMetadata {
    /// The device's clock at this packet, the latest known: egress time, or else ingress time, nanoseconds.
    #[inline]
    #[must_use]
    pub fn clock(&self) -> Option<u64> {
        self.egress_timestamp.or(self.ingress_timestamp)
    }

    /// A copy without the measurements that `instructions` request.
    #[must_use]
    pub fn without(self, instructions: Instructions) -> Self {
        let keeps = |bit| !instructions.intersects(bit);
        Self {
            ingress_timestamp: self.ingress_timestamp.filter(|_| keeps(Instructions::INGRESS_TIMESTAMP)),
            egress_timestamp: self.egress_timestamp.filter(|_| keeps(Instructions::EGRESS_TIMESTAMP)),
            hop_latency: self.hop_latency.filter(|_| keeps(Instructions::HOP_LATENCY)),
            queue: self.queue.filter(|_| keeps(Instructions::QUEUE)),
            buffer: self.buffer.filter(|_| keeps(Instructions::BUFFER)),
            egress_utilization: self.egress_utilization.filter(|_| keeps(Instructions::EGRESS_UTILIZATION)),
            counters: self.counters,
        }
    }
}
