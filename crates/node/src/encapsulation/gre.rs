//! INT behind a GRE header: an existing one (G = 0), or one the source adds with an IPv4 header (G = 1).

use std::ops::Range;

use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::U16;

use inband_wire::Words;
use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::int::Location;
use inband_wire::int::locate::Encapsulation;
use inband_wire::int::shim::Shim;
use inband_wire::ipv4::{self, Ipv4Header};
use inband_wire::layers::{Fragment, IpVersion, Layers, Link, Transport};
use inband_wire::view::{view, view_mut};
use inband_wire::{ethernet, gre};

use super::carriage::Carriage;
use super::fields::{put, remove, set_ethertype};
use super::place::{Insertion, Place};
use crate::carrier::Change;
use crate::config::GrePayload;

pub(super) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    if layers.protocol == gre::PROTOCOL {
        // int-2.1/gre-01
        let (header, at) = gre::payload(bytes, layers.l4).ok()?;
        // int-2.1/gre-12, int-2.1/gre-13: a sink restores registered EtherTypes only, and INT's own would
        // form a chain with this node's header.
        let protocol = header.protocol.get();
        if protocol == carriage.gre_protocol || !ethernet::is_registered(protocol) {
            return None;
        }
        return Some(Place::behind(Encapsulation::Gre, at));
    }
    // int-2.1/gre-03
    let headers = ipv4::HEADER_BYTES + size_of::<gre::GreHeader>();
    let (at, outer) = match carriage.gre_payload {
        GrePayload::Ip => (layers.l3, headers),
        GrePayload::Ethernet => (0, layers.l3 + headers),
    };
    Some(Place { encapsulation: Encapsulation::Gre, at, outer, most: Words::MAX })
}

// int-2.1/gre-07, int-2.1/gre-08, int-2.1/gre-12
pub(super) fn shim(bytes: &[u8], layers: &Layers, insertion: &Insertion<'_>) -> Shim {
    let added = insertion.place.outer > 0;
    let ethertype = match (added, layers.ip) {
        (true, _) if insertion.place.at < layers.l3 => ethernet::BRIDGED_ETHERNET,
        (true, IpVersion::V4) => ethernet::IPV4,
        (true, IpVersion::V6) => ethernet::IPV6,
        (false, _) => gre::payload(bytes, layers.l4).map_or(0, |(header, _)| header.protocol.get()),
    };
    Shim::gre(insertion.header_type.code(), insertion.int, added, ethertype)
}

/// Announces INT in the existing GRE header.
// int-2.1/gre-05, int-2.1/gre-06: with the configured code point, if `kind = "gre"`.
pub(super) fn mark(carriage: &Carriage, bytes: &mut [u8], layers: &Layers) -> Change {
    set_gre_protocol(bytes, layers, carriage.gre_protocol)
}

/// Writes new IPv4 and GRE headers into the gap, for a frame also its Ethernet header; `layers` become
/// theirs, except for the end.
pub(super) fn write(carriage: &Carriage, bytes: &mut [u8], layers: &mut Layers, insertion: &Insertion<'_>) {
    let length = u16::try_from(layers.ip_length() + insertion.growth()).unwrap_or(u16::MAX);
    let mut outer =
        Ipv4Header::new(carriage.tunnel_source, carriage.tunnel_destination, gre::PROTOCOL, length);
    // RFC 2983, section 3.1: the packet keeps its class in the queues of the domain. ECN stays 0, since the
    // sink leaves the inner header unchanged (RFC 6040, section 4.3, compatibility mode).
    outer.set_dscp(layers.dscp_behind(bytes, insertion.growth()));
    if insertion.place.at < layers.l3 {
        // The frame is encapsulated whole, including VLAN tags; the header before the new IP header is a
        // copy.
        let growth = insertion.growth();
        bytes.copy_within(growth..(growth + layers.l3).min(bytes.len()), 0);
    }
    put(bytes, layers.l3, outer.as_bytes());
    set_ethertype(bytes, layers, insertion.link, ethernet::IPV4);
    let l4 = layers.l3 + ipv4::HEADER_BYTES;
    put(bytes, l4, gre::GreHeader::new(carriage.gre_protocol).as_bytes());
    *layers = Layers {
        ip: IpVersion::V4,
        protocol_at: layers.l3 + ipv4::PROTOCOL_OFFSET,
        protocol: gre::PROTOCOL,
        l4,
        fragment: Fragment::Whole,
        transport: Transport::Other,
        ..*layers
    };
}

pub(super) fn strip(
    carriage: &Carriage,
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    link: Link,
) -> Option<Range<usize>> {
    let last = carriage.last_of_chain(bytes, layers, location).filter(|last| last.end <= bytes.len())?;
    let shim = *view::<Shim>(bytes, last.shim, Header::Shim).ok()?;
    // int-2.1/gre-13
    let ethertype = Some(shim.ethertype()).filter(|ethertype| ethernet::is_registered(*ethertype))?;
    if !shim.gre_added() {
        // int-2.1/gre-02
        let (_, first) = gre::payload(bytes, layers.l4).ok()?;
        let change = set_gre_protocol(bytes, layers, ethertype);
        return Some(remove(bytes, layers, first..last.end, change));
    }
    // int-2.1/gre-04
    let is_version = |version| bytes.get(last.end).is_none_or(|first| first >> 4 == version);
    match (ethertype, link) {
        // The source put a whole frame behind GRE, so the outer Ethernet header is removed too.
        (ethernet::BRIDGED_ETHERNET, Link::Ethernet) => return Some(0..last.end),
        (ethernet::IPV4, _) if is_version(4) => {}
        (ethernet::IPV6, _) if is_version(6) => {}
        (ethernet::IPV4 | ethernet::IPV6 | ethernet::BRIDGED_ETHERNET, _) | (_, Link::Ip) => return None,
        (_, Link::Ethernet) => {}
    }
    set_ethertype(bytes, layers, link, ethertype);
    Some(layers.l3..last.end)
}

fn set_gre_protocol(bytes: &mut [u8], layers: &Layers, protocol: u16) -> Change {
    let Some(header) = view_mut::<gre::GreHeader>(bytes, layers.l4) else {
        return Change::default();
    };
    let removed = Sum::word(header.protocol.get());
    header.protocol = U16::new(protocol);
    Change { removed, added: Sum::word(protocol), ..Change::default() }
}
