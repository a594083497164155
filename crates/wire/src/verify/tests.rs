//! Checksums that are correct, wrong, absent and unverifiable.

use std::net::Ipv6Addr;

use inband_testkit::strategies::ip_packet;
use inband_testkit::{Checksum, Packet, oracle, packet};
use proptest::prelude::*;

use crate::layers::{Layers, Link, Strictness};

use super::{ChecksumState, l4_checksum};

fn state(packet: &Packet) -> ChecksumState {
    state_of(&packet.build())
}

fn state_of(frame: &[u8]) -> ChecksumState {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Truncated).unwrap().unwrap();
    l4_checksum(frame, &layers)
}

#[test]
fn right_and_wrong_checksums_of_every_odd_and_even_length() {
    for base in [packet().ipv4(), packet().ipv6()] {
        for l4 in [base.clone().tcp(1, 2), base.udp(1, 2)] {
            for length in 0..40 {
                let packet = l4.clone().payload(&[0xab; 40][..length]).padding(&[0xff; 3]);
                assert_eq!(state(&packet), ChecksumState::Ok, "{length} bytes");
                assert_eq!(
                    state(&packet.checksum(Checksum::WrongBy(1))),
                    ChecksumState::Bad,
                    "{length} bytes"
                );
            }
        }
    }
}

#[test]
fn udp_without_checksum_and_other_protocols_have_none() {
    // int-2.1/checksum-02
    assert_eq!(state(&packet().udp(1, 2).checksum(Checksum::Field(0))), ChecksumState::Absent);
    assert_eq!(state(&packet().protocol(1).payload(&[0; 8])), ChecksumState::Absent);
    assert_eq!(state(&packet().tcp(1, 2).checksum(Checksum::Field(0))), ChecksumState::Bad);
}

#[test]
fn the_checksum_covers_the_last_address_of_a_route() {
    // RFC 8200 8.1. Kind, segments left, reserved, addresses; segment routing lists them in reverse order.
    let [via, last] = ["2001:db8::11", "2001:db8::22"].map(|text| text.parse::<Ipv6Addr>().unwrap());
    let routes = [
        (0, [via.octets(), last.octets()].concat()),
        (2, last.octets().to_vec()),
        (4, [last.octets(), via.octets()].concat()),
    ];
    for (kind, addresses) in routes {
        let route = [&[kind, 1, 0, 0, 0, 0][..], &addresses].concat();
        let mut frame = packet().ipv6().extension(43, &route).tcp(1, 2).payload(b"data").build();
        assert_eq!(state_of(&frame), ChecksumState::Ok, "{kind}");
        // Without segments left, the header's destination is the last.
        frame[54 + 3] = 0;
        assert_eq!(state_of(&frame), ChecksumState::Bad, "{kind}");
        // The packet on its last link, as routers rewrite it.
        frame[38..54].copy_from_slice(&last.octets());
        assert_eq!(state_of(&frame), ChecksumState::Ok, "{kind}");
    }
}

#[test]
fn cut_packets_and_fragments_cannot_be_verified() {
    let frame = packet().tcp(1, 2).payload(b"data").build();
    assert_eq!(state_of(&frame[..frame.len() - 1]), ChecksumState::Unverifiable);
    assert_eq!(state(&packet().udp(1, 2).udp_length(100).fragment(0, true)), ChecksumState::Unverifiable);
    assert_eq!(state(&packet().udp(1, 2).udp_length(9)), ChecksumState::Unverifiable);
}

#[test]
fn gre_checksum_covers_header_and_payload() {
    let mut gre = [0x80, 0, 8, 0, 0, 0, 0, 0, 1, 2, 3];
    let right = oracle::checksum(&[&gre]).to_be_bytes();
    gre[4..6].copy_from_slice(&right);
    assert_eq!(state(&packet().protocol(47).payload(&gre)), ChecksumState::Ok);
    gre[10] ^= 1;
    assert_eq!(state(&packet().protocol(47).payload(&gre)), ChecksumState::Bad);
    assert_eq!(state(&packet().protocol(47).payload(&[0, 0, 8, 0])), ChecksumState::Absent);
}

#[test]
fn states_have_the_names_users_read() {
    let states = [ChecksumState::Ok, ChecksumState::Bad, ChecksumState::Absent, ChecksumState::Unverifiable];
    assert_eq!(states.map(ChecksumState::name), ["ok", "bad", "absent", "unverifiable"]);
}

proptest! {
    #[test]
    fn any_packet_is_judged_as_an_independent_reader_does(packet in ip_packet(100)) {
        let frame = packet.build();
        prop_assume!(oracle::anatomy(&frame).is_some_and(|at| at.protocol != crate::gre::PROTOCOL));
        let expected = oracle::l4_sum(&frame).map(|sum| sum == 0xffff);
        match state_of(&frame) {
            ChecksumState::Ok => prop_assert_eq!(expected, Some(true)),
            ChecksumState::Bad => prop_assert_eq!(expected, Some(false)),
            ChecksumState::Absent | ChecksumState::Unverifiable => prop_assert_eq!(expected, None),
        }
    }
}
