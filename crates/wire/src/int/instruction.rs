//! The instruction bitmap of INT 2.x.

use core::ops::{BitAnd, BitOr};

use crate::words::Words;

/// The 16-bit instruction bitmap of INT 2.x; bit 0 is the most significant.
///
/// ```text
///  bit  0 node id                      4 bytes
///       1 level 1 interface ids        4 (ingress 16 bits, egress 16 bits)
///       2 hop latency                  4
///       3 queue id and occupancy       4 (8 bits, 24 bits)
///       4 ingress timestamp            8
///       5 egress timestamp             8
///       6 level 2 interface ids        8 (4 bytes each)
///       7 egress tx utilization        4
///       8 buffer id and occupancy      4 (8 bits, 24 bits)
///    9-14 reserved                     4 each
///      15 checksum complement          4
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instructions(pub u16);

impl Instructions {
    /// Bit 0: node id.
    pub const NODE_ID: Self = Self(0x8000);
    /// Bit 1: level 1 ingress and egress interface ids.
    pub const INTERFACES: Self = Self(0x4000);
    /// Bit 2: hop latency.
    pub const HOP_LATENCY: Self = Self(0x2000);
    /// Bit 3: queue id and occupancy.
    pub const QUEUE: Self = Self(0x1000);
    /// Bit 4: ingress timestamp.
    pub const INGRESS_TIMESTAMP: Self = Self(0x0800);
    /// Bit 5: egress timestamp.
    pub const EGRESS_TIMESTAMP: Self = Self(0x0400);
    /// Bit 6: level 2 ingress and egress interface ids.
    pub const LEVEL2_INTERFACES: Self = Self(0x0200);
    /// Bit 7: egress interface tx utilization.
    pub const EGRESS_UTILIZATION: Self = Self(0x0100);
    /// Bit 8: buffer id and occupancy.
    pub const BUFFER: Self = Self(0x0080);
    /// Bits 9 to 14: reserved.
    pub const RESERVED: Self = Self(0x007e);
    /// Bit 15: checksum complement.
    pub const CHECKSUM_COMPLEMENT: Self = Self(0x0001);

    /// Whether all bits of `other` are set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bitmap without the bits of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Length of the metadata the bitmap asks each hop for, 0 to 19 words, without domain-specific metadata.
    // int-2.1/md-12: one word for each bit, two for bits 4, 5 and 6.
    #[inline]
    #[must_use]
    pub const fn words(self) -> Words {
        let [high, low] = self.0.to_be_bytes();
        Words::new(HIGH_WORDS[high as usize] + LOW_WORDS[low as usize])
    }
}

/// Words requested by bits 0 to 7 and by bits 8 to 15. Counting bits is slower than a look-up where the
/// compiler may not use the processor's instruction for it.
const HIGH_WORDS: [u8; 256] = words_table(
    Instructions::INGRESS_TIMESTAMP.0 | Instructions::EGRESS_TIMESTAMP.0 | Instructions::LEVEL2_INTERFACES.0,
    8,
);
const LOW_WORDS: [u8; 256] = words_table(0, 0);

const fn words_table(eight_bytes: u16, shift: u32) -> [u8; 256] {
    let mut table = [0; 256];
    let mut bits: u16 = 0;
    while bits < 256 {
        let mask = bits << shift;
        let [words, ..] = (mask.count_ones() + (mask & eight_bytes).count_ones()).to_le_bytes();
        table[bits as usize] = words;
        bits += 1;
    }
    table
}

impl BitOr for Instructions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Instructions {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests;
