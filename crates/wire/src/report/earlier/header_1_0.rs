//! The header of version 1.0 reports.

use zerocopy::byteorder::big_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::int::instruction::Instructions;
use crate::words::Words;

/// The header of a Telemetry Report 1.0, 16 bytes; the metadata of RepMdBits and the packet follow.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+-----+-----------+-----------+-+-+-+-----------+
/// |Ver = 1|Length |NPrt | RepMdBits |  Reserved |D|Q|F|   hw_id   |
/// +-------+-------+-----+-----------+-----------+-+-+-+-----------+
/// |                           Switch ID                           |
/// +---------------------------------------------------------------+
/// |                        Sequence Number                        |
/// +---------------------------------------------------------------+
/// |                       Ingress Timestamp                       |
/// +---------------------------------------------------------------+
/// ```
// report-1.0/header-01
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct HeaderV1_0 {
    first_word: U32,
    node_id: U32,
    sequence: U32,
    ingress_timestamp: U32,
}

/// RepMdBits, 6 bits: which metadata follow the header, 4 bytes each, in this order.
///
/// ```text
///  bit 0 ingress port 16, egress port 16     3 egress timestamp
///      1 hop latency                         4 queue id 8, drop reason 8, padding 16
///      2 queue id 8, occupancy 24            5 egress tx utilization
/// ```
// report-1.0/header-02, report-1.0/header-03
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RepMdBits(u8);

/// Length of the header without metadata, bytes.
pub const HEADER_BYTES: usize = size_of::<HeaderV1_0>();
/// Length of the header without metadata.
pub const HEADER_WORDS: Words = Words::new(4);
/// The version of this format.
pub const VERSION: u8 = 1;

const DROPPED: u32 = 1 << 8;
const CONGESTED_QUEUE: u32 = 1 << 7;
const TRACKED_FLOW: u32 = 1 << 6;
const HW_ID: u32 = 0x3f;

impl HeaderV1_0 {
    /// Creates a header with reserved bits zero and the Length implied by `bits`.
    ///
    /// `next_proto` is 0 for Ethernet, 1 for IPv4, 2 for IPv6 and keeps its low 3 bits, `hw_id` its low 6.
    #[must_use]
    pub fn new(
        next_proto: u8,
        bits: RepMdBits,
        hw_id: u8,
        node_id: u32,
        sequence: u32,
        ingress_timestamp: u32,
    ) -> Self {
        let length = HEADER_WORDS.count() + bits.words().count();
        let first_word = u32::from(VERSION) << 28
            | u32::from(length) << 24
            | u32::from(next_proto & 0x07) << 21
            | u32::from(bits.0) << 15
            | u32::from(hw_id) & HW_ID;
        Self {
            first_word: U32::new(first_word),
            node_id: U32::new(node_id),
            sequence: U32::new(sequence),
            ingress_timestamp: U32::new(ingress_timestamp),
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

    /// Length of this header with its metadata, 0 to 15 words.
    #[must_use]
    pub fn length(&self) -> Words {
        Words::new((self.first_word.get() >> 24 & 0x0f) as u8)
    }

    /// NProto, 3 bits, what follows: 0 Ethernet, 1 IPv4, 2 IPv6.
    #[must_use]
    pub fn next_proto(&self) -> u8 {
        (self.first_word.get() >> 21 & 0x07) as u8
    }

    /// Which metadata follow.
    #[must_use]
    pub fn rep_md_bits(&self) -> RepMdBits {
        RepMdBits((self.first_word.get() >> 15 & 0x3f) as u8)
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

    /// The reporting node.
    #[must_use]
    pub fn node_id(&self) -> u32 {
        self.node_id.get()
    }

    /// Number of the report, counted per node, hw_id and destination.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.sequence.get()
    }

    /// Arrival time of the packet, low 32 bits of the device's clock, nanoseconds.
    #[must_use]
    pub fn ingress_timestamp(&self) -> u32 {
        self.ingress_timestamp.get()
    }
}

impl RepMdBits {
    /// The bits, each with the instruction of INT 2.1 for the same value; bit 4 has none.
    const INSTRUCTIONS: [(u8, Instructions); 5] = [
        (0x20, Instructions::INTERFACES),
        (0x10, Instructions::HOP_LATENCY),
        (0x08, Instructions::QUEUE),
        (0x04, Instructions::EGRESS_TIMESTAMP),
        (0x01, Instructions::EGRESS_UTILIZATION),
    ];
    const DROP: u8 = 0x02;

    /// The bits equivalent to `instructions`, with the bit for queue and drop reason if `has_drop`.
    #[must_use]
    pub fn of(instructions: Instructions, has_drop: bool) -> Self {
        let asked = Self::INSTRUCTIONS.iter().filter(|(_, instruction)| instructions.contains(*instruction));
        Self(asked.fold(if has_drop { Self::DROP } else { 0 }, |bits, (bit, _)| bits | bit))
    }

    /// The equivalent instructions of INT 2.1, without queue and drop reason.
    #[must_use]
    pub fn instructions(self) -> Instructions {
        let set = Self::INSTRUCTIONS.iter().filter(|(bit, _)| self.0 & bit != 0);
        set.fold(Instructions::default(), |all, (_, instruction)| all | *instruction)
    }

    /// Whether queue and drop reason follow.
    #[must_use]
    pub const fn has_drop(self) -> bool {
        self.0 & Self::DROP != 0
    }

    /// Length of the metadata, 0 to 6 words.
    #[must_use]
    pub fn words(self) -> Words {
        Words::new(self.iter().map(|_| 1).sum())
    }

    /// The bits that are set, 0 to 5, the most significant first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..6).filter(move |bit| self.0 & 0x20 >> bit != 0)
    }
}

#[cfg(test)]
mod tests;
