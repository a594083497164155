//! IPv6 headers and chains of extension headers up to the limit.

use std::vec::Vec;

use inband_testkit::packet;
use zerocopy::IntoBytes;

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::view;

use super::{Ipv6Header, Upper, upper};

/// An IPv6 packet without Ethernet header, with `count` destination options headers of 8 bytes.
fn with_extensions(count: usize) -> Vec<u8> {
    let packet = packet().without_ethernet().ipv6().tcp(1, 2);
    (0..count).fold(packet, |packet, _| packet.extension(60, &[0; 6])).build()
}

fn upper_of(bytes: &[u8]) -> Result<Upper, ParseError> {
    upper(bytes, 0, bytes[6])
}

#[test]
fn every_dscp_leaves_version_ecn_and_flow_label() {
    let bytes = packet().without_ethernet().ipv6().dscp(0x2a).ecn(3).build();
    let mut header: Ipv6Header = *view(&bytes, 0, Header::Ipv6).unwrap();
    assert_eq!((header.version(), header.dscp()), (6, 0x2a));
    for dscp in 0..64 {
        header.set_dscp(dscp);
        assert_eq!(header.dscp(), dscp);
    }
    header.set_dscp(0x2a);
    assert_eq!(header.as_bytes(), &bytes[..40]);
}

#[test]
fn extension_headers_are_skipped_up_to_sixteen() {
    for count in 0..=16 {
        let found = upper_of(&with_extensions(count)).unwrap();
        let protocol_at = if count == 0 { 6 } else { 40 + 8 * (count - 1) };
        let expected = Upper { protocol: 6, protocol_at, at: 40 + 8 * count, fragment: None };
        assert_eq!(found, expected, "{count} extension headers");
    }
}

#[test]
fn seventeen_extension_headers_are_too_many() {
    let kind = ErrorKind::TooMany { most: 16 };
    let expected = ParseError::new(40 + 8 * 16, Header::Ipv6Extension, kind);
    assert_eq!(upper_of(&with_extensions(17)), Err(expected));
}

#[test]
fn an_extension_header_is_short_one_byte_before_it_ends() {
    let bytes = packet().without_ethernet().ipv6().extension(0, &[0; 14]).tcp(1, 2).build();
    let short =
        |needed, left| Err(ParseError::new(40, Header::Ipv6Extension, ErrorKind::Short { needed, left }));
    assert_eq!(upper_of(&bytes[..47]), short(8, 7));
    assert_eq!(upper_of(&bytes[..55]), short(16, 15));
    assert!(upper_of(&bytes[..56]).is_ok());
}

#[test]
fn a_first_fragment_is_read_on_and_a_later_one_is_not() {
    let fragment = |offset, more| {
        packet().without_ethernet().ipv6().extension(60, &[0; 6]).fragment(offset, more).tcp(1, 2).build()
    };
    let at = 40 + 8 + 8;
    let first = upper_of(&fragment(0, true)).unwrap();
    assert_eq!((first.at, first.protocol, first.fragment), (at, 6, Some((0, true))));
    let later = upper_of(&fragment(185, false)).unwrap();
    assert_eq!((later.at, later.protocol, later.fragment), (at, 6, Some((185 * 8, false))));
}

#[test]
fn bytes_of_a_later_fragment_are_no_extension_header() {
    // Next Header is hop-by-hop, but the bytes are the middle of a payload.
    let mut bytes = packet().without_ethernet().ipv6().fragment(1, true).payload(&[0xff; 16]).build();
    bytes[40] = 0;
    assert_eq!(upper_of(&bytes).map(|found| (found.at, found.protocol)), Ok((48, 0)));
}

#[test]
fn esp_and_ah_end_the_chain() {
    for protocol in [50, 51, 59] {
        let bytes = packet().without_ethernet().ipv6().extension(43, &[0; 6]).protocol(protocol).build();
        assert_eq!(upper_of(&bytes).map(|found| (found.at, found.protocol)), Ok((48, protocol)));
    }
}

#[test]
fn a_header_around_another_keeps_class_label_addresses_and_hop_limit() {
    let bytes = packet().without_ethernet().ipv6().dscp(10).ttl(3).build();
    let inner: &Ipv6Header = view(&bytes, 0, Header::Ipv6).unwrap();
    let outer = Ipv6Header::around(inner, 17, 777);
    assert_eq!(outer.as_bytes()[..4], bytes[..4]);
    assert_eq!(outer.as_bytes()[8..], bytes[8..40]);
    assert_eq!((outer.next_header, outer.hop_limit, outer.payload_length()), (17, 3, 777));
}
