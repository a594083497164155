//! The format of a capture file, and its limits.

use super::bytes::ByteOrder;

/// The format of a capture file, so that a copy can be written in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Classic pcap: one link type, one time resolution.
    Pcap {
        /// Byte order of every header.
        order: ByteOrder,
        /// Unit of the fraction of a second.
        resolution: Resolution,
        /// Link type field of the file: link type and length of the frame check sequence.
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

/// Maximum length of a packet in a record, bytes; same as libpcap's.
pub const RECORD_LIMIT_BYTES: u32 = 262_144;

/// Maximum length of a pcapng block, bytes.
pub const BLOCK_LIMIT_BYTES: u32 = 16 * 1024 * 1024;

/// Maximum number of interfaces in one capture.
pub const INTERFACE_LIMIT: usize = 65_536;
