//! The headers of a packet that an agent sends or receives: Ethernet, IP and L4.

use std::net::IpAddr;

use inband_wire::checksum::Sum;

use crate::lease::Flow;

/// Where the headers of a frame are; offsets from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    pub(crate) flow: Flow,
    pub(crate) l4: usize,
    pub(crate) payload: usize,
    /// Length of the IP packet, from its header.
    pub(crate) length: usize,
}

pub(crate) const L3: usize = 14;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
/// TCP without options.
pub(crate) const TCP_BYTES: usize = 20;
pub(crate) const UDP_BYTES: usize = 8;
const IPV6_BYTES: usize = 40;
const DONT_FRAGMENT: u8 = 0x40;

impl Headers {
    /// Reads the headers of TCP or UDP in IP; `None`: another protocol, a fragment, or truncated headers.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let ip = frame.get(L3..)?;
        let short = |bytes: &[u8], at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let (source, destination, protocol, header, length): (IpAddr, IpAddr, u8, usize, usize) =
            match frame.get(12..14)? {
                [0x08, 0x00] => (
                    ip.get(12..)?.first_chunk::<4>().copied()?.into(),
                    ip.get(16..)?.first_chunk::<4>().copied()?.into(),
                    *ip.get(9)?,
                    usize::from(*ip.first()? & 0xf) * 4,
                    short(ip, 2)?.into(),
                ),
                [0x86, 0xdd] => (
                    ip.get(8..)?.first_chunk::<16>().copied()?.into(),
                    ip.get(24..)?.first_chunk::<16>().copied()?.into(),
                    *ip.get(6)?,
                    IPV6_BYTES,
                    usize::from(short(ip, 4)?) + IPV6_BYTES,
                ),
                _ => return None,
            };
        let l4_header = ip.get(header..)?;
        let l4_bytes = match protocol {
            TCP => usize::from(*l4_header.get(12)? >> 4) * 4,
            UDP => UDP_BYTES,
            _ => return None,
        };
        let (source_port, destination_port) = (short(l4_header, 0)?, short(l4_header, 2)?);
        let payload = L3 + header + l4_bytes;
        (frame.len() >= payload).then_some(Self {
            flow: Flow { source, destination, source_port, destination_port, protocol },
            l4: L3 + header,
            payload,
            length,
        })
    }

    /// A frame with the headers of `frame` and another payload, with correct lengths and checksums.
    pub(crate) fn frame_with(&self, frame: &[u8], payload: &[u8]) -> Option<Vec<u8>> {
        let mut new = frame.get(..self.payload)?.to_vec();
        new.extend_from_slice(payload);
        let (l4_length, ip_length) = (new.len() - self.l4, new.len() - L3);
        let l4_length = u16::try_from(l4_length).ok()?;
        if self.flow.source.is_ipv4() {
            let ip_length = u16::try_from(ip_length).ok()?;
            new.get_mut(L3 + 2..L3 + 4)?.copy_from_slice(&ip_length.to_be_bytes());
            *new.get_mut(L3 + 6)? |= DONT_FRAGMENT;
            new.get_mut(L3 + 10..L3 + 12)?.fill(0);
            let checksum = Sum::of(new.get(L3..self.l4)?).checksum();
            new.get_mut(L3 + 10..L3 + 12)?.copy_from_slice(&checksum.to_be_bytes());
        } else {
            new.get_mut(L3 + 4..L3 + 6)?.copy_from_slice(&l4_length.to_be_bytes());
        }
        if self.flow.protocol == UDP {
            new.get_mut(self.l4 + 4..self.l4 + 6)?.copy_from_slice(&l4_length.to_be_bytes());
        }
        let at = checksum_at(self.l4, self.flow.protocol);
        new.get_mut(at..at + 2)?.fill(0);
        let checksum = self.l4_checksum(&new, self.flow.protocol)?;
        new.get_mut(at..at + 2)?.copy_from_slice(&checksum.to_be_bytes());
        Some(new)
    }

    /// The correct checksum of the L4 header at `l4`, whose checksum field is zero; never zero itself.
    fn l4_checksum(&self, frame: &[u8], protocol: u8) -> Option<u16> {
        let segment = frame.get(self.l4..)?;
        let addresses = match self.flow.source {
            IpAddr::V4(_) => frame.get(L3 + 12..L3 + 20)?,
            IpAddr::V6(_) => frame.get(L3 + 8..L3 + 40)?,
        };
        let length = u16::try_from(segment.len()).ok()?;
        let pseudo = [addresses, &[0, protocol], &length.to_be_bytes()].concat();
        let sum = Sum::of(&pseudo).plus(Sum::of(segment)).checksum();
        Some(if sum == 0 { 0xffff } else { sum })
    }

    /// Replaces the checksum of the outermost L4 header, of `protocol`, by one that every host rejects.
    pub(crate) fn spoil_checksum(&self, frame: &mut [u8], protocol: u8) -> Option<()> {
        let at = checksum_at(self.l4, protocol);
        frame.get_mut(at..at + 2)?.fill(0);
        let right = self.l4_checksum(frame, protocol)?;
        // Zero means no checksum for UDP.
        let wrong = if right == SPOIL { right ^ OTHER_SPOIL } else { right ^ SPOIL };
        frame.get_mut(at..at + 2)?.copy_from_slice(&wrong.to_be_bytes());
        Some(())
    }
}

/// Where the checksum of an L4 header is.
const fn checksum_at(l4: usize, protocol: u8) -> usize {
    if protocol == TCP { l4 + 16 } else { l4 + 6 }
}

/// Bits that are flipped in a checksum; at least one of the two values gives a result other than zero.
const SPOIL: u16 = 0x5a5a;
const OTHER_SPOIL: u16 = 0x3c3c;
