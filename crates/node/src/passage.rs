//! What does the device know about one packet's way through it?

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

/// Puts together what this hop says about the packet.
#[inline]
pub(crate) fn hop_metadata(
    node_id: u32,
    ingress: &Interface,
    egress: &Interface,
    device: &DeviceMetadata,
) -> HopMetadata {
    HopMetadata {
        node_id: Some(node_id),
        interfaces: Some(Interfaces { ingress: ingress.id, egress: egress.id }),
        hop_latency: device.hop_latency,
        queue: device.queue,
        ingress_timestamp: device.ingress_timestamp,
        egress_timestamp: device.egress_timestamp,
        ingress_interface_level2: ingress.level2_id,
        egress_interface_level2: egress.level2_id,
        egress_utilization: device.egress_utilization,
        buffer: device.buffer,
        checksum_complement: None,
    }
}

/// Takes out what `withheld` names.
#[cold]
pub(crate) fn without(metadata: HopMetadata, withheld: Instructions) -> HopMetadata {
    let given = |bit| !withheld.intersects(bit);
    HopMetadata {
        node_id: metadata.node_id.filter(|_| given(Instructions::NODE_ID)),
        interfaces: metadata.interfaces.filter(|_| given(Instructions::INTERFACES)),
        hop_latency: metadata.hop_latency.filter(|_| given(Instructions::HOP_LATENCY)),
        queue: metadata.queue.filter(|_| given(Instructions::QUEUE)),
        ingress_timestamp: metadata.ingress_timestamp.filter(|_| given(Instructions::INGRESS_TIMESTAMP)),
        egress_timestamp: metadata.egress_timestamp.filter(|_| given(Instructions::EGRESS_TIMESTAMP)),
        ingress_interface_level2: metadata
            .ingress_interface_level2
            .filter(|_| given(Instructions::LEVEL2_INTERFACES)),
        egress_interface_level2: metadata
            .egress_interface_level2
            .filter(|_| given(Instructions::LEVEL2_INTERFACES)),
        egress_utilization: metadata.egress_utilization.filter(|_| given(Instructions::EGRESS_UTILIZATION)),
        buffer: metadata.buffer.filter(|_| given(Instructions::BUFFER)),
        checksum_complement: metadata.checksum_complement,
    }
}
