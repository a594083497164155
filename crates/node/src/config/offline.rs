//! Device measurements for packets from a capture file.

use serde::Deserialize;

use super::InstructionList;

/// `[offline]`: stands in for the device when packets come from a capture file.
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
    /// Overrides for some of the packets.
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

/// `[[offline.packets]]`: overrides for a range of packets; for each key, the last entry that matches a
/// packet and has the key applies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfflinePackets {
    /// The first packet, counted from 1.
    pub from: u64,
    /// The last packet; default: the last of the capture.
    #[serde(default)]
    pub to: Option<u64>,
    /// The ingress interface.
    #[serde(default)]
    pub ingress: Option<u16>,
    /// The egress interface.
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
    /// The reason code with which the device drops the packet.
    #[serde(default)]
    pub drop: Option<u8>,
}
