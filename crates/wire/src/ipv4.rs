//! IPv4 headers.

use core::net::Ipv4Addr;

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::checksum::{Sum, corrected};

/// The fixed part of the IPv4 header, 20 bytes; options follow up to `IHL * 4`.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+-----------+---+-------------------------------+
/// |Version|  IHL  |   DSCP    |ECN|         Total Length          |
/// +-------+-------+-----------+---+-----+-------------------------+
/// |         Identification        |Flags|     Fragment Offset     |
/// +---------------+---------------+-----+-------------------------+
/// |      TTL      |   Protocol    |        Header Checksum        |
/// +---------------+---------------+-------------------------------+
/// |                        Source Address                         |
/// |                     Destination Address                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Ipv4Header {
    version_ihl: u8,
    traffic_class: u8,
    total_length: U16,
    /// Identification of the datagram for reassembly.
    pub identification: U16,
    flags_offset: U16,
    /// Time to live, hops.
    pub ttl: u8,
    /// Protocol number of the payload.
    pub protocol: u8,
    checksum: U16,
    source: [u8; 4],
    destination: [u8; 4],
}

/// Offset of the Protocol byte in the header.
pub const PROTOCOL_OFFSET: usize = 9;
/// IP protocol number of IPv4 inside IP.
pub const IN_IP: u8 = 4;
/// IP protocol number of IPv6 inside IP.
pub const IPV6_IN_IP: u8 = 41;
/// Length of the header without options, bytes.
pub const HEADER_BYTES: usize = size_of::<Ipv4Header>();

impl Ipv4Header {
    /// Creates a header without options, with DF set and a valid checksum.
    ///
    /// `total_length` is header plus payload, in bytes.
    #[must_use]
    pub fn new(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, total_length: u16) -> Self {
        let mut header = Self {
            version_ihl: 0x45,
            traffic_class: 0,
            total_length: U16::new(total_length),
            identification: U16::ZERO,
            flags_offset: U16::new(DONT_FRAGMENT),
            ttl: 64,
            protocol,
            checksum: U16::ZERO,
            source: source.octets(),
            destination: destination.octets(),
        };
        header.checksum = U16::new(Sum::of(header.as_bytes()).checksum());
        header
    }

    /// Creates the header of a packet that encapsulates the packet of `inner`: same addresses, traffic class,
    /// TTL, identification and DF, no options; `total_length` is header plus payload, in bytes.
    #[must_use]
    pub fn around(inner: &Self, protocol: u8, total_length: u16) -> Self {
        let mut header = Self {
            version_ihl: 0x45,
            total_length: U16::new(total_length),
            flags_offset: U16::new(inner.flags_offset.get() & DONT_FRAGMENT),
            protocol,
            checksum: U16::ZERO,
            ..*inner
        };
        header.checksum = U16::new(Sum::of(header.as_bytes()).checksum());
        header
    }

    /// The version field; 4.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_ihl >> 4
    }

    /// Length of the header with options, bytes: 0 to 60; valid from 20.
    #[must_use]
    pub const fn header_length(&self) -> usize {
        (self.version_ihl & 0x0f) as usize * 4
    }

    /// DSCP, 0 to 63.
    #[must_use]
    pub const fn dscp(&self) -> u8 {
        self.traffic_class >> 2
    }

    /// Length of header and payload, bytes.
    #[must_use]
    pub fn total_length(&self) -> u16 {
        self.total_length.get()
    }

    /// The header checksum, unverified.
    #[must_use]
    pub fn checksum(&self) -> u16 {
        self.checksum.get()
    }

    /// Whether more fragments of the datagram follow.
    #[must_use]
    pub fn more_fragments(&self) -> bool {
        self.flags_offset.get() & 0x2000 != 0
    }

    /// Whether routers may not fragment the packet.
    #[must_use]
    pub fn dont_fragment(&self) -> bool {
        self.flags_offset.get() & DONT_FRAGMENT != 0
    }

    /// Offset of this fragment in the datagram, bytes.
    #[must_use]
    pub fn fragment_offset(&self) -> usize {
        usize::from(self.flags_offset.get() & 0x1fff) * 8
    }

    /// Source address.
    #[must_use]
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.source)
    }

    /// Destination address.
    #[must_use]
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.destination)
    }

    /// Sets the DSCP, keeps ECN, and corrects the checksum.
    #[inline]
    pub fn set_dscp(&mut self, dscp: u8) {
        let old = self.first_word();
        self.traffic_class = (dscp << 2) | (self.traffic_class & 0x03);
        self.correct(old, self.first_word());
    }

    /// Sets the length of header and payload in bytes and corrects the checksum.
    #[inline]
    pub fn set_total_length(&mut self, total_length: u16) {
        let old = Sum::word(self.total_length());
        self.total_length = U16::new(total_length);
        self.correct(old, Sum::word(total_length));
    }

    /// Sets the protocol of the payload and corrects the checksum.
    #[inline]
    pub fn set_protocol(&mut self, protocol: u8) {
        let word = |protocol| Sum::word(u16::from_be_bytes([self.ttl, protocol]));
        let (old, new) = (word(self.protocol), word(protocol));
        self.protocol = protocol;
        self.correct(old, new);
    }

    fn first_word(&self) -> Sum {
        Sum::word(u16::from_be_bytes([self.version_ihl, self.traffic_class]))
    }

    #[inline]
    fn correct(&mut self, removed: Sum, added: Sum) {
        self.checksum = U16::new(corrected(self.checksum.get(), removed, added));
    }
}

const DONT_FRAGMENT: u16 = 0x4000;

#[cfg(test)]
mod tests;
