//! How a capture file is written, and its limits.

use super::bytes::ByteOrder;

/// How a capture file is written, so that a copy can be written the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Classic pcap: one link type, one time resolution.
    Pcap {
        /// Byte order of every header.
        order: ByteOrder,
        /// Unit of the fraction of a second.
        resolution: Resolution,
        /// Link type field as it stands in the file: link type and length of the frame check sequence.
        link: u32,
    },
    /// Blocks, sections and interfaces.
    Pcapng {
        /// Byte order of the first section.
        order: ByteOrder,
    },
}

/// Unit of the fraction of a second in a pcap file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// 10^-6 s.
    Microseconds,
    /// 10^-9 s.
    Nanoseconds,
}

impl Resolution {
    /// Nanoseconds of one unit.
    pub(super) fn unit_ns(self) -> u64 {
        match self {
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }
}

/// Largest packet a record may hold, bytes; the limit libpcap has.
pub const RECORD_LIMIT_BYTES: u32 = 262_144;

/// Largest pcapng block that is read, bytes.
pub const BLOCK_LIMIT_BYTES: u32 = 16 * 1024 * 1024;

/// Most interfaces one capture may describe.
pub const INTERFACE_LIMIT: usize = 65_536;
