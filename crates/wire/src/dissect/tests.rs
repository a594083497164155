//! Flows and INT headers through tunnels, up to the maximum depth.

use core::net::{IpAddr, Ipv4Addr};
use std::vec::Vec;

use inband_testkit::strategies::{int_packet, ip_packet, mutation};
use inband_testkit::{Packet, hex, int_md, md_frame, packet};
use proptest::prelude::*;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::CodePoints;
use crate::int::locate::Encapsulation;
use crate::int::md::Md;
use crate::layers::{Link, Strictness};

use super::{Dissection, dissect};

fn whole(frame: &[u8]) -> Dissection {
    dissect(Link::Ethernet, frame, &CodePoints::DEFAULT, Strictness::Whole)
}

fn cut(frame: &[u8]) -> Dissection {
    dissect(Link::Ethernet, frame, &CodePoints::DEFAULT, Strictness::Truncated)
}

fn ports(found: &Dissection) -> Option<(u8, u16, u16)> {
    found.flow.map(|flow| (flow.protocol, flow.source_port, flow.destination_port))
}

/// A host's packet, without Ethernet header.
fn inner() -> Packet {
    packet().without_ethernet().addresses(&[192, 0, 2, 1], &[192, 0, 2, 2]).tcp(1234, 80).payload(b"inner")
}

/// The node ids of the first INT-MD header in a frame of the test data, and its encapsulation.
fn node_ids(frame: &[u8]) -> (Encapsulation, Vec<u32>) {
    let found = whole(frame);
    assert_eq!(found.error, None);
    let (_, location) = found.int().next().unwrap();
    let md = Md::parse(frame, location, &[]).unwrap();
    (location.encapsulation, md.stack.hops().map(|hop| hop.metadata().node_id.unwrap()).collect())
}

#[test]
fn vector_int_md_behind_tcp_marked_by_dscp() {
    let frame = hex(include_str!("../../../../testdata/packets/int-2.1-tcp-dscp17-md.hex"));
    assert_eq!(node_ids(&frame), (Encapsulation::Dscp, [0x2222_2222, 0x1111_1111].to_vec()));
    assert_eq!(ports(&whole(&frame)), Some((6, 40000, 80)));
}

#[test]
fn vector_int_md_behind_a_new_udp_header() {
    let frame = hex(include_str!("../../../../testdata/packets/int-2.1-newudp-npt2-tcp-md.hex"));
    assert_eq!(node_ids(&frame), (Encapsulation::Udp, [0x2222_2222, 0x1111_1111].to_vec()));
    assert_eq!(ports(&whole(&frame)), Some((6, 40000, 80)), "the flow as it was before INT");
}

#[test]
fn vector_int_md_behind_gre_gives_the_flow_of_the_inner_packet() {
    let frame = hex(include_str!("../../../../testdata/packets/int-2.1-gre-md-ipv4.hex"));
    assert_eq!(node_ids(&frame), (Encapsulation::Gre, [0x2222_2222, 0x1111_1111].to_vec()));
    let found = whole(&frame);
    assert_eq!((found.levels().count(), ports(&found)), (2, Some((17, 1234, 4321))));
}

#[test]
fn vector_int_md_behind_vxlan_gpe_gives_the_flow_of_the_inner_frame() {
    let frame = hex(include_str!("../../../../testdata/packets/int-2.1-vxlan-gpe-md.hex"));
    let path = [0x3333_3333, 0x2222_2222, 0x1111_1111].to_vec();
    assert_eq!(node_ids(&frame), (Encapsulation::VxlanGpe, path));
    let found = whole(&frame);
    assert_eq!((found.levels().count(), ports(&found)), (2, Some((17, 1234, 4321))));
}

