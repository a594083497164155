//! IPv6 headers and extension headers.

use core::net::Ipv6Addr;

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::{short, view};

/// The IPv6 header, 40 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+---------------+---------------------------------------+
/// |Version| Traffic Class |              Flow Label               |
/// +-------+---------------+-------+---------------+---------------+
/// |        Payload Length         |  Next Header  |   Hop Limit   |
/// +-------------------------------+---------------+---------------+
/// |                   Source Address (128 bits)                   |
/// |                 Destination Address (128 bits)                |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Ipv6Header {
    version_class_label: U32,
    payload_length: U16,
    /// Protocol number of the first extension header or of the payload.
    pub next_header: u8,
    /// Hop limit, hops.
    pub hop_limit: u8,
    source: [u8; 16],
    destination: [u8; 16],
}

/// Length of the header, bytes.
pub const HEADER_BYTES: usize = size_of::<Ipv6Header>();
/// Offset of the Next Header byte in the header.
pub const NEXT_HEADER_OFFSET: usize = 6;

impl Ipv6Header {
    /// Creates a header; `payload_length` is extension headers plus payload, in bytes.
    #[must_use]
    pub fn new(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, payload_length: u16) -> Self {
        Self {
            version_class_label: U32::new(6 << 28),
            payload_length: U16::new(payload_length),
            next_header,
            hop_limit: 64,
            source: source.octets(),
            destination: destination.octets(),
        }
    }

    /// Creates the header of a packet that encapsulates the packet of `inner`: same addresses, traffic class,
    /// flow label and hop limit; `payload_length` is in bytes.
    #[must_use]
    pub fn around(inner: &Self, next_header: u8, payload_length: u16) -> Self {
        Self { payload_length: U16::new(payload_length), next_header, ..*inner }
    }

    /// The version field; 6.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_class_label.to_bytes()[0] >> 4
    }

    /// DSCP, 0 to 63.
    #[must_use]
    pub fn dscp(&self) -> u8 {
        (self.version_class_label.get() >> 22 & 0x3f) as u8
    }

    /// Sets the DSCP and keeps ECN.
    pub fn set_dscp(&mut self, dscp: u8) {
        let rest = self.version_class_label.get() & !(0x3f << 22);
        self.version_class_label = U32::new(rest | u32::from(dscp & 0x3f) << 22);
    }

    /// Length of extension headers and payload, bytes; 0 in a jumbogram.
    #[must_use]
    pub fn payload_length(&self) -> u16 {
        self.payload_length.get()
    }

    /// Sets the length of extension headers and payload, bytes.
    pub fn set_payload_length(&mut self, payload_length: u16) {
        self.payload_length = U16::new(payload_length);
    }

    /// Source address.
    #[must_use]
    pub fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.source)
    }

    /// Destination address.
    #[must_use]
    pub fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.destination)
    }
}

/// What follows the extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upper {
    /// Protocol number of the upper layer.
    pub protocol: u8,
    /// Offset of the Next Header byte that names that protocol.
    pub protocol_at: usize,
    /// Offset of the upper layer's first byte.
    pub at: usize,
    /// Fragment offset in bytes and whether more fragments follow; `None` without a fragment header.
    pub fragment: Option<(usize, bool)>,
}

/// Maximum number of extension headers skipped; RFC 8200 recommends at most seven.
const MAX_EXTENSIONS: usize = 16;

/// Skips the extension headers that follow the IPv6 header at byte `at`.
///
/// Stops at the upper layer, at ESP and AH, and after the fragment header of a later fragment, whose
/// bytes are not a header.
///
/// # Errors
/// [`ErrorKind::Short`] when an extension header is truncated, [`ErrorKind::TooMany`] past sixteen.
#[inline]
pub fn upper(bytes: &[u8], at: usize, next_header: u8) -> Result<Upper, ParseError> {
    let upper = Upper::behind_header(at, next_header);
    if is_extension(next_header) { skip_extensions(bytes, upper) } else { Ok(upper) }
}

fn skip_extensions(bytes: &[u8], mut upper: Upper) -> Result<Upper, ParseError> {
    for _ in 0..MAX_EXTENSIONS {
        upper = skip_extension(bytes, upper)?;
        if upper.is_end() {
            return Ok(upper);
        }
    }
    Err(ParseError::new(upper.at, Header::Ipv6Extension, ErrorKind::TooMany { most: MAX_EXTENSIONS }))
}

#[inline]
fn skip_extension(bytes: &[u8], mut upper: Upper) -> Result<Upper, ParseError> {
    let extension: &[u8; 8] = view(bytes, upper.at, Header::Ipv6Extension)?;
    let length = if upper.protocol == FRAGMENT {
        let offset_flags = u16::from_be_bytes([extension[2], extension[3]]);
        upper.fragment = Some((usize::from(offset_flags & 0xfff8), offset_flags & 1 != 0));
        8
    } else {
        8 + usize::from(extension[1]) * 8
    };
    let left = bytes.len() - upper.at;
    if length > left {
        return Err(short(upper.at, Header::Ipv6Extension, length, left));
    }
    Ok(Upper {
        protocol: extension[0],
        protocol_at: upper.at,
        at: upper.at + length,
        fragment: upper.fragment,
    })
}

impl Upper {
    /// What follows the IPv6 header at byte `at` itself.
    #[inline]
    const fn behind_header(at: usize, next_header: u8) -> Self {
        Self {
            protocol: next_header,
            protocol_at: at + NEXT_HEADER_OFFSET,
            at: at + HEADER_BYTES,
            fragment: None,
        }
    }

    fn is_end(&self) -> bool {
        self.fragment.is_some_and(|(offset, _)| offset > 0) || !is_extension(self.protocol)
    }
}

/// The address at which the packet with an IPv6 header at byte `at` ends: RFC 8200 8.1 puts it into the
/// pseudo-header. It is the last one of a routing header with segments left, else the header's destination.
#[must_use]
pub fn final_destination(bytes: &[u8], at: usize) -> Option<Ipv6Addr> {
    let header: &Ipv6Header = view(bytes, at, Header::Ipv6).ok()?;
    let mut upper = Upper::behind_header(at, header.next_header);
    for _ in 0..MAX_EXTENSIONS {
        if upper.is_end() {
            break;
        }
        let next = skip_extension(bytes, upper).ok()?;
        if upper.protocol == ROUTING
            && let Some(last) = last_segment(bytes.get(upper.at..next.at)?)
        {
            return Some(last);
        }
        upper = next;
    }
    Some(header.destination())
}

/// The last address of a routing header with segments left: source routes (RFC 2460), mobile IPv6 (RFC 6275)
/// and segment routing (RFC 8754), whose list is in reverse order.
fn last_segment(header: &[u8]) -> Option<Ipv6Addr> {
    let [_, _, kind, segments_left, ..] = header else { return None };
    if *segments_left == 0 {
        return None;
    }
    let at = match kind {
        0 => header.len().checked_sub(size_of::<Ipv6Addr>()).filter(|at| *at >= 8)?,
        2 | 4 => 8,
        _ => return None,
    };
    header.get(at..)?.first_chunk::<16>().map(|address| Ipv6Addr::from(*address))
}

const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;

/// Hop-by-hop, routing, fragment, destination, mobility, HIP and Shim6 headers share one layout.
const fn is_extension(protocol: u8) -> bool {
    matches!(protocol, 0 | ROUTING | FRAGMENT | 60 | 135 | 139 | 140)
}

#[cfg(test)]
mod tests;
