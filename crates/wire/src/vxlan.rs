//! VXLAN and VXLAN-GPE headers.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::checksum::Sum;

/// The VXLAN header of RFC 7348 with the Next Protocol of the GPE draft, 8 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+---+-+-+-+-+-------------------------------+---------------+
/// |R|R|Ver|I|P|B|O|           Reserved            | Next Protocol |
/// |                     VNI                       |   Reserved    |
/// +-----------------------------------------------+---------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct VxlanHeader {
    flags: u8,
    reserved: [u8; 2],
    next_protocol: u8,
    vni: [u8; 3],
    reserved_tail: u8,
}

/// UDP port of VXLAN.
pub const PORT: u16 = 4789;
/// UDP port of VXLAN by Linux's default, from before the registration.
pub const LINUX_PORT: u16 = 8472;
/// UDP port of VXLAN-GPE.
pub const GPE_PORT: u16 = 4790;
/// Length of the header, bytes.
pub const HEADER_BYTES: usize = size_of::<VxlanHeader>();
/// Next Protocol: IPv4.
pub const NEXT_IPV4: u8 = 1;
/// Next Protocol: IPv6.
pub const NEXT_IPV6: u8 = 2;
/// Next Protocol: Ethernet.
pub const NEXT_ETHERNET: u8 = 3;

const NEXT_PROTOCOL_FLAG: u8 = 0x04;
const MISPLACED_FLAGS: u8 = 0x18;

impl VxlanHeader {
    /// Sets the Next Protocol and the P bit that announces it.
    // int-2.1/vxlan-01
    pub const fn set_next_protocol(&mut self, next_protocol: u8) {
        self.flags |= NEXT_PROTOCOL_FLAG;
        self.next_protocol = next_protocol;
    }

    /// Clears Next Protocol and the P bit, as in VXLAN without GPE.
    pub const fn clear_next_protocol(&mut self) {
        self.flags &= !NEXT_PROTOCOL_FLAG;
        self.next_protocol = 0;
    }

    /// Whether the first word is that of VXLAN without extensions: only the I bit is set.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        matches!((self.flags, self.reserved, self.next_protocol), (0x08, [0, 0], 0))
    }

    /// The header's sum, for a checksum that covers it.
    #[must_use]
    pub fn sum(&self) -> Sum {
        Sum::of(self.as_bytes())
    }

    /// The Next Protocol; `None` when the P bit is clear.
    // int-2016/vxlan-01
    #[must_use]
    pub const fn next_protocol(&self) -> Option<u8> {
        // int-2.1/vxlan-01: the P bit announces the Next Protocol field.
        if self.flags & NEXT_PROTOCOL_FLAG != 0 { Some(self.next_protocol) } else { None }
    }

    /// The Next Protocol of a header with flags 0x18, which some nodes write instead of the I and P bits.
    #[must_use]
    pub const fn unannounced_next_protocol(&self) -> Option<u8> {
        if self.flags == MISPLACED_FLAGS { Some(self.next_protocol) } else { None }
    }

    /// VXLAN network identifier, 24 bits.
    #[must_use]
    pub fn vni(&self) -> u32 {
        let [high, middle, low] = self.vni;
        u32::from_be_bytes([0, high, middle, low])
    }
}

#[cfg(test)]
mod tests;
