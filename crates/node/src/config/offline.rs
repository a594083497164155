//! What a device would have measured about packets from a capture file.

use serde::Deserialize;

use super::InstructionList;

/// `[offline]`: stands in for the device where packets come from a capture file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OfflineConfig {
    /// Hop latency, nanoseconds; default 1000.
    pub hop_latency: u32,
    /// Queue identifier; default 0.
    pub queue_id: u8,
    /// Queue occupancy, 24 bits; default 0.
    pub queue_occupancy: u32,
    /// Buffer identifier; default 0.
    pub buffer_id: u8,
    /// Buffer occupancy, 24 bits; default 0.
    pub buffer_occupancy: u32,
    /// Egress utilization; default 0.
    pub egress_utilization: u32,
    /// Instructions this node answers with all ones.
    pub unavailable: InstructionList,
    /// What is different for some of the packets.
    pub packets: Vec<OfflinePackets>,
}

impl Default for OfflineConfig {
    fn default() -> Self {
        Self {
            hop_latency: 1000,
            queue_id: 0,
            queue_occupancy: 0,
            buffer_id: 0,
            buffer_occupancy: 0,
            egress_utilization: 0,
            unavailable: InstructionList::default(),
            packets: Vec::new(),
        }
    }
}

/// `[[offline.packets]]`: what is different for some packets; of several entries about a packet the last one
/// with a key decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfflinePackets {
    /// The first packet, counted from 1.
    pub from: u64,
    /// The last packet; default: the last of the capture.
    #[serde(default)]
    pub to: Option<u64>,
    /// The interface it comes in by.
    #[serde(default)]
    pub ingress: Option<u16>,
    /// The interface it leaves by.
    #[serde(default)]
    pub egress: Option<u16>,
    /// Hop latency, nanoseconds.
    #[serde(default)]
    pub hop_latency: Option<u32>,
    /// Queue identifier.
    #[serde(default)]
    pub queue_id: Option<u8>,
    /// Queue occupancy, 24 bits.
    #[serde(default)]
    pub queue_occupancy: Option<u32>,
    /// Utilisation of the egress interface.
    #[serde(default)]
    pub egress_utilization: Option<u32>,
    /// The device drops the packet for the reason with this code.
    #[serde(default)]
    pub drop: Option<u8>,
}
