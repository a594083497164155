//! The headers of one IP packet.

use core::net::IpAddr;

use crate::error::{ErrorKind, Header, ParseError};
use crate::flow::FiveTuple;
use crate::ipv4::Ipv4Header;
use crate::ipv6::Ipv6Header;
use crate::tcp::TcpHeader;
use crate::udp::UdpHeader;
use crate::view::{short, view};
use crate::{ethernet, ipv4, ipv6, tcp, udp};

/// The first header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// An Ethernet header.
    Ethernet,
    /// An IPv4 or IPv6 header.
    Ip,
}

/// How complete the bytes must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// Every length field must stay within the bytes.
    Whole,
    /// The bytes may be the beginning of a longer packet, as in a report or a capture with a snap length.
    Truncated,
}

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Whether a packet is a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// The packet is whole.
    Whole,
    /// The first fragment; it holds the transport header.
    First,
    /// A later fragment; it has no transport header.
    Later,
}

/// The transport header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP with its header length including options, 20 to 60 bytes.
    Tcp {
        /// Bytes of header and options.
        header_length: usize,
    },
    /// UDP.
    Udp,
    /// Another protocol, or a later fragment.
    Other,
}

/// The offsets of one IP packet's headers within a frame.
///
/// The fixed headers they point to are inside the frame; with [`Strictness::Truncated`] what follows may be
/// cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Offset of the IP header.
    pub l3: usize,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Offset of the byte that names the protocol of [`Layers::l4`].
    pub protocol_at: usize,
    /// IP protocol number of what starts at [`Layers::l4`].
    pub protocol: u8,
    /// Offset of the first byte after IP header, options and extension headers.
    pub l4: usize,
    /// Offset of the packet's end by its own IP length; past the frame's end when the packet is truncated.
    pub end: usize,
    /// Whether the packet is a fragment.
    pub fragment: Fragment,
    /// The transport header at [`Layers::l4`].
    pub transport: Transport,
}

impl Layers {
    /// Finds the headers of the packet in `bytes`; `None` when it is not IP.
    ///
    /// # Errors
    /// The first header that is truncated, has an impossible length, or (with [`Strictness::Whole`]) reaches
    /// past the bytes.
    #[inline]
    pub fn parse(link: Link, bytes: &[u8], strictness: Strictness) -> Result<Option<Self>, ParseError> {
        Self::parse_at(link, bytes, 0, strictness)
    }

