//! TCP headers.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed part of the TCP header, 20 bytes; options follow up to the data offset.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          Source Port          |       Destination Port        |
/// |                        Sequence Number                        |
/// |                    Acknowledgment Number                      |
/// +-------+-----------------------+-------------------------------+
/// |Offset |  Reserved and Flags   |            Window             |
/// |           Checksum            |        Urgent Pointer         |
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TcpHeader {
    /// Source port.
    pub source_port: U16,
    /// Destination port.
    pub destination_port: U16,
    /// Sequence number of the first payload byte.
    pub sequence: U32,
    /// Next sequence number expected from the peer.
    pub acknowledgment: U32,
    /// Data offset (4 bits), reserved bits and flags.
    pub offset_flags: U16,
    /// Receive window, unscaled.
    pub window: U16,
    /// Checksum over pseudo-header, header and payload.
    pub checksum: U16,
    /// Urgent pointer.
    pub urgent: U16,
}

/// IP protocol number of TCP.
pub const PROTOCOL: u8 = 6;
/// Length of the header without options, bytes.
pub const HEADER_BYTES: usize = size_of::<TcpHeader>();
/// Offset of the checksum in the header.
pub const CHECKSUM_OFFSET: usize = 16;

impl TcpHeader {
    /// Length of the header with options, bytes: 0 to 60; valid from 20.
    #[must_use]
    pub fn header_length(&self) -> usize {
        usize::from(self.offset_flags.get() >> 12) * 4
    }
}
