//! IPv4 headers: every change keeps a correct header checksum correct, and a wrong one equally wrong.

use core::net::Ipv4Addr;
use std::vec::Vec;

use inband_testkit::{Checksum, oracle, packet};
use zerocopy::IntoBytes;

use crate::error::Header;
use crate::view::view;

use super::Ipv4Header;

fn header(checksum: Checksum) -> Ipv4Header {
    let frame = packet().dscp(10).ecn(3).ttl(61).ip_checksum(checksum).tcp(1, 2).build();
    *view(&frame, 14, Header::Ipv4).unwrap()
}

fn sum(header: &Ipv4Header) -> u16 {
    oracle::ones_complement_sum(&[header.as_bytes()])
}

#[test]
fn fields_are_where_rfc_791_draws_them() {
    let frame = packet().dscp(0x2e).ecn(2).ttl(7).options(&[1; 8]).udp(1, 2).payload(&[0; 3]).build();
    let header: &Ipv4Header = view(&frame, 14, Header::Ipv4).unwrap();
    assert_eq!((header.version(), header.header_length(), header.total_length()), (4, 28, 28 + 8 + 3));
    assert_eq!((header.dscp(), header.ttl, header.protocol), (0x2e, 7, 17));
    assert_eq!(header.source(), Ipv4Addr::new(10, 1, 1, 1));
    assert_eq!(header.destination(), Ipv4Addr::new(10, 1, 1, 2));
    assert!(header.dont_fragment() && !header.more_fragments());
}

#[test]
fn fragment_offset_is_in_bytes_and_flags_stand_apart() {
    let frame = packet().fragment(0x1fff, true).build();
    let header: &Ipv4Header = view(&frame, 14, Header::Ipv4).unwrap();
    assert_eq!((header.fragment_offset(), header.more_fragments()), (0x1fff * 8, true));
    assert!(!header.dont_fragment());
}

#[test]
fn every_dscp_leaves_ecn_and_the_checksum_right() {
    // int-2.1/l4-12, int-2.1/l4-14
    for dscp in 0..64 {
        let mut header = header(Checksum::Right);
        header.set_dscp(dscp);
        assert_eq!((header.dscp(), header.as_bytes()[1] & 3, sum(&header)), (dscp, 3, 0xffff));
    }
}

#[test]
fn every_total_length_and_protocol_keeps_the_checksum_right() {
    let mut header = header(Checksum::Right);
    for length in 0..=u16::MAX {
        header.set_total_length(length);
        assert_eq!((header.total_length(), sum(&header)), (length, 0xffff));
    }
    for protocol in 0..=u8::MAX {
        header.set_protocol(protocol);
        assert_eq!((header.protocol, sum(&header)), (protocol, 0xffff));
    }
}

#[test]
fn a_wrong_checksum_stays_wrong_by_the_same_difference() {
    let mut header = header(Checksum::WrongBy(0x1234));
    let (before, bytes) = (sum(&header), header.as_bytes().to_vec());
    header.set_dscp(0x17);
    header.set_total_length(1500);
    assert_eq!(sum(&header), before);
    header.set_dscp(10);
    header.set_total_length(40);
    assert_eq!(header.as_bytes(), bytes);
}

#[test]
fn new_headers_do_not_fragment_and_have_a_right_checksum() {
    let header = Ipv4Header::new(Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2), 47, 1000);
    assert_eq!((sum(&header), header.dont_fragment(), header.header_length()), (0xffff, true, 20));
    assert_eq!((header.protocol, header.total_length(), header.ttl), (47, 1000, 64));
}

#[test]
fn a_header_around_another_takes_over_what_routers_look_at() {
    let inner = header(Checksum::WrongBy(1));
    let outer = Ipv4Header::around(&inner, 17, 2000);
    let bytes: Vec<u8> = outer.as_bytes().to_vec();
    assert_eq!(sum(&outer), 0xffff);
    assert_eq!((bytes[0], bytes[1], outer.ttl), (0x45, inner.as_bytes()[1], inner.ttl));
    assert_eq!((outer.source(), outer.destination()), (inner.source(), inner.destination()));
    assert_eq!((outer.protocol, outer.total_length()), (17, 2000));
    assert_eq!((outer.dont_fragment(), outer.identification), (true, inner.identification));
}

#[test]
fn a_header_around_a_fragment_is_no_fragment() {
    let frame = packet().fragment(185, true).build();
    let outer = Ipv4Header::around(view(&frame, 14, Header::Ipv4).unwrap(), 17, 100);
    assert_eq!((outer.fragment_offset(), outer.more_fragments(), outer.dont_fragment()), (0, false, false));
}
