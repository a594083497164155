//! Segmentation of super-packets, as a device would do it.

use inband_linux::frames::Segments;
use inband_wire::checksum::Sum;
use inband_wire::layers::{IpVersion, Layers, Link, Strictness, Transport};

use crate::packet::{Packet, Pool};

/// A header with length fields for what follows.
#[derive(Clone, Copy, Debug)]
enum Outer {
    Ipv4(usize),
    Ipv6(usize),
    Udp { at: usize, ip: usize },
}

/// Cuts `frame` into packets with `size` bytes of payload each and passes them to `take`; the innermost
/// transport header is at `l4`, if the kernel reports it. `None`: an unsupported kind, and nothing was
/// passed.
pub(super) fn cut(
    frame: &[u8],
    segments: Segments,
    size: usize,
    l4: Option<usize>,
    pool: &mut Pool,
    take: &mut impl FnMut(Packet, &mut Pool),
) -> Option<()> {
    if size == 0 {
        return None;
    }
    let (outers, l4, transport) = walk(frame, l4)?;
    let header_bytes = match (segments, transport) {
        (Segments::Tcp, Transport::Tcp { header_length }) => l4 + header_length,
        (Segments::Udp, Transport::Udp) => l4 + UDP_BYTES,
        _ => return None,
    };
    let (headers, payload) = frame.split_at_checked(header_bytes)?;
    let last = payload.len().div_ceil(size).max(1) - 1;
    for (number, part) in payload.chunks(size).enumerate() {
        let mut packet = pool.packet(&[headers, part]);
        let bytes = packet.bytes_mut();
        match segments {
            Segments::Tcp => correct_tcp(bytes, l4, number, number * size, number == last)?,
            _ => put(bytes, l4 + 4, u16::try_from(UDP_BYTES + part.len()).ok()?)?,
        }
        correct(bytes, &outers, l4, matches!(segments, Segments::Tcp), number)?;
        take(packet, pool);
    }
    Some(())
}

/// The headers before the innermost transport header, outermost first, and that header.
fn walk(frame: &[u8], wanted: Option<usize>) -> Option<(Vec<Outer>, usize, Transport)> {
    let mut outers = Vec::new();
    let mut layers = Layers::parse(Link::Ethernet, frame, Strictness::Truncated).ok()??;
    for _ in 0..MAX_TUNNELS {
        let ip = layers.l3;
        outers.push(match layers.ip {
            IpVersion::V4 => Outer::Ipv4(ip),
            IpVersion::V6 => Outer::Ipv6(ip),
        });
        if wanted.is_none_or(|wanted| layers.l4 == wanted) {
            return Some((outers, layers.l4, layers.transport));
        }
        if matches!(layers.transport, Transport::Udp) {
            outers.push(Outer::Udp { at: layers.l4, ip });
        }
        let (link, at) = behind(frame, &layers)?;
        layers = Layers::parse_at(link, frame, at, Strictness::Truncated).ok()??;
    }
    None
}

/// The payload of a tunnel with the headers `layers`, and its offset; `None`: not a tunnel.
pub(super) fn behind(frame: &[u8], layers: &Layers) -> Option<(Link, usize)> {
    match (layers.transport, layers.protocol) {
        (Transport::Udp, _) => behind_udp(frame, layers.l4),
        (_, IPV4_IN_IP | IPV6_IN_IP) => Some((Link::Ip, layers.l4)),
        (_, GRE) => behind_gre(frame, layers.l4),
        _ => None,
    }
}

/// The payload of a VXLAN or Geneve header, and its offset.
fn behind_udp(frame: &[u8], udp: usize) -> Option<(Link, usize)> {
    let port = u16::from_be_bytes(*frame.get(udp + 2..)?.first_chunk()?);
    let at = udp + UDP_BYTES;
    match port {
        VXLAN => Some((Link::Ethernet, at + 8)),
        GENEVE => Some((Link::Ethernet, at + 8 + usize::from(frame.get(at)? & 0x3f) * 4)),
        _ => None,
    }
}

/// The payload of a GRE header without a checksum, and its offset.
fn behind_gre(frame: &[u8], at: usize) -> Option<(Link, usize)> {
    let flags = *frame.get(at)?;
    let protocol = u16::from_be_bytes(*frame.get(at + 2..)?.first_chunk()?);
    if flags & !(GRE_KEY | GRE_SEQUENCE) != 0 || flags & GRE_SEQUENCE != 0 {
        return None;
    }
    let link = if protocol == BRIDGED_ETHERNET { Link::Ethernet } else { Link::Ip };
    Some((link, at + 4 + if flags & GRE_KEY == 0 { 0 } else { 4 }))
}

