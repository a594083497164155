//! Updates of the headers around INT and of the checksums that cover them.

use std::ops::Range;

use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::Sum;
use inband_wire::ipv4::Ipv4Header;
use inband_wire::ipv6::Ipv6Header;
use inband_wire::layers::{IpVersion, Layers, Link, Transport};
use inband_wire::udp::UdpHeader;
use inband_wire::view::view_mut;

use crate::carrier::{self, Change};

/// Corrects lengths and checksum for the removal of `gap` behind headers that stay.
// int-2.1/checksum-07: in the checksum itself, also where hops used the complement.
pub(super) fn remove(
    bytes: &mut [u8],
    layers: &Layers,
    gap: Range<usize>,
    mut change: Change,
) -> Range<usize> {
    let gone = bytes.get(gap.clone()).map_or(Sum::ZERO, Sum::of);
    change.removed = change.removed.plus(gone);
    change.shrunk = gap.len();
    carrier::correct_checksum(bytes, layers, &change);
    carrier::set_lengths(bytes, layers, &change);
    gap
}

/// Sets the DSCP of the packet and corrects the IPv4 header checksum.
pub(crate) fn set_dscp(bytes: &mut [u8], layers: &Layers, dscp: u8) {
    match layers.ip {
        IpVersion::V4 => {
            if let Some(header) = view_mut::<Ipv4Header>(bytes, layers.l3) {
                header.set_dscp(dscp);
            }
        }
        IpVersion::V6 => {
            if let Some(header) = view_mut::<Ipv6Header>(bytes, layers.l3) {
                header.set_dscp(dscp);
            }
        }
    }
}

/// Sets the destination port, which TCP and UDP have in the same place, and returns the change of the sum.
pub(super) fn set_destination_port(bytes: &mut [u8], layers: &Layers, port: u16) -> Change {
    let Some(header) = view_mut::<UdpHeader>(bytes, layers.l4) else {
        return Change::default();
    };
    let removed = Sum::word(header.destination_port.get());
    header.destination_port = U16::new(port);
    Change { removed, added: Sum::word(port), ..Change::default() }
}

/// Sets the number of the protocol behind the IP headers and corrects the IPv4 header checksum.
pub(super) fn set_protocol(bytes: &mut [u8], layers: &Layers, protocol: u8) {
    match layers.ip {
        IpVersion::V4 => {
            if let Some(header) = view_mut::<Ipv4Header>(bytes, layers.l3) {
                header.set_protocol(protocol);
            }
        }
        IpVersion::V6 => {
            if let Some(byte) = bytes.get_mut(layers.protocol_at) {
                *byte = protocol;
            }
        }
    }
}

/// Sets the EtherType before the IP header, after any VLAN tags; a frame that starts with IP has none.
pub(super) fn set_ethertype(bytes: &mut [u8], layers: &Layers, link: Link, ethertype: u16) {
    if link == Link::Ethernet
        && let Some(field) = bytes.get_mut(..layers.l3).and_then(<[u8]>::last_chunk_mut::<2>)
    {
        *field = ethertype.to_be_bytes();
    }
}

/// Writes a fixed header at byte `at`.
pub(super) fn put(bytes: &mut [u8], at: usize, header: &[u8]) {
    if let Some(to) = bytes.get_mut(at..at + header.len()) {
        to.copy_from_slice(header);
    }
}

/// Sets only the IP length of a packet that grew or shrank before its L4 header.
pub(crate) fn set_ip_length(bytes: &mut [u8], layers: &Layers, change: &Change) {
    let ip_only = Layers { transport: Transport::Other, ..*layers };
    carrier::set_lengths(bytes, &ip_only, change);
}
