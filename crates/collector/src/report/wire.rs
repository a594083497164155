//! Serialization of report fields that are types of crate `wire`.

use inband_wire::int::{Buffer, HopMetadata, Interfaces, Queue};
use serde::{Deserialize, Serialize};

/// All metadata of one hop.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Metadata {
    node_id: Option<u32>,
    /// Ingress and egress.
    interfaces: Option<(u16, u16)>,
    hop_latency: Option<u32>,
    /// Id and occupancy.
    queue: Option<(u8, u32)>,
    ingress_timestamp: Option<u64>,
    egress_timestamp: Option<u64>,
    ingress_interface_level2: Option<u32>,
    egress_interface_level2: Option<u32>,
    egress_utilization: Option<u32>,
    /// Id and occupancy.
    buffer: Option<(u8, u32)>,
    checksum_complement: Option<u32>,
}

impl From<HopMetadata> for Metadata {
    fn from(hop: HopMetadata) -> Self {
        Self {
            node_id: hop.node_id,
            interfaces: hop.interfaces.map(|Interfaces { ingress, egress }| (ingress, egress)),
            hop_latency: hop.hop_latency,
            queue: hop.queue.map(|Queue { id, occupancy }| (id, occupancy)),
            ingress_timestamp: hop.ingress_timestamp,
            egress_timestamp: hop.egress_timestamp,
            ingress_interface_level2: hop.ingress_interface_level2,
            egress_interface_level2: hop.egress_interface_level2,
            egress_utilization: hop.egress_utilization,
            buffer: hop.buffer.map(|Buffer { id, occupancy }| (id, occupancy)),
            checksum_complement: hop.checksum_complement,
        }
    }
}

impl From<Metadata> for HopMetadata {
    fn from(hop: Metadata) -> Self {
        Self {
            node_id: hop.node_id,
            interfaces: hop.interfaces.map(|(ingress, egress)| Interfaces { ingress, egress }),
            hop_latency: hop.hop_latency,
            queue: hop.queue.map(|(id, occupancy)| Queue { id, occupancy }),
            ingress_timestamp: hop.ingress_timestamp,
            egress_timestamp: hop.egress_timestamp,
            ingress_interface_level2: hop.ingress_interface_level2,
            egress_interface_level2: hop.egress_interface_level2,
            egress_utilization: hop.egress_utilization,
            buffer: hop.buffer.map(|(id, occupancy)| Buffer { id, occupancy }),
            checksum_complement: hop.checksum_complement,
        }
    }
}

/// The metadata of a hop.
pub(super) mod metadata {
    use inband_wire::int::HopMetadata;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Metadata;

    pub(in crate::report) fn serialize<S: Serializer>(
        hop: &HopMetadata,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Metadata::from(*hop).serialize(serializer)
    }

    pub(in crate::report) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<HopMetadata, D::Error> {
        Metadata::deserialize(deserializer).map(HopMetadata::from)
    }
}

/// Queue and drop reason.
pub(super) mod drop {
    use inband_wire::report::Drop;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option, reason = "serde gives a reference to the field")]
    pub(in crate::report) fn serialize<S: Serializer>(
        drop: &Option<Drop>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        drop.map(|Drop { queue_id, reason }| (queue_id, reason)).serialize(serializer)
    }

    pub(in crate::report) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Drop>, D::Error> {
        let drop: Option<(u8, u8)> = Option::deserialize(deserializer)?;
        Ok(drop.map(|(queue_id, reason)| Drop { queue_id, reason }))
    }
}