    /// Like [`Layers::parse`] for a packet that starts at byte `at`.
    ///
    /// # Errors
    /// See [`Layers::parse`].
    #[inline]
    pub fn parse_at(
        link: Link,
        bytes: &[u8],
        at: usize,
        strictness: Strictness,
    ) -> Result<Option<Self>, ParseError> {
        match Self::ip_at(link, bytes, at, strictness)? {
            Some(layers) => layers.with_transport(bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Like [`Layers::parse`], but ignores what follows the IP headers: `transport` is `Other`.
    ///
    /// # Errors
    /// The first header, up to the IP headers, that is truncated or has an impossible length.
    pub fn parse_ip(link: Link, bytes: &[u8], strictness: Strictness) -> Result<Option<Self>, ParseError> {
        Self::ip_at(link, bytes, 0, strictness)
    }

    /// Like [`Layers::parse_ip`] for a packet that starts at byte `at`.
    #[inline]
    pub(crate) fn ip_at(
        link: Link,
        bytes: &[u8],
        at: usize,
        strictness: Strictness,
    ) -> Result<Option<Self>, ParseError> {
        let (ethertype, l3) = match link {
            Link::Ethernet => {
                let payload = ethernet::payload(bytes, at)?;
                (payload.ethertype, payload.at)
            }
            Link::Ip => match bytes.get(at).map(|first| first >> 4) {
                Some(4) => (ethernet::IPV4, at),
                Some(6) => (ethernet::IPV6, at),
                _ => return Ok(None),
            },
        };
        match ethertype {
            ethernet::IPV4 => Self::ipv4(bytes, l3, strictness).map(Some),
            ethernet::IPV6 => Self::ipv6(bytes, l3, strictness).map(Some),
            _ => Ok(None),
        }
    }

    #[inline]
    fn ipv4(bytes: &[u8], l3: usize, strictness: Strictness) -> Result<Self, ParseError> {
        let header: &Ipv4Header = view(bytes, l3, Header::Ipv4)?;
        let fault = |kind| Err(ParseError::new(l3, Header::Ipv4, kind));
        if header.version() != 4 {
            return fault(ErrorKind::Version { found: header.version(), expected: 4 });
        }
        let header_length = header.header_length();
        if header_length < ipv4::HEADER_BYTES {
            let found = header_length / 4;
            return fault(ErrorKind::TooSmall { field: "IHL", found, least: ipv4::HEADER_BYTES / 4 });
        }
        let total_length = usize::from(header.total_length());
        if total_length < header_length {
            return fault(ErrorKind::TooSmall {
                field: "Total Length",
                found: total_length,
                least: header_length,
            });
        }
        let left = bytes.len() - l3;
        if header_length > left || (strictness == Strictness::Whole && total_length > left) {
            return Err(short(l3, Header::Ipv4, total_length, left));
        }
        let fragment = fragment(header.fragment_offset(), header.more_fragments());
        Ok(Self {
            l3,
            ip: IpVersion::V4,
            protocol_at: l3 + ipv4::PROTOCOL_OFFSET,
            protocol: header.protocol,
            l4: l3 + header_length,
            end: l3 + total_length,
            fragment,
            transport: Transport::Other,
        })
    }

    fn ipv6(bytes: &[u8], l3: usize, strictness: Strictness) -> Result<Self, ParseError> {
        let header: &Ipv6Header = view(bytes, l3, Header::Ipv6)?;
        if header.version() != 6 {
            let kind = ErrorKind::Version { found: header.version(), expected: 6 };
            return Err(ParseError::new(l3, Header::Ipv6, kind));
        }
        let length = ipv6::HEADER_BYTES + usize::from(header.payload_length());
        let left = bytes.len() - l3;
        if strictness == Strictness::Whole && length > left {
            return Err(short(l3, Header::Ipv6, length, left));
        }
        let upper = ipv6::upper(bytes, l3, header.next_header)?;
        let end = l3 + length;
        if upper.at > end {
            return Err(short(l3, Header::Ipv6, upper.at - l3, length));
        }
        let fragment =
            upper.fragment.map_or(Fragment::Whole, |(offset, more_follow)| fragment(offset, more_follow));
        Ok(Self {
            l3,
            ip: IpVersion::V6,
            protocol_at: upper.protocol_at,
            protocol: upper.protocol,
            l4: upper.at,
            end,
            fragment,
            transport: Transport::Other,
        })
    }

    #[inline]
    fn with_transport(mut self, bytes: &[u8]) -> Result<Self, ParseError> {
        if self.fragment == Fragment::Later {
            return Ok(self);
        }
        self.transport = transport_at(bytes, self.l4, self.end, self.protocol)?;
        Ok(self)
    }

    /// Length of the IP packet by its own length field, bytes.
    #[inline]
    #[must_use]
    pub const fn ip_length(&self) -> usize {
        self.end - self.l3
    }

    /// The DSCP of the packet when it has been moved by `shift` bytes, 0 to 63.
    #[must_use]
    pub fn dscp_behind(&self, bytes: &[u8], shift: usize) -> u8 {
        Self { l3: self.l3 + shift, ..*self }.dscp(bytes)
    }

    /// The packet's DSCP, 0 to 63.
    #[inline]
    #[must_use]
    pub fn dscp(&self, bytes: &[u8]) -> u8 {
        match self.ip {
            IpVersion::V4 => bytes.get(self.l3 + 1).map_or(0, |class| class >> 2),
            IpVersion::V6 => {
                view::<Ipv6Header>(bytes, self.l3, Header::Ipv6).map_or(0, |header| header.dscp())
            }
        }
    }

    /// The packet's addresses, source first.
    #[inline]
    #[must_use]
    pub fn addresses(&self, bytes: &[u8]) -> (IpAddr, IpAddr) {
        match self.ip {
            IpVersion::V4 => {
                if let Ok(header) = view::<Ipv4Header>(bytes, self.l3, Header::Ipv4) {
                    return (IpAddr::V4(header.source()), IpAddr::V4(header.destination()));
                }
            }
            IpVersion::V6 => {
                if let Ok(header) = view::<Ipv6Header>(bytes, self.l3, Header::Ipv6) {
                    return (IpAddr::V6(header.source()), IpAddr::V6(header.destination()));
                }
            }
        }
        let none = FiveTuple::default();
        (none.source, none.destination)
    }

    /// The packet's five-tuple; ports are 0 for protocols other than TCP and UDP and in later fragments.
    #[inline]
    #[must_use]
    pub fn five_tuple(&self, bytes: &[u8]) -> FiveTuple {
        let (source, destination) = self.addresses(bytes);
        let (source_port, destination_port) = match self.transport {
            Transport::Other => (0, 0),
            Transport::Tcp { .. } | Transport::Udp => ports(bytes, self.l4),
        };
        FiveTuple { source, destination, protocol: self.protocol, source_port, destination_port }
    }

    /// The UDP header, if the packet has one.
    #[inline]
    #[must_use]
    pub fn udp<'a>(&self, bytes: &'a [u8]) -> Option<&'a UdpHeader> {
        match self.transport {
            Transport::Udp => view(bytes, self.l4, Header::Udp).ok(),
            Transport::Tcp { .. } | Transport::Other => None,
        }
    }

    /// The TCP header without its options, if the packet has one.
    #[inline]
    #[must_use]
    pub fn tcp<'a>(&self, bytes: &'a [u8]) -> Option<&'a TcpHeader> {
        match self.transport {
            Transport::Tcp { .. } => view(bytes, self.l4, Header::Tcp).ok(),
            Transport::Udp | Transport::Other => None,
        }
    }

    /// Offset of the L4 checksum field, if TCP or UDP has one.
    #[inline]
    #[must_use]
    pub const fn checksum_at(&self) -> Option<usize> {
        match self.transport {
            Transport::Tcp { .. } => Some(self.l4 + tcp::CHECKSUM_OFFSET),
            Transport::Udp => Some(self.l4 + udp::CHECKSUM_OFFSET),
            Transport::Other => None,
        }
    }
}

