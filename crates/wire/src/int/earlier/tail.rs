//! The tail after a metadata stack of 0.5.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The INT tail header of 0.5 and Host-INT after TCP or UDP, 4 bytes: the packet's original values.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-------------------------------+---------------+
/// |     Proto     |       Destination Port        | DSCP, Reserved|
/// +---------------+-------------------------------+---------------+
/// ```
// host-int-0.5/packet-07
// int-0.5/l4-02
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Tail {
    /// IP protocol; 0 in Host-INT after an unchanged L4 header.
    pub protocol: u8,
    destination_port: U16,
    dscp: u8,
}

/// Length of the tail, bytes.
pub const TAIL_BYTES: usize = size_of::<Tail>();

impl Tail {
    /// Creates a tail; `dscp` is a plain number, 0 to 63.
    #[must_use]
    pub fn new(protocol: u8, destination_port: u16, dscp: u8) -> Self {
        Self { protocol, destination_port: U16::new(destination_port), dscp: dscp & 0x3f }
    }

    /// The L4 destination port.
    #[must_use]
    pub fn destination_port(&self) -> u16 {
        self.destination_port.get()
    }

    /// The DSCP, 0 to 63; `None` when the byte exceeds 63.
    ///
    /// The specification gives it a whole byte; implementations write the DSCP there unshifted.
    #[must_use]
    pub const fn dscp(&self) -> Option<u8> {
        if self.dscp <= 0x3f { Some(self.dscp) } else { None }
    }
}

#[cfg(test)]
mod tests;
