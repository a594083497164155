//! An independent reader of lengths and checksums.
//!
//! Plain loops over bytes, one word at a time; no code is shared with the code under test.

/// The layout of an IP packet in an Ethernet frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anatomy {
    /// 4 or 6.
    pub version: u8,
    /// Offset of the IP header.
    pub l3: usize,
    /// Length of the IPv4 header with options, or of the IPv6 header with its extension headers, bytes.
    pub l3_length: usize,
    /// IP protocol number of what follows.
    pub protocol: u8,
    /// Offset at which the IP packet ends, by its own length field.
    pub end: usize,
    /// Whether the packet is a fragment, the first or a later one.
    pub is_fragment: bool,
}

/// Adds up big-endian 16-bit words and folds every carry at once; an odd last byte is a high half.
#[must_use]
pub fn ones_complement_sum(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let mut sum: u32 = 0;
    let mut at = 0;
    while at < bytes.len() {
        let low = if at + 1 < bytes.len() { bytes[at + 1] } else { 0 };
        sum += u32::from(bytes[at]) * 256 + u32::from(low);
        if sum > 0xffff {
            sum = sum - 0x1_0000 + 1;
        }
        at += 2;
    }
    u16::try_from(sum).expect("every carry was folded")
}

/// The checksum that makes `parts`, with their checksum field zero, sum to all ones.
#[must_use]
pub fn checksum(parts: &[&[u8]]) -> u16 {
    !ones_complement_sum(parts)
}

/// The pseudo-header of TCP and UDP over `source` and `destination`, 4 or 16 bytes each.
#[must_use]
pub fn pseudo_header(source: &[u8], destination: &[u8], protocol: u8, length: usize) -> Vec<u8> {
    let length = u32::try_from(length).expect("a packet's length").to_be_bytes();
    [source, destination, &length, &[0, 0, 0, protocol]].concat()
}

/// Parses an Ethernet frame; `None` if it holds no complete IP header.
#[must_use]
pub fn anatomy(frame: &[u8]) -> Option<Anatomy> {
    let mut l3 = 14;
    while matches!(frame.get(l3 - 2..l3)?, [0x81 | 0x91 | 0x92, 0x00] | [0x88, 0xa8]) {
        l3 += 4;
    }
    match frame.get(l3 - 2..l3)? {
        [0x08, 0x00] => ipv4(frame, l3),
        [0x86, 0xdd] => ipv6(frame, l3),
        _ => None,
    }
}

/// The sum over the IPv4 header: 0xffff if its checksum is correct; `None` for IPv6.
#[must_use]
pub fn ipv4_header_sum(frame: &[u8]) -> Option<u16> {
    let at = anatomy(frame)?;
    let header = frame.get(at.l3..at.l3 + at.l3_length)?;
    (at.version == 4).then(|| ones_complement_sum(&[header]))
}

/// The sum over pseudo-header, L4 header and payload: 0xffff if the checksum is correct, and constant under
/// incremental updates.
///
/// `None` if there is nothing to sum: a protocol other than TCP and UDP, a UDP checksum of 0, a fragment, a
/// frame that ends before its packet does.
#[must_use]
pub fn l4_sum(frame: &[u8]) -> Option<u16> {
    let at = anatomy(frame)?;
    let l4 = at.l3 + at.l3_length;
    let segment = frame.get(l4..at.end)?;
    let segment = match at.protocol {
        6 if segment.len() >= 20 => segment,
        17 if segment.len() >= 8 && segment[6..8] != [0, 0] => segment.get(..word(segment, 4))?,
        _ => return None,
    };
    if at.is_fragment {
        return None;
    }
    let addresses = if at.version == 4 { at.l3 + 12..at.l3 + 20 } else { at.l3 + 8..at.l3 + 40 };
    let (source, mut destination) = frame[addresses.clone()].split_at(addresses.len() / 2);
    if at.version == 6 {
        destination =
            end_of_route(&frame[at.l3 + 40..at.l3 + at.l3_length], frame[at.l3 + 6]).unwrap_or(destination);
    }
    Some(ones_complement_sum(&[&pseudo_header(source, destination, at.protocol, segment.len()), segment]))
}

fn ipv4(frame: &[u8], l3: usize) -> Option<Anatomy> {
    let header = frame.get(l3..l3 + 20)?;
    Some(Anatomy {
        version: 4,
        l3,
        l3_length: usize::from(header[0] % 16) * 4,
        protocol: header[9],
        end: l3 + word(header, 2),
        is_fragment: word(header, 6) & 0x3fff != 0,
    })
}

fn ipv6(frame: &[u8], l3: usize) -> Option<Anatomy> {
    let header = frame.get(l3..l3 + 40)?;
    let (mut protocol, mut at, mut is_fragment) = (header[6], l3 + 40, false);
    while [0, 43, 44, 60].contains(&protocol) {
        let extension = frame.get(at..at + 8)?;
        let is_later = protocol == 44 && word(extension, 2) >= 8;
        is_fragment |= protocol == 44 && word(extension, 2) & 0xfff9 != 0;
        at += if protocol == 44 { 8 } else { 8 + usize::from(extension[1]) * 8 };
        protocol = extension[0];
        if is_later {
            break;
        }
    }
    Some(Anatomy {
        version: 6,
        l3,
        l3_length: at - l3,
        protocol,
        end: l3 + 40 + word(header, 4),
        is_fragment,
    })
}

/// The last address of the first IPv6 routing header with segments left (RFC 8200 8.1), among extension
/// headers of which the first is of type `next`.
#[must_use]
pub fn end_of_route(extensions: &[u8], mut next: u8) -> Option<&[u8]> {
    let mut rest = extensions;
    while rest.len() >= 8 {
        let length = if next == 44 { 8 } else { 8 + usize::from(rest[1]) * 8 };
        let (header, behind) = rest.split_at_checked(length)?;
        if next == 43 && header[3] > 0 {
            let address = match header[2] {
                0 if length >= 24 => Some(&header[length - 16..]),
                2 | 4 => header.get(8..24),
                _ => None,
            };
            if address.is_some() {
                return address;
            }
        }
        (next, rest) = (header[0], behind);
    }
    None
}

fn word(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) * 256 + usize::from(bytes[at + 1])
}
