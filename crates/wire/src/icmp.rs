//! ICMP and ICMPv6: path MTU messages and error types.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The header of an ICMP message about a packet that is too big, 8 bytes; the start of the packet follows.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |     Type      |     Code      |           Checksum            |
/// +---------------+---------------+-------------------------------+
/// |  0 (RFC 4884: no extensions)  |     Next-Hop MTU (RFC 1191)   |
/// +-------------------------------+-------------------------------+
/// ```
///
/// ICMPv6 has a 32-bit MTU; its upper half is zero here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PacketTooBig {
    kind: u8,
    code: u8,
    /// Checksum of the message; in ICMPv6 it includes the pseudo-header.
    pub checksum: U16,
    unused: U16,
    mtu: U16,
}

/// IP protocol number of ICMP.
pub const PROTOCOL: u8 = 1;
/// IP protocol number of ICMPv6.
pub const V6_PROTOCOL: u8 = 58;
/// Length of the header, bytes.
pub const HEADER_BYTES: usize = size_of::<PacketTooBig>();

impl PacketTooBig {
    /// ICMP "destination unreachable, fragmentation needed and DF set" (RFC 792, RFC 1191), checksum zero.
    #[must_use]
    pub const fn v4(mtu: u16) -> Self {
        Self { kind: 3, code: 4, checksum: U16::ZERO, unused: U16::ZERO, mtu: U16::new(mtu) }
    }

    /// ICMPv6 "packet too big" (RFC 4443), checksum zero.
    #[must_use]
    pub const fn v6(mtu: u16) -> Self {
        Self { kind: 2, code: 0, checksum: U16::ZERO, unused: U16::ZERO, mtu: U16::new(mtu) }
    }

    /// The MTU of the next hop, bytes.
    #[must_use]
    pub const fn mtu(&self) -> u16 {
        self.mtu.get()
    }
}

/// Whether a packet of IP protocol `protocol` whose payload starts with `first` may be an ICMP error message,
/// which must not be answered with another; a packet truncated before its type counts as one.
#[must_use]
pub const fn may_be_error(protocol: u8, first: Option<u8>) -> bool {
    match (protocol, first) {
        // RFC 1812, section 4.3.2.7 with RFC 792: unreachable, quench, redirect, exceeded, parameter problem.
        (PROTOCOL, Some(kind)) => matches!(kind, 3 | 4 | 5 | 11 | 12),
        // RFC 4443, section 2.4 (e): errors are below 128; 137 is a redirect.
        (V6_PROTOCOL, Some(kind)) => kind < 128 || kind == 137,
        (PROTOCOL | V6_PROTOCOL, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
