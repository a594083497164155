//! The counters of a device, which domain-specific metadata can carry.

use serde::Deserialize;

/// A device's counters for one packet; `None`: not available.
// int-2.1, Appendix A
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// The version of the forwarding state; every change increments it.
    pub state_version: Option<u64>,
    /// Of the interface that the packet came in by: what it has received, this packet included.
    pub ingress: InterfaceCounters,
    /// Of the interface that the packet leaves by: what it has sent before this packet.
    pub egress: InterfaceCounters,
}

impl DeviceCounters {
    /// None available.
    pub(crate) const NONE: Self = Self {
        state_version: None,
        ingress: InterfaceCounters { packets: None, bytes: None, drops: None },
        egress: InterfaceCounters { packets: None, bytes: None, drops: None },
    };
}

/// The counters of one direction of an interface, since the device or its program started; `None`: not
/// available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// Packets.
    pub packets: Option<u64>,
    /// Bytes of their frames.
    pub bytes: Option<u64>,
    /// Packets dropped.
    pub drops: Option<u64>,
}

/// One of a device's counters, by its name in `[[domain.metadata]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceCounter {
    /// The control plane state version number.
    StateVersion,
    /// The ingress interface's RX packet count.
    RxPackets,
    /// The ingress interface's RX byte count.
    RxBytes,
    /// The ingress interface's RX drop count.
    RxDrops,
    /// The egress interface's TX packet count.
    TxPackets,
    /// The egress interface's TX byte count.
    TxBytes,
    /// The egress interface's TX drop count.
    TxDrops,
}

impl DeviceCounters {
    /// The value of one counter; `None`: not available.
    #[must_use]
    pub const fn get(&self, counter: DeviceCounter) -> Option<u64> {
        match counter {
            DeviceCounter::StateVersion => self.state_version,
            DeviceCounter::RxPackets => self.ingress.packets,
            DeviceCounter::RxBytes => self.ingress.bytes,
            DeviceCounter::RxDrops => self.ingress.drops,
            DeviceCounter::TxPackets => self.egress.packets,
            DeviceCounter::TxBytes => self.egress.bytes,
            DeviceCounter::TxDrops => self.egress.drops,
        }
    }
}