/// Reads source and destination port at byte `l4`; zeros when they are truncated.
#[inline]
#[must_use]
pub fn ports(bytes: &[u8], l4: usize) -> (u16, u16) {
    match bytes.get(l4..).and_then(<[u8]>::first_chunk::<4>) {
        Some([a, b, c, d]) => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
        None => (0, 0),
    }
}

/// Checks the transport header of `protocol` at byte `l4` of a packet that ends at `end`.
///
/// # Errors
/// A header that is truncated or has an impossible length. A UDP length past the packet's end is no error:
/// the fragment rules of the caller decide.
#[inline]
pub fn transport_at(bytes: &[u8], l4: usize, end: usize, protocol: u8) -> Result<Transport, ParseError> {
    match protocol {
        tcp::PROTOCOL => {
            let header: &TcpHeader = view(bytes, l4, Header::Tcp)?;
            let header_length = header.header_length();
            if header_length < tcp::HEADER_BYTES {
                let kind = ErrorKind::TooSmall { field: "data offset", found: header_length / 4, least: 5 };
                return Err(ParseError::new(l4, Header::Tcp, kind));
            }
            if l4 + header_length > end {
                return Err(short(l4, Header::Tcp, header_length, end.saturating_sub(l4)));
            }
            Ok(Transport::Tcp { header_length })
        }
        udp::PROTOCOL => {
            let header: &UdpHeader = view(bytes, l4, Header::Udp)?;
            let found = usize::from(header.length.get());
            if found < udp::HEADER_BYTES {
                let kind = ErrorKind::TooSmall { field: "Length", found, least: udp::HEADER_BYTES };
                return Err(ParseError::new(l4, Header::Udp, kind));
            }
            if l4 + udp::HEADER_BYTES > end {
                return Err(short(l4, Header::Udp, udp::HEADER_BYTES, end.saturating_sub(l4)));
            }
            Ok(Transport::Udp)
        }
        _ => Ok(Transport::Other),
    }
}

const fn fragment(offset: usize, more_follow: bool) -> Fragment {
    match (offset, more_follow) {
        (0, false) => Fragment::Whole,
        (0, true) => Fragment::First,
        _ => Fragment::Later,
    }
}

#[cfg(test)]
mod tests;
