//! What the device knows about one packet's way through it.

use inband_wire::int::{Buffer, HopMetadata, Instructions, Interfaces, Queue};

use crate::interfaces::Interface;

/// One packet's way through the node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// Identifier of the interface the packet came in by.
    pub ingress: u16,
    /// Identifier of the interface the packet leaves by.
    pub egress: u16,
    /// What the device measured.
    pub metadata: DeviceMetadata,
}

/// What a device can measure about a packet; `None`: it cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMetadata {
    /// When the packet came in, nanoseconds of the device's clock.
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
}

/// What this hop can say about the packet, put together when it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop<'a> {
    pub(crate) identity: Identity,
    pub(crate) ingress: Interface,
    pub(crate) egress: Interface,
    pub(crate) device: &'a DeviceMetadata,
}

/// What a node says of itself, whatever the device measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Node ID; `None`: it is withheld.
    pub(crate) node_id: Option<u32>,
    /// Whether the interfaces of level 1 are named.
    pub(crate) interfaces: bool,
    /// Whether the interfaces of level 2 are named.
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
    /// The device's clock at this packet, as late as is known: when it left, or else when it came in, nanoseconds.
    #[inline]
    #[must_use]
    pub fn clock(&self) -> Option<u64> {
        self.egress_timestamp.or(self.ingress_timestamp)
    }

    /// The same without what `instructions` ask for.
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
        }
    }
}
