//! Device measurements for packets from a capture file.

use serde::Deserialize;

use super::InstructionList;
use crate::error::ConfigError;

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

impl OfflineConfig {
    /// # Errors
    /// An occupancy of more than 24 bits, or packets that are none.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let occupancies = [
            ("offline.queue_occupancy", Some(self.queue_occupancy)),
            ("offline.buffer_occupancy", Some(self.buffer_occupancy)),
        ];
        let of_packets =
            |packets: &OfflinePackets| ("offline.packets.queue_occupancy", packets.queue_occupancy);
        for (key, occupancy) in occupancies.into_iter().chain(self.packets.iter().map(of_packets)) {
            if let Some(occupancy) = occupancy.filter(|occupancy| *occupancy > MAX_OCCUPANCY) {
                return Err(ConfigError::out_of_range(key, occupancy, format!("0 to {MAX_OCCUPANCY}")));
            }
        }
        for OfflinePackets { from, to, .. } in &self.packets {
            if *from == 0 {
                return Err(ConfigError::out_of_range(
                    "offline.packets.from",
                    0,
                    "1, the first packet, or more",
                ));
            }
            if let Some(to) = to.filter(|to| to < from) {
                return Err(ConfigError::out_of_range(
                    "offline.packets.to",
                    to,
                    format!("{from}, `from`, or more"),
                ));
            }
        }
        Ok(())
    }
}

/// 24 bits.
const MAX_OCCUPANCY: u32 = 0x00ff_ffff;

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