#[test]
fn vector_shim_shorter_than_its_header_is_malformed() {
    // int-2.1/l4-29
    let frame = hex(include_str!("../../../../testdata/packets/int-2.1-neg-shim-len-short.hex"));
    let kind = ErrorKind::TooSmall { field: "Length", found: 2, least: 3 };
    let found = whole(&frame);
    assert_eq!(found.error, Some(ParseError::new(42, Header::Shim, kind)));
    assert_eq!((found.int().count(), ports(&found)), (0, Some((17, 5000, 5001))));
}

#[test]
fn the_rewritten_udp_port_comes_from_the_shim() {
    let mut int = int_md().hop(1).bytes();
    int[..4].copy_from_slice(&[0x14, 5, 0x1e, 0x61]);
    let frame = packet().udp(9, 33122).payload(&int).build();
    assert_eq!(ports(&whole(&frame)), Some((17, 9, 7777)));
}

#[test]
fn ip_in_ip_and_gre_and_vxlan_and_geneve_are_followed() {
    let ethernet = [2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 3, 8, 0];
    let bridged = [&ethernet[..], &inner().build()].concat();
    let carried = [
        packet().protocol(4).payload(&inner().build()),
        packet().ipv6().protocol(4).payload(&inner().build()),
        packet().protocol(47).payload(&[&[0, 0, 8, 0][..], &inner().build()].concat()),
        packet().protocol(47).payload(&[&[0x20, 0, 0x65, 0x58, 0, 0, 0, 1][..], &bridged].concat()),
        packet().udp(9, 4789).payload(&[&[8, 0, 0, 0, 0, 0, 7, 0][..], &bridged].concat()),
        packet().udp(9, 4790).payload(&[&[12, 0, 0, 1, 0, 0, 7, 0][..], &inner().build()].concat()),
        packet().udp(9, 6081).payload(&[&[1, 0, 0x65, 0x58, 0, 0, 7, 0, 0, 1, 0, 0][..], &bridged].concat()),
    ];
    for carrier in carried {
        let frame = carrier.build();
        let found = whole(&frame);
        assert_eq!((found.levels().count(), ports(&found)), (2, Some((6, 1234, 80))), "{carrier:?}");
        assert_eq!(found.flow.unwrap().source, IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    }
}

#[test]
fn int_of_outer_and_inner_packets_is_found_in_order() {
    // int-2.1/l4-04
    let inner = md_frame().over(packet().without_ethernet().tcp(1, 2)).hop(7).build();
    let tunnel = [&[12, 0, 0, 1, 0, 0, 7, 0][..], &inner].concat();
    let frame = md_frame().over(packet().udp(9, 4790)).hop(2).payload(&tunnel).build();
    let found = whole(&frame);
    let ends: Vec<_> = found.int().map(|(layers, location)| (layers.l3, location.shim)).collect();
    assert_eq!((found.error, ends), (None, [(14, 42), (74, 114)].to_vec()));
}

#[test]
fn four_packets_inside_one_another_are_followed_and_a_fifth_is_not() {
    let nested = |count: usize| {
        (1..count).fold(inner(), |within, _| packet().without_ethernet().protocol(4).payload(&within.build()))
    };
    for (count, protocol) in [(4, 6), (5, 4)] {
        let found = dissect(Link::Ip, &nested(count).build(), &CodePoints::DEFAULT, Strictness::Whole);
        assert_eq!(found.levels().count(), 4);
        assert_eq!(ports(&found).map(|flow| flow.0), Some(protocol), "{count} packets");
    }
}

#[test]
fn chained_int_headers_are_read_up_to_four() {
    let mut link = int_md().hop(1).bytes();
    link[3] = 0x82;
    let chain: Vec<u8> = [&[0x0c, 0, 0, 0x82, 0, 0, 7, 0][..], &link.repeat(6), &[0; 4]].concat();
    let found = whole(&packet().udp(9, 4790).payload(&chain).build());
    assert_eq!((found.int().count(), found.error), (4, None));
}

#[test]
fn padding_behind_the_packet_is_no_inner_packet() {
    let ipip = packet().protocol(4).payload(&inner().build()[..19]).padding(&inner().build()[19..]);
    assert_eq!(whole(&ipip.build()).levels().count(), 1);
}

#[test]
fn a_marked_packet_that_cannot_be_read_is_an_error_and_an_unmarked_one_is_not() {
    let marked = packet().dscp(0x17).tcp(1, 2).payload(&[0x40; 8]).build();
    let kind = ErrorKind::Undefined { field: "Type", found: 4 };
    assert_eq!(whole(&marked).error, Some(ParseError::new(54, Header::Shim, kind)));
    assert_eq!(whole(&packet().tcp(1, 2).payload(&[0x40; 8]).build()).error, None);
    let longer_than_frame = &md_frame().hop(1).build()[..70];
    assert_eq!(whole(longer_than_frame).error.map(|error| error.header), Some(Header::Ipv4));
    assert_eq!(cut(longer_than_frame).int().count(), 1);
    let plain = packet().tcp(1, 2).payload(b"data").build();
    assert_eq!(whole(&plain[..56]).error, None);
}

#[test]
fn a_marked_packet_with_an_impossible_l4_header_is_an_error_if_it_is_whole() {
    let tcp = packet().dscp(0x17).tcp(1, 2).payload(&int_md().hop(1).bytes()).build();
    let udp = packet().dscp(0x17).udp(1, 2).payload(&int_md().hop(1).bytes()).build();
    let with = |frame: &[u8], at: usize, bytes: &[u8]| {
        let mut frame = frame.to_vec();
        frame[34 + at..34 + at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    // Data offset 0, data offset 15 past the end, UDP Length 0.
    let cases = [
        (with(&tcp, 12, &[0x00]), Header::Tcp),
        (with(&tcp, 12, &[0xf0]), Header::Tcp),
        (with(&udp, 4, &[0, 0]), Header::Udp),
    ];
    for (frame, header) in cases {
        for found in [whole(&frame), cut(&frame)] {
            assert_eq!(found.error.map(|error| (error.at, error.header)), Some((34, header)));
        }
        let inside = packet().without_ethernet().protocol(4).payload(&frame[14..]).build();
        let found = dissect(Link::Ip, &inside, &CodePoints::DEFAULT, Strictness::Whole);
        assert_eq!(found.error.map(|error| (error.at, error.header)), Some((40, header)));
        // Cut off, as in a report, or without the mark it is none.
        for length in 34..frame.len() {
            assert_eq!(cut(&frame[..length]).error, None, "{length}");
        }
        let mut unmarked = frame;
        unmarked[15] = 0;
        assert_eq!(whole(&unmarked).error, None);
    }
}

#[test]
fn what_is_not_ip_is_empty() {
    let found = whole(&[0x88; 60]);
    assert_eq!((found.levels().count(), found.flow, found.error), (0, None, None));
    assert_eq!(whole(&[]).levels().count(), 0);
}

proptest! {
    #[test]
    fn int_packets_are_found_whole_or_cut(int in int_packet(), length in any::<prop::sample::Index>()) {
        let frame = int.build();
        let found = whole(&frame);
        prop_assert_eq!((found.error, found.int().count()), (None, 1));
        let cut = cut(&frame[..length.index(frame.len())]);
        prop_assert!(cut.int().count() <= 1);
    }

    #[test]
    fn any_bytes_and_any_harm_give_headers_inside_their_packet(
        packet in ip_packet(60),
        int in int_packet(),
        harm in prop::collection::vec(mutation(), 0..5),
        choice in any::<u8>(),
    ) {
        for mut frame in [packet.build(), int.build()] {
            harm.iter().for_each(|mutation| mutation.apply(&mut frame));
            frame.insert(0, choice);
            inband_testkit::fuzz::dissect(&frame);
        }
    }

    #[test]
    fn any_bytes_are_dissected(input in prop::collection::vec(any::<u8>(), 0..200)) {
        inband_testkit::fuzz::dissect(&input);
    }
}
