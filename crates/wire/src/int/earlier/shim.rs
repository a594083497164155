//! The 4-byte shim of the versions before 2.0.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::int::location::HeaderType;
use crate::words::Words;

/// The INT shim header of the versions before 2.0, 4 bytes; its Length counts the shim itself.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+---------------+-----------+---+
/// |     Type      |   Reserved    |    Length     |   DSCP    |R R|  1.0, TCP and UDP
/// +---------------+---------------+---------------+-----------+---+
/// |     Type      |   Reserved    |    Length     |   Reserved    |  0.5 and Host-INT, TCP and UDP
/// +---------------+---------------+---------------+---------------+
/// |     Type      |   Reserved    |    Length     | Next Protocol |  all, VXLAN-GPE
/// +---------------+---------------+---------------+---------------+
/// ```
// int-2016/vxlan-03, host-int-0.5/packet-05
// int-0.5/l4-01, int-1.0/l4-01
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Shim {
    kind: u8,
    reserved: u8,
    length: u8,
    field: u8,
}

/// Length of a shim, bytes.
pub const SHIM_BYTES: usize = size_of::<Shim>();
/// The type of Host-INT's header with a sequence number.
pub const HOST_INT: u8 = 3;

impl Shim {
    /// Creates the shim of 1.0 after TCP or UDP; `dscp` is the original one, 0 to 63.
    #[must_use]
    pub const fn with_dscp(kind: u8, length: Words, dscp: u8) -> Self {
        Self::new(kind, length, (dscp & 0x3f) << 2)
    }

    /// Creates the shim of 0.5 or Host-INT after TCP or UDP; the tail keeps the original values.
    #[must_use]
    pub const fn with_tail(kind: u8, length: Words) -> Self {
        Self::new(kind, length, 0)
    }

    /// Creates the shim after a VXLAN-GPE header.
    #[must_use]
    pub const fn vxlan_gpe(kind: u8, length: Words, next_protocol: u8) -> Self {
        Self::new(kind, length, next_protocol)
    }

    const fn new(kind: u8, length: Words, field: u8) -> Self {
        Self { kind, reserved: 0, length: length.count(), field }
    }

    /// The INT header type, 8 bits: 1 hop-by-hop, 2 destination, 3 Host-INT.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        self.kind
    }

    /// Sets the INT header type.
    pub const fn set_kind(&mut self, kind: u8) {
        self.kind = kind;
    }

    /// The type of the INT header; `None` for an undefined value.
    #[must_use]
    pub const fn header_type(&self) -> Option<HeaderType> {
        match self.kind {
            1 | HOST_INT => Some(HeaderType::Md),
            2 => Some(HeaderType::Destination),
            _ => None,
        }
    }

    /// Length of the shim and the INT that follows: header, stack, sequence number, tail.
    #[must_use]
    pub const fn length(&self) -> Words {
        Words::new(self.length)
    }

    /// Sets the length of the shim and the INT that follows.
    pub const fn set_length(&mut self, length: Words) {
        self.length = length.count();
    }

    /// The original DSCP of a shim of 1.0 after TCP or UDP, 0 to 63.
    #[must_use]
    pub const fn original_dscp(&self) -> u8 {
        self.field >> 2
    }

    /// Next Protocol of a VXLAN-GPE shim.
    #[must_use]
    pub const fn next_protocol(&self) -> u8 {
        self.field
    }

    /// Sets Next Protocol of a VXLAN-GPE shim.
    pub const fn set_next_protocol(&mut self, next_protocol: u8) {
        self.field = next_protocol;
    }
}

#[cfg(test)]
mod tests;
