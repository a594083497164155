//! The metadata header of INT 2016.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The INT metadata header of 2016, 8 bytes; the metadata stack follows.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+---+-+-+---------+---------+---------------+---------------+
/// |Ver|Rep|C|E|R R R R R| Ins Cnt |  Max Hop Cnt  | Total Hop Cnt |
/// +---+---+-+-+---------+---------+---------------+---------------+
/// |      Instruction Bitmap       |           Reserved            |
/// +-------------------------------+-------------------------------+
/// ```
// int-2016/md-01
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct HeaderV2016 {
    version_flags: u8,
    reserved_count: u8,
    max_hop_count: u8,
    total_hop_count: u8,
    instruction_bitmap: U16,
    reserved: U16,
}

/// The version field of this header.
pub const VERSION: u8 = 0;

const COPY: u8 = 0x08;
const MAX_HOP_COUNT_EXCEEDED: u8 = 0x04;
const RESERVED: u8 = 0x03;

impl HeaderV2016 {
    /// Creates the header a source writes, without hops and with all flags clear.
    // int-2016/md-07, int-2016/md-14
    #[must_use]
    pub fn new(instruction_bitmap: u16, max_hop_count: u8) -> Self {
        Self {
            version_flags: VERSION << 6,
            reserved_count: instruction_bitmap.count_ones().to_le_bytes()[0],
            max_hop_count,
            total_hop_count: 0,
            instruction_bitmap: U16::new(instruction_bitmap),
            reserved: U16::ZERO,
        }
    }

    /// The version field, 2 bits.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_flags >> 6
    }

    /// Rep: the requested replication, 0 to 3: 1 to every port, 2 to every next hop.
    #[must_use]
    pub const fn replication(&self) -> u8 {
        self.version_flags >> 4 & 0x03
    }

    /// Sets the requested replication; only the low 2 bits are used.
    pub const fn set_replication(&mut self, replication: u8) {
        self.version_flags = self.version_flags & !(0x03 << 4) | (replication & 0x03) << 4;
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

    /// Instruction Count, 5 bits: the number of bits set in the instruction bitmap.
    #[must_use]
    pub const fn instruction_count(&self) -> u8 {
        self.reserved_count & 0x1f
    }

    /// Total number of hops that may add metadata.
    #[must_use]
    pub const fn max_hop_count(&self) -> u8 {
        self.max_hop_count
    }

    /// Number of hops that have added metadata.
    #[must_use]
    pub const fn total_hop_count(&self) -> u8 {
        self.total_hop_count
    }

    /// Sets the number of hops that have added metadata.
    pub const fn set_total_hop_count(&mut self, total_hop_count: u8) {
        self.total_hop_count = total_hop_count;
    }

    /// The instruction bitmap; bit 0 is the most significant.
    #[must_use]
    pub fn instruction_bitmap(&self) -> u16 {
        self.instruction_bitmap.get()
    }

    /// Whether the reserved bits that are C and E in 0.5 are zero.
    #[must_use]
    pub const fn reserved_flags_are_zero(&self) -> bool {
        self.version_flags & RESERVED == 0
    }
}

#[cfg(test)]
mod tests;
