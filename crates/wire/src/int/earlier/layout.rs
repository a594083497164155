//! How long is the metadata that one hop of a version before 2.0 adds?

use crate::int::domain::set_bits;
use crate::int::version::Version;
use crate::words::Words;

/// How the metadata of a hop is laid out, by the bits of the instruction bitmap.
///
/// ```text
///  bit  1.0                         0.5                          2016, one bit and 31 bits
///    0  switch id                   switch id                    switch id
///    1  ports 16+16                 ports 16+16                  ingress port
///    2  hop latency                 hop latency                  hop latency
///    3  queue id 8, occupancy 24    queue id 8, occupancy 24     queue occupancy
///    4  ingress timestamp           ingress timestamp            ingress timestamp
///    5  egress timestamp            egress timestamp             egress port
///    6  level 2 ports 32+32         queue id 8, congestion 24    queue congestion
///    7  egress utilization          egress utilization           egress utilization
///   15  checksum complement
/// ```
///
/// Every bit asks for 4 bytes, bit 6 of 1.0 for 8; the bits without an entry are reserved.
// int-2016/md-02
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// INT 1.0.
    V1_0,
    /// INT 0.5 and Host-INT.
    V0_5,
    /// INT 2016: the first bit of every word says whether it is the last of the stack.
    V2016,
}

impl Layout {
    /// The layout of a version; `None` for 2.1, whose hops are read elsewhere.
    #[must_use]
    pub const fn of(version: Version) -> Option<Self> {
        match version {
            Version::V1_0 => Some(Self::V1_0),
            Version::V0_5 | Version::HostInt0_5 => Some(Self::V0_5),
            Version::V2016 => Some(Self::V2016),
            Version::V2_1 => None,
        }
    }

    /// Length of the metadata each hop adds for `bitmap`, 0 to 17 words.
    #[must_use]
    pub fn hop_words(self, bitmap: u16) -> Words {
        Words::new(set_bits(bitmap).map(|bit| self.bit_words(bit)).sum())
    }

    /// Words that instruction bit `bit` asks for, 0 being the most significant.
    pub(super) const fn bit_words(self, bit: usize) -> u8 {
        match (self, bit) {
            (Self::V1_0, 6) => 2,
            _ => 1,
        }
    }

    /// The instruction bits without a meaning.
    #[must_use]
    pub const fn reserved(self) -> u16 {
        match self {
            Self::V1_0 => 0x00fe,
            Self::V0_5 | Self::V2016 => 0x00ff,
        }
    }
}

#[cfg(test)]
mod tests;