fn correct_tcp(bytes: &mut [u8], l4: usize, number: usize, offset: usize, is_last: bool) -> Option<()> {
    let sequence = bytes.get_mut(l4 + 4..)?.first_chunk_mut::<4>()?;
    let advanced = u32::from_be_bytes(*sequence).wrapping_add(u32::try_from(offset).ok()?);
    *sequence = advanced.to_be_bytes();
    let flags = bytes.get_mut(l4 + 13)?;
    if !is_last {
        *flags &= !(TCP_FIN | TCP_PUSH);
    }
    if number > 0 {
        *flags &= !TCP_CWR;
    }
    Some(())
}

/// Corrects lengths, identification and checksums, the innermost first.
fn correct(bytes: &mut [u8], outers: &[Outer], l4: usize, is_tcp: bool, number: usize) -> Option<()> {
    let innermost = outers.iter().rev().find_map(|outer| match outer {
        Outer::Ipv4(at) | Outer::Ipv6(at) => Some(*at),
        Outer::Udp { .. } => None,
    })?;
    let end = bytes.len();
    for outer in outers {
        if let Outer::Ipv6(at) = outer {
            put(bytes, at + 4, u16::try_from(end - at - 40).ok()?)?;
        }
        if let Outer::Ipv4(at) = outer {
            put(bytes, at + 2, u16::try_from(end - at).ok()?)?;
            let identification = bytes.get_mut(at + 4..)?.first_chunk_mut::<2>()?;
            let next = u16::from_be_bytes(*identification).wrapping_add(u16::try_from(number).ok()?);
            *identification = next.to_be_bytes();
            put(bytes, at + 10, 0)?;
            let header_bytes = usize::from(*bytes.get(*at)? & 0xf) * 4;
            let checksum = Sum::of(bytes.get(*at..at + header_bytes)?).checksum();
            put(bytes, at + 10, checksum)?;
        }
        if let Outer::Udp { at, .. } = outer {
            put(bytes, at + 4, u16::try_from(end - at).ok()?)?;
        }
    }
    let (protocol, field) = if is_tcp { (TCP, l4 + 16) } else { (UDP, l4 + 6) };
    transport_checksum(bytes, innermost, l4, field, protocol)?;
    // An outer checksum covers the inner one.
    for outer in outers.iter().rev() {
        if let Outer::Udp { at, ip } = outer
            && bytes.get(at + 6..at + 8)? != [0, 0]
        {
            transport_checksum(bytes, *ip, *at, at + 6, UDP)?;
        }
    }
    Some(())
}

/// Computes the checksum at `field` of the header at `l4`, with the pseudo-header from the IP header at `ip`.
fn transport_checksum(bytes: &mut [u8], ip: usize, l4: usize, field: usize, protocol: u8) -> Option<()> {
    put(bytes, field, 0)?;
    let addresses = match bytes.get(ip)? >> 4 {
        4 => bytes.get(ip + 12..ip + 20)?,
        _ => bytes.get(ip + 8..ip + 40)?,
    };
    let length = u16::try_from(bytes.len() - l4).ok()?;
    let pseudo = Sum::of(addresses).plus(Sum::word(protocol.into())).plus(Sum::word(length));
    let checksum = match pseudo.plus(Sum::of(bytes.get(l4..)?)).checksum() {
        0 if protocol == UDP => u16::MAX,
        checksum => checksum,
    };
    put(bytes, field, checksum)
}

fn put(bytes: &mut [u8], at: usize, value: u16) -> Option<()> {
    bytes.get_mut(at..at + 2)?.copy_from_slice(&value.to_be_bytes());
    Some(())
}

/// Maximum number of nested tunnel headers.
pub(super) const MAX_TUNNELS: usize = 4;
const UDP_BYTES: usize = 8;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV4_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
const GRE_KEY: u8 = 0x20;
const GRE_SEQUENCE: u8 = 0x10;
const BRIDGED_ETHERNET: u16 = 0x6558;
const VXLAN: u16 = 4789;
const GENEVE: u16 = 6081;
const TCP_FIN: u8 = 0x01;
const TCP_PUSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;
