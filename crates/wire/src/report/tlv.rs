//! Inner contents of a report in TLV form.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::layers::Link;
use crate::view::view;
use crate::words::Words;

/// The first word of a TLV, 4 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+---------------+-------------------------------+
/// |TLVType| Rsvd  |   TLVLength   |       TLV Data Template       |
/// +-------+-------+---------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TlvHeader {
    kind: u8,
    length: u8,
    template: U16,
}

// report-2.0/tlv-02
/// TLVType: what the data are. The numbers are not those of InType.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlvType {
    /// 0: domain-specific extension data.
    DomainExtension,
    /// 1: a packet from its Ethernet header on.
    Ethernet,
    /// 2: a packet from its IPv4 header on.
    Ipv4,
    /// 3: a packet from its IPv6 header on.
    Ipv6,
    /// A reserved value.
    Unknown(u8),
}

impl TlvHeader {
    /// Creates the first word of a TLV with `length` words of data.
    #[must_use]
    pub fn new(tlv_type: TlvType, length: Words, template: u16) -> Self {
        Self { kind: tlv_type.code() << 4, length: length.count(), template: U16::new(template) }
    }
}

impl TlvType {
    /// The value on the wire, 4 bits.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::DomainExtension => 0,
            Self::Ethernet => 1,
            Self::Ipv4 => 2,
            Self::Ipv6 => 3,
            Self::Unknown(code) => code & 0x0f,
        }
    }
}

/// One TLV, in place.
#[derive(Clone, Copy, Debug)]
pub struct Tlv<'a> {
    /// What the data are.
    pub tlv_type: TlvType,
    // report-2.0/tlv-04
    /// Template of domain-specific extension data; zero for packets.
    pub template: u16,
    /// The data.
    pub data: &'a [u8],
    /// Offset of the data in the inner contents.
    pub data_at: usize,
}

impl<'a> Tlv<'a> {
    /// The packet in this TLV, with its link type.
    #[must_use]
    pub const fn packet(&self) -> Option<(Link, &'a [u8])> {
        match self.tlv_type {
            TlvType::Ethernet => Some((Link::Ethernet, self.data)),
            TlvType::Ipv4 | TlvType::Ipv6 => Some((Link::Ip, self.data)),
            TlvType::DomainExtension | TlvType::Unknown(_) => None,
        }
    }
}

/// The TLVs of inner contents, in order.
#[derive(Clone, Debug)]
pub struct Tlvs<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tlvs<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn parse(&self) -> Result<(Tlv<'a>, usize), ParseError> {
        let header: &TlvHeader = view(self.bytes, self.at, Header::Tlv)?;
        let data_at = self.at + size_of::<TlvHeader>();
        // report-2.0/tlv-01, report-2.0/tlv-03
        let end = data_at + Words::new(header.length).bytes();
        let Some(data) = self.bytes.get(data_at..end) else {
            let (found, most) = (usize::from(header.length), (self.bytes.len() - data_at) / 4);
            let kind = ErrorKind::TooLarge { field: "TLVLength", found, most };
            return Err(ParseError::new(self.at, Header::Tlv, kind));
        };
        let tlv_type = match header.kind >> 4 {
            0 => TlvType::DomainExtension,
            1 => TlvType::Ethernet,
            2 => TlvType::Ipv4,
            3 => TlvType::Ipv6,
            other => TlvType::Unknown(other),
        };
        Ok((Tlv { tlv_type, template: header.template.get(), data, data_at }, end))
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Result<Tlv<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let parsed = self.parse();
        self.at = parsed.as_ref().map_or(self.bytes.len(), |(_, end)| *end);
        Some(parsed.map(|(tlv, _)| tlv))
    }
}

#[cfg(test)]
mod tests;
