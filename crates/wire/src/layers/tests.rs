//! Layers of complete and truncated packets, at every length just too small or too large.

use std::vec::Vec;

use inband_testkit::strategies::ip_packet;
use inband_testkit::{oracle, packet};
use proptest::prelude::*;

use crate::error::{ErrorKind, Header, ParseError};

use super::{Fragment, IpVersion, Layers, Link, Strictness, Transport};

fn whole(frame: &[u8]) -> Result<Option<Layers>, ParseError> {
    Layers::parse(Link::Ethernet, frame, Strictness::Whole)
}

fn cut(frame: &[u8]) -> Result<Option<Layers>, ParseError> {
    Layers::parse(Link::Ethernet, frame, Strictness::Truncated)
}

fn fault(at: usize, header: Header, kind: ErrorKind) -> Result<Option<Layers>, ParseError> {
    Err(ParseError::new(at, header, kind))
}

fn with(mut frame: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    frame[at..at + bytes.len()].copy_from_slice(bytes);
    frame
}

#[test]
fn tcp_with_options_behind_vlan_and_ipv4_options() {
    let frame =
        packet().vlan(5).options(&[1; 8]).tcp(1234, 80).options(&[1; 12]).payload(b"data").padding(&[0; 9]);
    let frame = frame.build();
    let layers = whole(&frame).unwrap().unwrap();
    assert_eq!((layers.l3, layers.l4, layers.end), (18, 18 + 28, frame.len() - 9));
    assert_eq!((layers.ip, layers.protocol, layers.protocol_at), (IpVersion::V4, 6, 18 + 9));
    assert_eq!(layers.transport, Transport::Tcp { header_length: 32 });
    assert_eq!((layers.ip_length(), layers.checksum_at()), (28 + 32 + 4, Some(layers.l4 + 16)));
    let flow = layers.five_tuple(&frame);
    assert_eq!((flow.source_port, flow.destination_port, flow.protocol), (1234, 80, 6));
}

#[test]
fn udp_behind_ipv6_extension_headers_without_ethernet() {
    let packet = packet().without_ethernet().ipv6().dscp(0x17).extension(0, &[0; 6]).udp(5, 6).payload(b"x");
    let bytes = packet.build();
    let layers = Layers::parse(Link::Ip, &bytes, Strictness::Whole).unwrap().unwrap();
    assert_eq!((layers.l3, layers.l4, layers.end), (0, 48, bytes.len()));
    assert_eq!((layers.ip, layers.protocol_at, layers.transport), (IpVersion::V6, 40, Transport::Udp));
    assert_eq!((layers.dscp(&bytes), layers.checksum_at()), (0x17, Some(48 + 6)));
    assert_eq!(layers.udp(&bytes).map(|header| header.length.get()), Some(9));
}

#[test]
fn what_is_not_ip_has_no_layers() {
    assert_eq!(whole(&with(packet().build(), 12, &[0x08, 0x06])), Ok(None));
    for first in [0x00, 0x3f, 0x50, 0x70, 0xff] {
        assert_eq!(Layers::parse(Link::Ip, &[first; 60], Strictness::Whole), Ok(None));
    }
    assert_eq!(Layers::parse(Link::Ip, &[], Strictness::Whole), Ok(None));
}

#[test]
fn versions_that_contradict_the_ethertype_are_errors() {
    let version = |found, expected| ErrorKind::Version { found, expected };
    assert_eq!(whole(&with(packet().build(), 14, &[0x65])), fault(14, Header::Ipv4, version(6, 4)));
    let v6 = packet().ipv6().build();
    assert_eq!(whole(&with(v6, 14, &[0x45])), fault(14, Header::Ipv6, version(4, 6)));
}

#[test]
fn ihl_is_at_least_five_and_inside_the_packet() {
    let frame = packet().options(&[1; 4]).udp(1, 2).build();
    let small = ErrorKind::TooSmall { field: "IHL", found: 4, least: 5 };
    assert_eq!(whole(&with(frame.clone(), 14, &[0x44])), fault(14, Header::Ipv4, small));
    let long = ErrorKind::TooSmall { field: "Total Length", found: 32, least: 60 };
    assert_eq!(whole(&with(frame.clone(), 14, &[0x4f])), fault(14, Header::Ipv4, long));
    assert!(whole(&frame).is_ok());
}

#[test]
fn total_length_ends_with_the_frame_or_is_too_long_for_it() {
    let frame = packet().udp(1, 2).payload(b"data").build();
    let length = u16::try_from(frame.len() - 14).unwrap();
    assert!(whole(&frame).is_ok());
    let longer = with(frame, 16, &(length + 1).to_be_bytes());
    let short = ErrorKind::Short { needed: usize::from(length) + 1, left: usize::from(length) };
    assert_eq!(whole(&longer), fault(14, Header::Ipv4, short));
    assert_eq!(cut(&longer).unwrap().unwrap().end, longer.len() + 1);
}

