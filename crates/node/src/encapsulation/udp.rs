//! INT behind a new UDP header: before TCP or UDP, or with a new IP header before everything else.

use std::ops::Range;

use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::U16;

use inband_wire::Words;
use inband_wire::error::Header;
use inband_wire::int::Location;
use inband_wire::int::locate::Encapsulation;
use inband_wire::int::shim::Shim;
use inband_wire::ipv4::{self, Ipv4Header};
use inband_wire::ipv6::{self, Ipv6Header};
use inband_wire::layers::{IpVersion, Layers, Link, Transport};
use inband_wire::udp::{self, UdpHeader};
use inband_wire::view::view;
use inband_wire::{ethernet, ipv4::IN_IP, ipv4::IPV6_IN_IP};

use super::carriage::Carriage;
use super::fields::{put, set_ethertype, set_ip_length, set_protocol};
use super::place::{Insertion, Place};
use super::udp_port::is_int_port;
use crate::carrier::Change;

pub(super) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    // A host's packet to INT's port would form one chain with this node's header, which the sink removes
    // whole.
    if is_int_port(carriage, bytes, layers) {
        return None;
    }
    let (at, outer) = match layers.transport {
        Transport::Tcp { .. } | Transport::Udp => (layers.l4, udp::HEADER_BYTES),
        // INT 2.1 "new IP and UDP headers and INT-MX inserted before IPSec": AH covers the IP header, so
        // other protocols keep their original IP header.
        Transport::Other => (layers.l3, ip_header_bytes(layers) + udp::HEADER_BYTES),
    };
    Some(Place { encapsulation: Encapsulation::Udp, at, outer, most: Words::MAX })
}

// int-2.1/l4-07, int-2.1/l4-28: NPT 2, and the protocol of what follows.
pub(super) fn shim(layers: &Layers, insertion: &Insertion<'_>) -> Shim {
    let protocol = match (layers.transport, layers.ip) {
        (Transport::Tcp { .. } | Transport::Udp, _) => layers.protocol,
        (Transport::Other, IpVersion::V4) => IN_IP,
        (Transport::Other, IpVersion::V6) => IPV6_IN_IP,
    };
    Shim::l4_header(insertion.header_type.code(), insertion.int, protocol)
}

/// Writes the new headers into the gap; `layers` become theirs, except for the end.
pub(super) fn write(carriage: &Carriage, bytes: &mut [u8], layers: &mut Layers, insertion: &Insertion<'_>) {
    let growth = insertion.growth();
    if insertion.place.outer > udp::HEADER_BYTES {
        write_ip_header(bytes, layers, growth);
        layers.l4 = layers.l3 + ip_header_bytes(layers);
        layers.protocol_at = match layers.ip {
            IpVersion::V4 => layers.protocol_at,
            IpVersion::V6 => layers.l3 + ipv6::NEXT_HEADER_OFFSET,
        };
    } else {
        set_protocol(bytes, layers, udp::PROTOCOL);
        set_ip_length(bytes, layers, &Change { grown: growth, ..Change::default() });
    }
    let length = layers.end + growth - layers.l4;
    let header = UdpHeader {
        // int-2.1/l4-08: entropy for load balancing, in the dynamic range.
        source_port: U16::new(0xc000 | (insertion.flow.entropy() & 0x3fff) as u16),
        destination_port: U16::new(carriage.udp_port),
        length: U16::new(u16::try_from(length).unwrap_or(u16::MAX)),
        // int-2.1/l4-09
        checksum: U16::ZERO,
    };
    put(bytes, layers.l4, header.as_bytes());
    layers.transport = Transport::Udp;
    layers.protocol = udp::PROTOCOL;
}

// int-2.1/l4-10
pub(super) fn strip(
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    link: Link,
) -> Option<Range<usize>> {
    let shim: &Shim = view(bytes, location.shim, Header::Shim).ok()?;
    let protocol = shim.original_ip_protocol();
    if matches!(protocol, IN_IP | IPV6_IN_IP) {
        let (version, ethertype) = if protocol == IN_IP { (4, ethernet::IPV4) } else { (6, ethernet::IPV6) };
        if bytes.get(location.end)? >> 4 != version {
            return None;
        }
        set_ethertype(bytes, layers, link, ethertype);
        return Some(layers.l3..location.end);
    }
    let gap = layers.l4..location.end;
    set_protocol(bytes, layers, protocol);
    set_ip_length(bytes, layers, &Change { shrunk: gap.len(), ..Change::default() });
    Some(gap)
}

const fn ip_header_bytes(layers: &Layers) -> usize {
    match layers.ip {
        IpVersion::V4 => ipv4::HEADER_BYTES,
        IpVersion::V6 => ipv6::HEADER_BYTES,
    }
}

/// Writes an IP header like the original one, which follows `growth` bytes later.
fn write_ip_header(bytes: &mut [u8], layers: &Layers, growth: usize) {
    let inner_at = layers.l3 + growth;
    let length = |fixed: usize| u16::try_from(layers.ip_length() + growth - fixed).unwrap_or(u16::MAX);
    match layers.ip {
        IpVersion::V4 => {
            if let Ok(inner) = view::<Ipv4Header>(bytes, inner_at, Header::Ipv4) {
                let outer = Ipv4Header::around(inner, udp::PROTOCOL, length(0));
                put(bytes, layers.l3, outer.as_bytes());
            }
        }
        IpVersion::V6 => {
            if let Ok(inner) = view::<Ipv6Header>(bytes, inner_at, Header::Ipv6) {
                let outer = Ipv6Header::around(inner, udp::PROTOCOL, length(ipv6::HEADER_BYTES));
                put(bytes, layers.l3, outer.as_bytes());
            }
        }
    }
}
