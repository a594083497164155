//! Encoding of a packet as bytes.

use super::{Checksum, L4, Packet};
use crate::oracle::{checksum, end_of_route, pseudo_header};

/// Writes the frame that `packet` describes.
pub(super) fn frame(packet: &Packet) -> Vec<u8> {
    let addresses = packet.addresses.clone().unwrap_or_else(|| default_addresses(packet.version));
    let (source, destination) = (&addresses.0, &addresses.1);
    assert_eq!(source.len(), if packet.version == 4 { 4 } else { 16 }, "addresses of the IP version");
    let l4 = l4(packet, source, destination);
    let ip = match packet.version {
        4 => ipv4(packet, source, destination, &l4),
        _ => ipv6(packet, source, destination, &l4),
    };
    let ethernet = if packet.without_ethernet { Vec::new() } else { ethernet(packet) };
    [ethernet, ip, packet.padding.clone()].concat()
}

fn default_addresses(version: u8) -> (Vec<u8>, Vec<u8>) {
    let address = |last| match version {
        4 => vec![10, 1, 1, last],
        _ => vec![0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last],
    };
    (address(1), address(2))
}

fn ethernet(packet: &Packet) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    for (ethertype, control) in &packet.tags {
        bytes.extend(ethertype.to_be_bytes());
        bytes.extend(control.to_be_bytes());
    }
    bytes.extend(if packet.version == 4 { [0x08, 0x00] } else { [0x86, 0xdd] });
    bytes
}

fn ipv4(packet: &Packet, source: &[u8], destination: &[u8], l4: &[u8]) -> Vec<u8> {
    let header_length = 20 + packet.ip_options.len();
    let (offset, more) = packet.fragment.unwrap_or((0, false));
    let flags = offset | if more { 0x2000 } else { 0 } | if packet.fragment.is_none() { 0x4000 } else { 0 };
    let mut bytes = vec![0x40 | byte(header_length / 4), packet.dscp << 2 | packet.ecn];
    bytes.extend(word(header_length + l4.len()));
    bytes.extend([0x12, 0x34]);
    bytes.extend(flags.to_be_bytes());
    bytes.extend([packet.ttl, protocol(packet), 0, 0]);
    bytes.extend([source, destination, &packet.ip_options].concat());
    let field = field(packet.ip_checksum, checksum(&[&bytes]));
    bytes[10..12].copy_from_slice(&field.to_be_bytes());
    bytes.extend(l4);
    bytes
}

fn ipv6(packet: &Packet, source: &[u8], destination: &[u8], l4: &[u8]) -> Vec<u8> {
    let (first, chain) = extensions(packet);
    let class = packet.dscp << 2 | packet.ecn;
    let mut bytes = vec![0x60 | class >> 4, class << 4 | 0x0b, 0xee, 0xf1];
    bytes.extend(word(chain.len() + l4.len()));
    bytes.extend([first, packet.ttl]);
    bytes.extend([source, destination, &chain, l4].concat());
    bytes
}

/// The IPv6 extension headers, and the type of the first of them.
fn extensions(packet: &Packet) -> (u8, Vec<u8>) {
    let mut extensions = packet.extensions.clone();
    if let Some((offset, more)) = packet.fragment {
        let offset_flags = offset << 3 | u16::from(more);
        extensions.push((44, [&offset_flags.to_be_bytes()[..], &[0xca, 0xfe, 0xf0, 0x0d]].concat()));
    }
    let mut chain = Vec::new();
    for (index, (next_header, body)) in extensions.iter().enumerate() {
        let length = (2 + body.len()).next_multiple_of(8);
        let following = extensions.get(index + 1).map_or(protocol(packet), |(number, _)| *number);
        let start = chain.len();
        chain.extend([following, if *next_header == 44 { 0 } else { byte(length / 8 - 1) }]);
        chain.extend(body);
        chain.resize(start + length, 0);
    }
    (extensions.first().map_or(protocol(packet), |(number, _)| *number), chain)
}

fn l4(packet: &Packet, source: &[u8], destination: &[u8]) -> Vec<u8> {
    let is_later = packet.fragment.is_some_and(|(offset, _)| offset > 0);
    let (mut bytes, checksum_at) = match &packet.l4 {
        _ if is_later => return packet.payload.clone(),
        L4::Raw(_) => return packet.payload.clone(),
        L4::Tcp { source, destination, options } => (tcp(*source, *destination, options), 16),
        L4::Udp { source, destination } => (udp(*source, *destination, packet), 6),
    };
    bytes.extend(&packet.payload);
    let (first, chain) = extensions(packet);
    let last = end_of_route(&chain, first).filter(|_| packet.version == 6).unwrap_or(destination);
    let pseudo = pseudo_header(source, last, protocol(packet), bytes.len());
    let right = match (checksum(&[&pseudo, &bytes]), &packet.l4) {
        (0, L4::Udp { .. }) => 0xffff,
        (right, _) => right,
    };
    bytes[checksum_at..checksum_at + 2].copy_from_slice(&field(packet.checksum, right).to_be_bytes());
    bytes
}

fn tcp(source: u16, destination: u16, options: &[u8]) -> Vec<u8> {
    let mut bytes = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    bytes.extend([0, 0, 0x10, 0, 0, 0, 0x20, 0, byte(5 + options.len() / 4) << 4, 0x18, 0x20, 0, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes
}

fn udp(source: u16, destination: u16, packet: &Packet) -> Vec<u8> {
    let length = packet.udp_length.map_or_else(|| word(8 + packet.payload.len()), u16::to_be_bytes);
    [source.to_be_bytes(), destination.to_be_bytes(), length, [0, 0]].concat()
}

fn protocol(packet: &Packet) -> u8 {
    match packet.l4 {
        L4::Tcp { .. } => 6,
        L4::Udp { .. } => 17,
        L4::Raw(number) => number,
    }
}

fn field(wanted: Checksum, right: u16) -> u16 {
    match wanted {
        Checksum::Right => right,
        Checksum::WrongBy(difference) => right.wrapping_add(difference),
        Checksum::Field(value) => value,
    }
}

fn byte(value: usize) -> u8 {
    u8::try_from(value).expect("a field of one byte")
}

fn word(value: usize) -> [u8; 2] {
    u16::try_from(value).expect("a length field of 16 bits").to_be_bytes()
}
