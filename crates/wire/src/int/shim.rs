//! The 4-byte shim before an INT header, in each encapsulation.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::words::Words;

/// The INT shim header, 4 bytes; the last 16 bits depend on the encapsulation.
///
/// Reserved bits are written as zero and ignored when read.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+---+---+---------------+-------------------------------+
/// | Type  |NPT|R R|    Length     |  UDP port, IP Proto, or DSCP  |  TCP and UDP
/// +-------+-+-----+---------------+-------------------------------+
/// | Type  |G| Rsvd|    Length     |         Next Protocol         |  GRE
/// +-------+-+-----+---------------+-+-------------+---------------+
/// | Type  | Rsvd  |    Length     |G|  Reserved   | Next Protocol |  VXLAN-GPE
/// +-------+-------+---------------+-+-------------+---------------+
/// ```
// int-2.1/l4-31, int-2.1/l4-33, int-2.1/l4-34, int-2.1/gre-08, int-2.1/gre-09, int-2.1/vxlan-05
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Shim {
    type_flags: u8,
    length: u8,
    field: U16,
}

/// Length of a shim, bytes.
pub const SHIM_BYTES: usize = size_of::<Shim>();

/// What follows the INT headers after a TCP or UDP shim (Next Protocol Type).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextProtocolType {
    /// 0: the payload; INT is marked by DSCP or a probe marker.
    Payload,
    /// 1: the UDP payload; the shim keeps the original destination port.
    UdpPayload,
    /// 2: another header; the shim keeps its IP protocol number.
    L4Header,
    /// 3: not defined.
    Undefined,
}

impl Shim {
    /// Creates the shim of INT after an unchanged TCP or UDP header; `dscp` is the original one, 0 to 63.
    #[must_use]
    pub fn payload(kind: u8, length: Words, dscp: u8) -> Self {
        Self::new(kind, 0, length, u16::from(dscp & 0x3f) << 2)
    }

    /// Creates the shim of INT after a UDP header whose destination port was `port`.
    #[must_use]
    pub fn udp_payload(kind: u8, length: Words, port: u16) -> Self {
        Self::new(kind, 1 << 2, length, port)
    }

    /// Creates the shim of INT after a new UDP header before IP protocol `protocol`.
    #[must_use]
    pub fn l4_header(kind: u8, length: Words, protocol: u8) -> Self {
        Self::new(kind, 2 << 2, length, u16::from(protocol))
    }

    /// Creates the shim of INT after a GRE header; `added`: by the source, `ethertype`: of what follows.
    #[must_use]
    pub fn gre(kind: u8, length: Words, added: bool, ethertype: u16) -> Self {
        Self::new(kind, if added { 0x08 } else { 0 }, length, ethertype)
    }

    /// Creates the shim of INT after a VXLAN-GPE header; `was_vxlan`: the original was VXLAN without GPE.
    #[must_use]
    pub fn vxlan_gpe(kind: u8, length: Words, was_vxlan: bool, next_protocol: u8) -> Self {
        let g = if was_vxlan { 0x8000 } else { 0 };
        Self::new(kind, 0, length, g | u16::from(next_protocol))
    }

    fn new(kind: u8, flags: u8, length: Words, field: u16) -> Self {
        Self { type_flags: kind << 4 | flags, length: length.count(), field: U16::new(field) }
    }

    /// The INT header type, 4 bits: 1 MD, 2 destination, 3 MX.
    // int-2.1/l4-26
    #[inline]
    #[must_use]
    pub const fn header_type(&self) -> u8 {
        self.type_flags >> 4
    }

    /// Next Protocol Type of a TCP or UDP shim.
    #[inline]
    #[must_use]
    pub const fn next_protocol_type(&self) -> NextProtocolType {
        match self.type_flags >> 2 & 0x03 {
            0 => NextProtocolType::Payload,
            1 => NextProtocolType::UdpPayload,
            2 => NextProtocolType::L4Header,
            _ => NextProtocolType::Undefined,
        }
    }

    /// Length of what follows the shim: INT header and stack.
    // int-2.1/l4-29, int-2.1/gre-10, int-2.1/vxlan-06
    #[inline]
    #[must_use]
    pub const fn length(&self) -> Words {
        Words::new(self.length)
    }

    /// Sets the length of what follows the shim.
    #[inline]
    pub const fn set_length(&mut self, length: Words) {
        self.length = length.count();
    }

    /// The original DSCP of a TCP or UDP shim with NPT 0, 0 to 63.
    #[must_use]
    pub fn original_dscp(&self) -> u8 {
        (self.field.get() >> 2 & 0x3f) as u8
    }

    /// The original UDP destination port of a shim with NPT 1.
    #[must_use]
    pub fn original_udp_port(&self) -> u16 {
        self.field.get()
    }

    /// The original IP protocol of a shim with NPT 2.
    #[must_use]
    pub fn original_ip_protocol(&self) -> u8 {
        (self.field.get() & 0xff) as u8
    }

    /// Whether the source added the GRE header (G bit of a GRE shim).
    #[must_use]
    pub const fn gre_added(&self) -> bool {
        self.type_flags & 0x08 != 0
    }

    /// EtherType of what follows a GRE shim.
    #[must_use]
    pub fn ethertype(&self) -> u16 {
        self.field.get()
    }

    /// Whether the original packet was VXLAN without GPE (G bit of a VXLAN-GPE shim).
    #[must_use]
    pub fn was_vxlan(&self) -> bool {
        self.field.get() & 0x8000 != 0
    }

    /// Next Protocol of a VXLAN-GPE shim.
    #[must_use]
    pub fn next_protocol(&self) -> u8 {
        (self.field.get() & 0xff) as u8
    }

    /// Whether every reserved bit of a TCP or UDP shim with NPT 0 is zero.
    #[must_use]
    pub fn reserved_is_zero(&self) -> bool {
        self.reserved_flags_are_zero() && self.field.get() & 0xff03 == 0
    }

    /// Whether the reserved bits beside NPT are zero, in a TCP or UDP shim.
    #[must_use]
    pub const fn reserved_flags_are_zero(&self) -> bool {
        self.type_flags & 0x03 == 0
    }
}

#[cfg(test)]
mod tests;
