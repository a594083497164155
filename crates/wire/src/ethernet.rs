//! What does an Ethernet frame carry, behind which VLAN tags?

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::view;

/// The Ethernet header, 14 bytes.
///
/// ```text
///  destination address (48) | source address (48) | EtherType (16)
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct EthernetHeader {
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Source MAC address.
    pub source: [u8; 6],
    /// EtherType of what follows.
    pub ethertype: U16,
}

/// An 802.1Q or 802.1ad tag as it follows the EtherType that announces it, 4 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct VlanTag {
    control: U16,
    ethertype: U16,
}

/// Where the payload of an Ethernet frame starts, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetPayload {
    /// EtherType after all VLAN tags.
    pub ethertype: u16,
    /// Offset of the payload's first byte.
    pub at: usize,
}

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// EtherType of an Ethernet frame inside GRE or Geneve (Transparent Ethernet Bridging).
pub const BRIDGED_ETHERNET: u16 = 0x6558;
/// Length of the Ethernet header, bytes.
pub const HEADER_BYTES: usize = size_of::<EthernetHeader>();

/// Most VLAN tags that are skipped; two are usual, more are seen in laboratories.
const MOST_TAGS: usize = 8;

/// Finds the payload of the Ethernet frame that starts at byte `at`.
///
/// # Errors
/// [`ErrorKind::Short`] when header or a tag is cut, [`ErrorKind::TooMany`] past eight VLAN tags.
#[inline]
pub fn payload(bytes: &[u8], at: usize) -> Result<EthernetPayload, ParseError> {
    let header: &EthernetHeader = view(bytes, at, Header::Ethernet)?;
    let ethertype = header.ethertype.get();
    let at = at + HEADER_BYTES;
    if is_vlan(ethertype) { behind_tags(bytes, at) } else { Ok(EthernetPayload { ethertype, at }) }
}

fn behind_tags(bytes: &[u8], mut at: usize) -> Result<EthernetPayload, ParseError> {
    for _ in 0..MOST_TAGS {
        let tag: &VlanTag = view(bytes, at, Header::Vlan)?;
        at += size_of::<VlanTag>();
        let ethertype = tag.ethertype.get();
        if !is_vlan(ethertype) {
            return Ok(EthernetPayload { ethertype, at });
        }
    }
    Err(ParseError::new(at, Header::Vlan, ErrorKind::TooMany { most: MOST_TAGS }))
}

/// Whether an EtherType announces a VLAN tag: 802.1Q, 802.1ad, or QinQ before it was standardised.
const fn is_vlan(ethertype: u16) -> bool {
    matches!(ethertype, 0x8100 | 0x88a8 | 0x9100 | 0x9200)
}

#[cfg(test)]
mod tests;
