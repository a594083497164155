//! Frames as written by hosts and changed by routers.

use std::net::{IpAddr, Ipv4Addr};

use inband_wire::checksum::{Sum, corrected, pseudo_header};
use inband_wire::ethernet::{self, EthernetHeader};
use inband_wire::ipv4::{self, Ipv4Header};
use inband_wire::tcp::{self, TcpHeader};
use inband_wire::udp::{self, UdpHeader};
use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::{U16, U32};

use crate::random::Random;
use crate::tcp::sender::{MSS, WINDOW};
use crate::tcp::{Segment, to_wire};

#[cfg(test)]
mod tests;

/// The addresses of a packet and its other IPv4 fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) source_mac: [u8; 6],
    pub(crate) destination_mac: [u8; 6],
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) dscp: u8,
    pub(crate) identification: u16,
}

impl Envelope {
    /// Appends a frame with a UDP datagram whose payload is made from `key`.
    pub(crate) fn write_udp(&self, out: &mut Vec<u8>, key: u64, payload_bytes: u16) {
        let length = short(udp::HEADER_BYTES) + payload_bytes;
        let header = UdpHeader {
            source_port: U16::new(self.source_port),
            destination_port: U16::new(self.destination_port),
            length: U16::new(length),
            checksum: U16::ZERO,
        };
        self.write_headers(out, udp::PROTOCOL, length);
        out.extend_from_slice(header.as_bytes());
        write_payload(out, key, usize::from(payload_bytes));
        self.write_checksum(out, udp::PROTOCOL, udp::CHECKSUM_OFFSET);
    }

    /// Appends a frame with a TCP segment of streams that begin with the given sequence numbers.
    pub(crate) fn write_tcp(&self, out: &mut Vec<u8>, initial: u32, peer_initial: u32, segment: &Segment) {
        let options: &[u8] = if segment.syn { &maximum_segment_size_option() } else { &[] };
        let header_bytes = tcp::HEADER_BYTES + options.len();
        let flags = if segment.fin { FIN } else { 0 }
            | if segment.syn { SYN } else { 0 }
            | if segment.length > 0 { PSH } else { 0 }
            | if segment.acknowledgment.is_some() { ACK } else { 0 };
        let header = TcpHeader {
            source_port: U16::new(self.source_port),
            destination_port: U16::new(self.destination_port),
            sequence: U32::new(to_wire(initial, segment.sequence)),
            acknowledgment: U32::new(segment.acknowledgment.map_or(0, |unit| to_wire(peer_initial, unit))),
            offset_flags: U16::new(short(header_bytes / 4) << 12 | flags),
            window: U16::new(u16::try_from(WINDOW).unwrap_or(u16::MAX)),
            checksum: U16::ZERO,
            urgent: U16::ZERO,
        };
        self.write_headers(out, tcp::PROTOCOL, short(header_bytes + segment.length));
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(options);
        write_payload(out, u64::from(initial) << 32 | segment.sequence, segment.length);
        self.write_checksum(out, tcp::PROTOCOL, tcp::CHECKSUM_OFFSET);
    }

    fn write_headers(&self, out: &mut Vec<u8>, protocol: u8, l4_bytes: u16) {
        let ethernet = EthernetHeader {
            destination: self.destination_mac,
            source: self.source_mac,
            ethertype: U16::new(ethernet::IPV4),
        };
        let total_length = short(ipv4::HEADER_BYTES) + l4_bytes;
        let mut ip = Ipv4Header::new(self.source, self.destination, protocol, total_length);
        ip.set_dscp(self.dscp);
        out.extend_from_slice(ethernet.as_bytes());
        out.extend_from_slice(ip.as_bytes());
        exchange_word(&mut out[L3..], IDENTIFICATION_OFFSET, self.identification);
    }

    fn write_checksum(&self, out: &mut [u8], protocol: u8, checksum_offset: usize) {
        let l4 = &mut out[L4..];
        let (source, destination) = (IpAddr::V4(self.source), IpAddr::V4(self.destination));
        let sum = pseudo_header(source, destination, protocol, l4.len()).plus(Sum::of(l4));
        // A UDP checksum of 0 means that there is none; its equivalent is all ones.
        let checksum = match sum.checksum() {
            0 if protocol == udp::PROTOCOL => u16::MAX,
            checksum => checksum,
        };
        l4[checksum_offset..checksum_offset + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Routes an IPv4 packet: sets new MAC addresses and decrements the time to live.
///
/// Returns `false`, and leaves the frame unchanged, if the time to live is used up or the frame is too short.
pub(crate) fn route(frame: &mut [u8], source_mac: [u8; 6], destination_mac: [u8; 6]) -> bool {
    if frame.len() < L4 || frame[L3 + TTL_OFFSET] <= 1 {
        return false;
    }
    frame[..6].copy_from_slice(&destination_mac);
    frame[6..12].copy_from_slice(&source_mac);
    let lived = u16::from_be_bytes([frame[L3 + TTL_OFFSET] - 1, frame[L3 + TTL_OFFSET + 1]]);
    exchange_word(&mut frame[L3..], TTL_OFFSET, lived);
    true
}

/// Writes a 16-bit word into an IPv4 header and corrects the header checksum for it.
fn exchange_word(header: &mut [u8], at: usize, word: u16) {
    let read = |header: &[u8], at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (removed, added) = (Sum::word(read(header, at)), Sum::word(word));
    let checksum = corrected(read(header, IP_CHECKSUM_OFFSET), removed, added);
    header[at..at + 2].copy_from_slice(&word.to_be_bytes());
    header[IP_CHECKSUM_OFFSET..IP_CHECKSUM_OFFSET + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Appends pseudorandom bytes, the same for the same key.
fn write_payload(out: &mut Vec<u8>, key: u64, bytes: usize) {
    let mut random = Random::new(key);
    let end = out.len() + bytes;
    while out.len() < end {
        let number = random.number().to_be_bytes();
        let take = number.len().min(end - out.len());
        out.extend_from_slice(&number[..take]);
    }
}

fn maximum_segment_size_option() -> [u8; 4] {
    let [high, low] = u16::try_from(MSS).unwrap_or(u16::MAX).to_be_bytes();
    [2, 4, high, low]
}

/// A length the configuration keeps below 65 536.
fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Offset of the IPv4 header in the frames of the fabric, which carry no VLAN tags.
pub(crate) const L3: usize = ethernet::HEADER_BYTES;
/// Offset of the header after it, which has no options.
pub(crate) const L4: usize = L3 + ipv4::HEADER_BYTES;
/// Offset of the time to live in the IPv4 header.
pub(crate) const TTL_OFFSET: usize = 8;
/// Offset of the checksum in the IPv4 header.
pub(crate) const IP_CHECKSUM_OFFSET: usize = 10;
const IDENTIFICATION_OFFSET: usize = 4;

pub(crate) const FIN: u16 = 0x01;
pub(crate) const SYN: u16 = 0x02;
pub(crate) const PSH: u16 = 0x08;
pub(crate) const ACK: u16 = 0x10;
