//! UDP headers.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The UDP header, 8 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          Source Port          |       Destination Port        |
/// |            Length             |           Checksum            |
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct UdpHeader {
    /// Source port.
    pub source_port: U16,
    /// Destination port.
    pub destination_port: U16,
    /// Length of header and payload, bytes.
    pub length: U16,
    /// Checksum over pseudo-header, header and payload; 0: none.
    pub checksum: U16,
}

/// IP protocol number of UDP.
pub const PROTOCOL: u8 = 17;
/// Length of the header, bytes.
pub const HEADER_BYTES: usize = size_of::<UdpHeader>();
/// Offset of the checksum in the header.
pub const CHECKSUM_OFFSET: usize = 6;
