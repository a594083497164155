use std::net::Ipv4Addr;

use inband_wire::checksum::Sum;
use inband_wire::verify::l4_checksum;
use inband_wire::{ChecksumState, Layers, Link, Strictness};

use super::{Envelope, IP_CHECKSUM_OFFSET, L3, L4, TTL_OFFSET, route};
use crate::tcp::Segment;

const ENVELOPE: Envelope = Envelope {
    source_mac: [2, 0, 0, 0, 0, 1],
    destination_mac: [6, 0, 0, 0, 0, 1],
    source: Ipv4Addr::new(10, 0, 1, 1),
    destination: Ipv4Addr::new(10, 0, 4, 2),
    source_port: 40_000,
    destination_port: 80,
    dscp: 46,
    identification: 0xbeef,
};

#[test]
fn datagrams_of_every_length_have_right_lengths_and_checksums() {
    for payload_bytes in 0..=1_472 {
        let frame = udp(payload_bytes);

        assert_eq!(frame.len(), L4 + 8 + usize::from(payload_bytes));
        assert_right(&frame);
    }
}

#[test]
fn segments_with_and_without_options_have_right_lengths_and_checksums() {
    for syn in [false, true] {
        for length in [0, 1, 2, 1_459, 1_460] {
            let segment = Segment { syn, length, sequence: 9, acknowledgment: Some(3), ..Segment::default() };
            let frame = tcp(&segment);

            assert_eq!(frame.len(), L4 + 20 + if syn { 4 } else { 0 } + length);
            assert_right(&frame);
        }
    }
}

#[test]
fn what_the_envelope_says_stands_in_the_packet() {
    let frame = udp(10);

    let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();

    assert_eq!(layers.dscp(&frame), 46);
    assert_eq!(layers.five_tuple(&frame).to_string(), "10.0.1.1:40000 > 10.0.4.2:80 protocol 17");
    assert_eq!(frame[L3 + 4..L3 + 6], [0xbe, 0xef]);
    assert_ne!(frame[L4 + 8..], [0; 10], "payloads are not empty bytes");
}

#[test]
fn a_router_takes_one_hop_and_leaves_the_header_right() {
    let before = udp(33);
    let mut frame = before.clone();

    assert!(route(&mut frame, [6; 6], [7; 6]));

    assert_eq!(frame[..12], [7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 6]);
    assert_eq!(frame[L3 + TTL_OFFSET], before[L3 + TTL_OFFSET] - 1);
    assert_right(&frame);
    let rest = L3 + IP_CHECKSUM_OFFSET + 2;
    assert_eq!(frame[rest..], before[rest..]);
}

#[test]
fn a_packet_with_one_hop_to_live_is_not_routed() {
    let mut frame = udp(33);
    frame[L3 + TTL_OFFSET] = 2;
    assert!(route(&mut frame, [6; 6], [7; 6]));
    let last = frame.clone();

    assert!(!route(&mut frame, [8; 6], [9; 6]));
    assert!(!route(&mut [0; L4 - 1], [8; 6], [9; 6]));

    assert_eq!(frame, last);
}

fn udp(payload_bytes: u16) -> Vec<u8> {
    let mut frame = Vec::new();
    ENVELOPE.write_udp(&mut frame, 77, payload_bytes);
    frame
}

fn tcp(segment: &Segment) -> Vec<u8> {
    let mut frame = Vec::new();
    ENVELOPE.write_tcp(&mut frame, 1_000, 2_000, segment);
    frame
}

fn assert_right(frame: &[u8]) {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap();
    assert_eq!(layers.end, frame.len());
    assert_eq!(Sum::of(&frame[L3..L4]).fold(), 0xffff);
    assert_eq!(l4_checksum(frame, &layers), ChecksumState::Ok);
}