#[test]
fn tcp_header_is_inside_packet_and_frame_to_its_last_byte() {
    let frame = packet().tcp(1, 2).options(&[1; 20]).payload(b"data").build();
    let at = 34;
    for length in at + 20..at + 40 {
        let left = length - at;
        assert_eq!(cut(&frame[..length]).is_ok(), length >= at + 20, "{left} bytes of TCP");
    }
    let small = ErrorKind::TooSmall { field: "data offset", found: 4, least: 5 };
    assert_eq!(whole(&with(frame.clone(), at + 12, &[0x40])), fault(at, Header::Tcp, small));
    let too_long = with(packet().tcp(1, 2).build(), at + 12, &[0x60]);
    assert_eq!(whole(&too_long), fault(at, Header::Tcp, ErrorKind::Short { needed: 24, left: 20 }));
}

#[test]
fn udp_length_is_at_least_eight() {
    let udp = |length| packet().udp(1, 2).udp_length(length).payload(b"data").build();
    let small = ErrorKind::TooSmall { field: "Length", found: 7, least: 8 };
    assert_eq!(whole(&udp(7)), fault(34, Header::Udp, small));
    assert!(whole(&udp(8)).is_ok());
}

#[test]
fn l4_header_in_the_padding_is_no_header() {
    // The IP packet has 4 bytes of UDP; the rest of the header would be Ethernet padding.
    let frame = packet().protocol(17).payload(&[0, 1, 0, 2]).padding(&[0, 12, 0, 0, 0, 0, 0, 0]).build();
    assert_eq!(whole(&frame), fault(34, Header::Udp, ErrorKind::Short { needed: 8, left: 4 }));
    let frame = packet().protocol(6).payload(&[0x50; 19]).padding(&[0; 20]).build();
    assert_eq!(whole(&frame), fault(34, Header::Tcp, ErrorKind::Short { needed: 20, left: 19 }));
}

#[test]
fn a_later_fragment_has_no_ports_and_no_transport_header() {
    for base in [packet().ipv4(), packet().ipv6()] {
        let frame = base.tcp(1, 2).fragment(1, false).payload(&[0xff; 3]).build();
        let layers = whole(&frame).unwrap().unwrap();
        assert_eq!((layers.fragment, layers.transport), (Fragment::Later, Transport::Other));
        let flow = layers.five_tuple(&frame);
        assert_eq!((flow.protocol, flow.source_port, flow.destination_port), (6, 0, 0));
        assert_eq!(layers.checksum_at(), None);
    }
}

#[test]
fn a_first_fragment_has_its_transport_header() {
    for base in [packet().ipv4(), packet().ipv6()] {
        let frame = base.udp(1, 2).udp_length(5000).fragment(0, true).payload(&[0; 16]).build();
        let layers = whole(&frame).unwrap().unwrap();
        assert_eq!((layers.fragment, layers.transport), (Fragment::First, Transport::Udp));
    }
}

#[test]
fn a_packet_at_an_offset_is_read_there() {
    let inner = packet().without_ethernet().udp(1, 2).payload(b"x").build();
    let bytes = [&[0xa5; 9][..], &inner].concat();
    let layers = Layers::parse_at(Link::Ip, &bytes, 9, Strictness::Whole).unwrap().unwrap();
    assert_eq!((layers.l3, layers.l4, layers.end), (9, 29, bytes.len()));
}

proptest! {
    #[test]
    fn layers_of_any_packet_are_those_an_independent_reader_finds(packet in ip_packet(80)) {
        let frame = packet.build();
        let layers = whole(&frame).unwrap().unwrap();
        let at = oracle::anatomy(&frame).unwrap();
        prop_assert_eq!((layers.l3, layers.l4, layers.end), (at.l3, at.l3 + at.l3_length, at.end));
        prop_assert_eq!(layers.protocol, at.protocol);
        prop_assert_eq!(layers.fragment != Fragment::Whole, at.is_fragment);
    }

    #[test]
    fn cutting_a_packet_gives_the_same_layers_or_an_error(packet in ip_packet(80), length in 0_usize..200) {
        let frame = packet.build();
        let known = whole(&frame).unwrap().unwrap();
        let length = length.min(frame.len());
        if let Ok(Some(layers)) = cut(&frame[..length]) {
            prop_assert_eq!((layers.l3, layers.l4, layers.end), (known.l3, known.l4, known.end));
            prop_assert!(layers.l4 <= length || known.fragment == Fragment::Later);
        }
    }

    #[test]
    fn any_bytes_are_layers_or_an_error(input in prop::collection::vec(any::<u8>(), 0..120)) {
        inband_testkit::fuzz::layers(&input);
    }
}
