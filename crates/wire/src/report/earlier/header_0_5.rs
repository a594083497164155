//! The fixed header of version 0.5 reports.

use zerocopy::byteorder::big_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed header of a Telemetry Report 0.5, 12 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+-+-+-+-----------------------------+-----------+
/// |Ver = 0|NProto |D|Q|F|          Reserved           |   hw_id   |
/// +-------+-------+-+-+-+-----------------------------+-----------+
/// |                        Sequence Number                        |
/// +---------------------------------------------------------------+
/// |                       Ingress Timestamp                       |
/// +---------------------------------------------------------------+
/// ```
// host-int-0.5/report-01
// report-0.5/header-01, report-0.5/header-03, report-0.5/header-04
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FixedHeader {
    first_word: U32,
    sequence: U32,
    timestamp: U32,
}

/// NProto: what follows the fixed header.
// report-0.5/header-02
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextProto {
    /// 0: a packet from its Ethernet header on.
    Ethernet,
    /// 1: a drop header, then a packet from its Ethernet header on.
    Drop,
    /// 2: a switch-local header, then a packet from its Ethernet header on.
    Local,
    /// 3: Host-INT's summary of lost packets.
    DropSummary,
    /// 4: Host-INT's headers of a packet from its IPv4 header on.
    Latency,
    /// An undefined value.
    Unknown(u8),
}

/// Length of the fixed header, bytes.
pub const HEADER_BYTES: usize = size_of::<FixedHeader>();
/// The version of this format; the text leaves it open, but all senders use 0.
pub const VERSION: u8 = 0;

const DROPPED: u32 = 1 << 23;
const CONGESTED_QUEUE: u32 = 1 << 22;
const TRACKED_FLOW: u32 = 1 << 21;
const HW_ID: u32 = 0x3f;

impl FixedHeader {
    /// Creates a header, reserved bits zero; `hw_id` keeps its low 6 bits.
    #[must_use]
    pub fn new(next_proto: NextProto, hw_id: u8, sequence: u32, timestamp: u32) -> Self {
        let first_word = u32::from(next_proto.code()) << 24 | u32::from(hw_id) & HW_ID;
        Self {
            first_word: U32::new(first_word),
            sequence: U32::new(sequence),
            timestamp: U32::new(timestamp),
        }
    }

    /// Sets the tracking bits D, Q and F.
    pub fn set_flags(&mut self, dropped: bool, congested_queue: bool, tracked_flow: bool) {
        let bit = |set, bit| if set { bit } else { 0 };
        let flags =
            bit(dropped, DROPPED) | bit(congested_queue, CONGESTED_QUEUE) | bit(tracked_flow, TRACKED_FLOW);
        let others = self.first_word.get() & !(DROPPED | CONGESTED_QUEUE | TRACKED_FLOW);
        self.first_word = U32::new(others | flags);
    }

    /// The version field, 4 bits.
    #[must_use]
    pub fn version(&self) -> u8 {
        (self.first_word.get() >> 28) as u8
    }

    /// What follows this header.
    #[must_use]
    pub fn next_proto(&self) -> NextProto {
        match (self.first_word.get() >> 24 & 0x0f) as u8 {
            0 => NextProto::Ethernet,
            1 => NextProto::Drop,
            2 => NextProto::Local,
            3 => NextProto::DropSummary,
            4 => NextProto::Latency,
            other => NextProto::Unknown(other),
        }
    }

    /// D: a packet was dropped.
    #[must_use]
    pub fn dropped(&self) -> bool {
        self.first_word.get() & DROPPED != 0
    }

    /// Q: the packet met a congested queue.
    #[must_use]
    pub fn congested_queue(&self) -> bool {
        self.first_word.get() & CONGESTED_QUEUE != 0
    }

    /// F: the packet belongs to a tracked flow.
    #[must_use]
    pub fn tracked_flow(&self) -> bool {
        self.first_word.get() & TRACKED_FLOW != 0
    }

    /// Which part of the node's hardware sent the report, 0 to 63.
    #[must_use]
    pub fn hw_id(&self) -> u8 {
        (self.first_word.get() & HW_ID) as u8
    }

    /// Number of the report, counted per hw_id and destination.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.sequence.get()
    }

    /// Arrival time, low 32 bits of the device's clock, nanoseconds; in Host-INT seconds since 1970.
    #[must_use]
    pub fn timestamp(&self) -> u32 {
        self.timestamp.get()
    }
}

impl NextProto {
    /// The value on the wire, 4 bits.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ethernet => 0,
            Self::Drop => 1,
            Self::Local => 2,
            Self::DropSummary => 3,
            Self::Latency => 4,
            Self::Unknown(code) => code & 0x0f,
        }
    }
}

#[cfg(test)]
mod tests;
