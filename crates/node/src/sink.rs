//! How does a node take INT out of a packet so that it is as it was?

use std::ops::Range;

use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::ethernet;
use inband_wire::int::locate::{Encapsulation, PROBE_MARKER_BYTES};
use inband_wire::int::shim::Shim;
use inband_wire::int::{DscpMark, Location};
use inband_wire::ipv4::{self, Ipv4Header};
use inband_wire::ipv6::Ipv6Header;
use inband_wire::layers::{IpVersion, Layers, Link, Transport};
use inband_wire::udp::UdpHeader;
use inband_wire::view::{view, view_mut};

use crate::carrier::{self, Change};
use crate::frame::Frame;

/// What a sink needs to know to strip a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stripping {
    pub(crate) link: Link,
    pub(crate) mark: DscpMark,
    pub(crate) restore_dscp: bool,
}

/// Removes INT from the packet and restores what the source changed.
///
/// Returns `false`, and leaves the packet alone, when the shim names something that cannot follow.
// int-2.1/sink-01, int-2.1/sink-03, int-2.1/domain-03: INT is transparent to the layers above.
pub(crate) fn strip(
    frame: &mut Frame<'_>,
    layers: &Layers,
    location: &Location,
    stripping: &Stripping,
) -> bool {
    let bytes = frame.bytes_mut();
    let Ok(shim) = view::<Shim>(bytes, location.shim, Header::Shim).copied() else {
        return false;
    };
    let gap = match location.encapsulation {
        Encapsulation::Dscp => {
            restore_dscp(bytes, layers, &shim, stripping);
            remove_from_l4(bytes, layers, location.shim..location.end, Change::default())
        }
        Encapsulation::ProbeMarker => {
            let gap = location.shim - PROBE_MARKER_BYTES..location.end;
            remove_from_l4(bytes, layers, gap, Change::default())
        }
        Encapsulation::UdpPort => {
            // int-2.1/l4-11
            let change = set_udp_port(bytes, layers, shim.original_udp_port());
            remove_from_l4(bytes, layers, location.shim..location.end, change)
        }
        Encapsulation::Udp => match shim.original_ip_protocol() {
            protocol @ (ipv4::IN_IP | ipv4::IPV6_IN_IP) => {
                match remove_ip_header(bytes, layers, location, protocol, stripping.link) {
                    Some(gap) => gap,
                    None => return false,
                }
            }
            protocol => remove_udp_header(bytes, layers, location, protocol),
        },
        Encapsulation::Gre | Encapsulation::VxlanGpe | Encapsulation::Geneve => return false,
    };
    frame.close_gap(gap);
    true
}

/// Corrects lengths and checksum for the removal of `gap` behind the L4 header.
// int-2.1/checksum-07: in the checksum itself, also where hops used the complement.
fn remove_from_l4(bytes: &mut [u8], layers: &Layers, gap: Range<usize>, mut change: Change) -> Range<usize> {
    let gone = bytes.get(gap.clone()).map_or(Sum::ZERO, Sum::of);
    change.removed = change.removed.plus(gone);
    change.shrunk = gap.len();
    carrier::correct_checksum(bytes, layers, &change);
    carrier::set_lengths(bytes, layers, &change);
    gap
}

/// Puts the original DSCP back, or clears the bits that mark INT.
// int-2.1/l4-14
fn restore_dscp(bytes: &mut [u8], layers: &Layers, shim: &Shim, stripping: &Stripping) {
    let dscp = if stripping.restore_dscp {
        shim.original_dscp()
    } else {
        stripping.mark.removed_from(layers.dscp(bytes))
    };
    set_dscp(bytes, layers, dscp);
}

/// Sets the DSCP of the packet.
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

/// Sets the UDP destination port and returns what that changed in the sum.
pub(crate) fn set_udp_port(bytes: &mut [u8], layers: &Layers, port: u16) -> Change {
    let Some(header) = view_mut::<UdpHeader>(bytes, layers.l4) else {
        return Change::default();
    };
    let removed = Sum::word(header.destination_port.get());
    header.destination_port = U16::new(port);
    Change { removed, added: Sum::word(port), ..Change::default() }
}

/// Sets the number of the protocol behind the IP headers.
pub(crate) fn set_protocol(bytes: &mut [u8], layers: &Layers, protocol: u8) {
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

/// Prepares the removal of a new UDP header and INT in front of the original L4 header.
// int-2.1/l4-10
fn remove_udp_header(bytes: &mut [u8], layers: &Layers, location: &Location, protocol: u8) -> Range<usize> {
    let gap = layers.l4..location.end;
    set_protocol(bytes, layers, protocol);
    let ip_only = Layers { transport: Transport::Other, ..*layers };
    carrier::set_lengths(bytes, &ip_only, &Change { shrunk: gap.len(), ..Change::default() });
    gap
}

/// Prepares the removal of new IP and UDP headers and INT in front of the original IP header.
fn remove_ip_header(
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    protocol: u8,
    link: Link,
) -> Option<Range<usize>> {
    let (version, ethertype) = match protocol {
        ipv4::IN_IP => (4, ethernet::IPV4),
        _ => (6, ethernet::IPV6),
    };
    if bytes.get(location.end)? >> 4 != version {
        return None;
    }
    if link == Link::Ethernet {
        // The EtherType stands right in front of the outer IP header, behind any VLAN tags.
        let field = bytes.get_mut(..layers.l3)?.last_chunk_mut::<2>()?;
        *field = ethertype.to_be_bytes();
    }
    Some(layers.l3..location.end)
}
