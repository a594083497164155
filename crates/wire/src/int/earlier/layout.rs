//! The layout of a hop's metadata in versions before 2.0.

use crate::int::dialect::{Deviation, Deviations};
use crate::int::version::Version;
use crate::words::Words;

/// The metadata that the bits of an instruction bitmap ask for.
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
/// The bits without an entry are reserved.
// int-2016/md-02
// int-0.5/md-02, int-1.0/md-02
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// INT 1.0.
    V1_0,
    /// INT 0.5 and Host-INT.
    V0_5,
    /// INT 2016: the first bit of every word marks the last word of the stack.
    V2016,
}

/// The layout of a hop's metadata: what the instruction bits ask for, and its length.
///
/// Every bit asks for 4 bytes, bit 6 of 1.0 for 8, except where a dialect differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    instructions: InstructionSet,
    timestamp_words: u8,
    level2_words: u8,
}

impl Layout {
    /// INT 1.0 without deviations.
    pub const V1_0: Self = Self::plain(InstructionSet::V1_0);
    /// INT 0.5 and Host-INT without deviations.
    pub const V0_5: Self = Self::plain(InstructionSet::V0_5);
    /// INT 2016.
    pub const V2016: Self = Self::plain(InstructionSet::V2016);

    const fn plain(instructions: InstructionSet) -> Self {
        Self { instructions, timestamp_words: 1, level2_words: 2 }
    }

    /// The layout of a version without deviations; `None` for 2.1, which has its own reader.
    #[must_use]
    pub const fn of(version: Version) -> Option<Self> {
        Self::of_dialect(version, Deviations::NONE)
    }

    /// The layout of a version with `deviations`; `None` for 2.1.
    #[must_use]
    pub const fn of_dialect(version: Version, deviations: Deviations) -> Option<Self> {
        let plain = match version {
            Version::V1_0 => Self::V1_0,
            Version::V0_5 | Version::HostInt0_5 => Self::V0_5,
            Version::V2016 => Self::V2016,
            Version::V2_1 => return None,
        };
        let timestamp_words = if deviations.contains(Deviation::WideTimestamps) { 2 } else { 1 };
        let level2_words = if deviations.contains(Deviation::ShortLevel2Ports) { 1 } else { 2 };
        Some(Self { timestamp_words, level2_words, ..plain })
    }

    /// The instruction set.
    #[must_use]
    pub const fn instructions(self) -> InstructionSet {
        self.instructions
    }

    /// Whether timestamps have 64 bits.
    pub(super) const fn has_wide_timestamps(self) -> bool {
        self.timestamp_words == 2
    }

    /// Whether both level 2 ports share one word.
    pub(super) const fn has_short_level2_ports(self) -> bool {
        self.level2_words == 1
    }

    /// Length of the metadata each hop adds for `bitmap`, 0 to 18 words.
    // int-0.5/md-03, int-1.0/md-03
    #[must_use]
    pub fn hop_words(self, bitmap: u16) -> Words {
        // Counting bit by bit would take longer than the rest of reading a header.
        let count = |mask: u16| (bitmap & mask).count_ones();
        let more = match self.instructions {
            InstructionSet::V1_0 => {
                count(TIMESTAMPS) * u32::from(self.timestamp_words - 1)
                    + count(LEVEL2_PORTS) * u32::from(self.level2_words - 1)
            }
            InstructionSet::V0_5 => count(TIMESTAMPS) * u32::from(self.timestamp_words - 1),
            InstructionSet::V2016 => 0,
        };
        Words::new((bitmap.count_ones() + more).to_le_bytes()[0])
    }

    /// The undefined instruction bits.
    #[must_use]
    pub const fn reserved(self) -> u16 {
        match self.instructions {
            InstructionSet::V1_0 => 0x00fe,
            InstructionSet::V0_5 | InstructionSet::V2016 => 0x00ff,
        }
    }
}

/// Instruction bits 4 and 5 of 1.0 and 0.5.
pub(in crate::int) const TIMESTAMPS: u16 = 0x0c00;
/// Instruction bit 6 of 1.0.
pub(in crate::int) const LEVEL2_PORTS: u16 = 0x0200;

#[cfg(test)]
mod tests;
