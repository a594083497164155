//! The metadata header of INT 1.0.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::words::Words;

/// The INT metadata header of 1.0, 8 bytes; the metadata stack follows.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+---+-+-+-+-------------------+---------+---------------+
/// |Ver = 1|Rep|C|E|M|     Reserved      | Hop ML  |RemainingHopCnt|
/// +-------+---+-+-+-+-------------------+---------+---------------+
/// |      Instruction Bitmap       |           Reserved            |
/// +-------------------------------+-------------------------------+
/// ```
// int-1.0/md-01
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct HeaderV1_0 {
    version_flags: u8,
    mtu_reserved: u8,
    reserved_hop_ml: u8,
    remaining_hop_count: u8,
    instruction_bitmap: U16,
    reserved: U16,
}

/// The version field of this header.
pub const VERSION: u8 = 1;

const COPY: u8 = 0x02;
const MAX_HOP_COUNT_EXCEEDED: u8 = 0x01;
const MTU_EXCEEDED: u8 = 0x80;

impl HeaderV1_0 {
    /// Creates the header a source writes, all flags clear; Hop ML is capped at 31 words.
    #[must_use]
    pub fn new(instruction_bitmap: u16, hop_ml: Words, remaining_hop_count: u8) -> Self {
        Self {
            version_flags: VERSION << 4,
            mtu_reserved: 0,
            reserved_hop_ml: hop_ml.count().min(31),
            remaining_hop_count,
            instruction_bitmap: U16::new(instruction_bitmap),
            reserved: U16::ZERO,
        }
    }

    /// The version field, 4 bits.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_flags >> 4
    }

    /// Rep: the requested replication, 0 to 3: 1 to every port, 2 to every next hop.
    #[must_use]
    pub const fn replication(&self) -> u8 {
        self.version_flags >> 2 & 0x03
    }

    /// Sets the requested replication; only the low 2 bits are used.
    pub const fn set_replication(&mut self, replication: u8) {
        self.version_flags = self.version_flags & !(0x03 << 2) | (replication & 0x03) << 2;
    }

    /// C: the packet is a copy that a node made.
    #[must_use]
    pub const fn copy(&self) -> bool {
        self.version_flags & COPY != 0
    }

    /// Sets C.
    pub const fn set_copy(&mut self) {
        self.version_flags |= COPY;
    }

    /// E: a node could not add metadata because no hop was left.
    #[must_use]
    pub const fn max_hop_count_exceeded(&self) -> bool {
        self.version_flags & MAX_HOP_COUNT_EXCEEDED != 0
    }

    /// Sets E.
    pub const fn set_max_hop_count_exceeded(&mut self) {
        self.version_flags |= MAX_HOP_COUNT_EXCEEDED;
    }

    /// M: a node could not add metadata because of its egress MTU.
    #[must_use]
    pub const fn mtu_exceeded(&self) -> bool {
        self.mtu_reserved & MTU_EXCEEDED != 0
    }

    /// Sets M.
    pub const fn set_mtu_exceeded(&mut self) {
        self.mtu_reserved |= MTU_EXCEEDED;
    }

    /// Length of the metadata each hop adds, 0 to 31 words.
    #[must_use]
    pub const fn hop_ml(&self) -> Words {
        Words::new(self.reserved_hop_ml & 0x1f)
    }

    /// Number of further hops that may add metadata.
    #[must_use]
    pub const fn remaining_hop_count(&self) -> u8 {
        self.remaining_hop_count
    }

    /// Sets the number of further hops that may add metadata.
    pub const fn set_remaining_hop_count(&mut self, remaining_hop_count: u8) {
        self.remaining_hop_count = remaining_hop_count;
    }

    /// The instruction bitmap; bit 0 is the most significant.
    #[must_use]
    pub fn instruction_bitmap(&self) -> u16 {
        self.instruction_bitmap.get()
    }

    /// The reserved second half of the last word; some nodes number the packet there.
    #[must_use]
    pub fn reserved(&self) -> u16 {
        self.reserved.get()
    }

    /// Sets the reserved second half of the last word, which has a meaning only in a dialect.
    pub fn set_reserved(&mut self, reserved: u16) {
        self.reserved = U16::new(reserved);
    }

    /// Whether the reserved bits of the first word are zero.
    #[must_use]
    pub const fn reserved_is_zero(&self) -> bool {
        self.mtu_reserved & !MTU_EXCEEDED == 0 && self.reserved_hop_ml & 0xe0 == 0
    }
}

#[cfg(test)]
mod tests;
