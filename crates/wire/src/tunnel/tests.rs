//! Every tunnel with IPv4 or IPv6 inside, tunnels in tunnels, and tunnels that cannot be read.

use std::vec::Vec;

use inband_testkit::strategies::{ip_packet, mutation};
use inband_testkit::{Packet, packet};
use proptest::prelude::*;

use crate::layers::{Layers, Link, Strictness};

use super::{Innermost, behind_labels, innermost};

fn inner() -> Packet {
    packet().without_ethernet().addresses(&[192, 0, 2, 1], &[192, 0, 2, 2]).tcp(1234, 80).payload(b"inner")
}

fn inner_v6() -> Packet {
    packet().without_ethernet().ipv6().udp(1234, 53)
}

fn inner_frame() -> Vec<u8> {
    packet().vlan(7).addresses(&[192, 0, 2, 1], &[192, 0, 2, 2]).tcp(1234, 80).build()
}

fn over_udp(port: u16, header: &[u8], inner: &[u8]) -> Vec<u8> {
    packet().udp(40000, port).payload(&[header, inner].concat()).build()
}

fn find(frame: &[u8]) -> Innermost {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap();
    innermost(frame, &layers)
}

fn ports(frame: &[u8], found: &Innermost) -> (u8, u16, u16) {
    let flow = found.layers.five_tuple(frame);
    (flow.protocol, flow.source_port, flow.destination_port)
}

const GTPU: [u8; 8] = [0x30, 255, 0, 0, 0, 0, 0, 1];
const VXLAN: [u8; 8] = [0x08, 0, 0, 0, 0x12, 0x34, 0x56, 0];
const LABELS: [u8; 8] = [0, 6, 0x50, 64, 0, 6, 0x51, 64];

#[test]
fn a_packet_without_a_tunnel_is_its_own_innermost_one() {
    let frame = packet().tcp(1234, 80).build();
    let found = find(&frame);
    assert_eq!((ports(&frame, &found), found.vni), ((6, 1234, 80), None));
}

#[test]
fn every_tunnel_shows_the_packet_inside() {
    let (v4, v6) = (inner().build(), inner_v6().build());
    let gre = |protocol: u16, payload: &[u8]| {
        let header = [&[0, 0][..], &protocol.to_be_bytes()].concat();
        packet().protocol(47).payload(&[header, payload.to_vec()].concat()).build()
    };
    let geneve = |protocol: u16, payload: &[u8]| {
        let header = [&[1, 0][..], &protocol.to_be_bytes(), &[0, 0, 9, 0], &[1, 2, 3, 0]].concat();
        over_udp(6081, &header, payload)
    };
    let gtpu_with_pdu_session = [0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0];
    let labelled = [&LABELS[..], &v4].concat();
    let (tcp, udp) = ((6, 1234, 80), (17, 1234, 53));
    let cases = [
        (over_udp(2152, &GTPU, &v4), tcp, None),
        (over_udp(2152, &GTPU, &v6), udp, None),
        (over_udp(2152, &gtpu_with_pdu_session, &v4), tcp, None),
        (over_udp(4789, &VXLAN, &inner_frame()), tcp, Some(0x12_3456)),
        (over_udp(4790, &[0x0c, 0, 0, 1, 0, 0, 8, 0], &v4), tcp, Some(8)),
        (over_udp(4790, &[0x0c, 0, 0, 2, 0, 0, 8, 0], &v6), udp, Some(8)),
        (over_udp(4790, &[0x0c, 0, 0, 3, 0, 0, 8, 0], &inner_frame()), tcp, Some(8)),
        (geneve(0x6558, &inner_frame()), tcp, Some(9)),
        (geneve(0x0800, &v4), tcp, Some(9)),
        (gre(0x0800, &v4), tcp, None),
        (gre(0x86dd, &v6), udp, None),
        (gre(0x6558, &inner_frame()), tcp, None),
        (gre(0x8847, &labelled), tcp, None),
        (packet().protocol(4).payload(&v4).build(), tcp, None),
        (packet().protocol(41).payload(&v6).build(), udp, None),
        (packet().ipv6().protocol(4).payload(&v4).build(), tcp, None),
    ];
    for (number, (frame, expected, vni)) in cases.iter().enumerate() {
        let found = find(frame);
        assert_eq!((ports(frame, &found), found.vni), (*expected, *vni), "case {number}");
    }
}

#[test]
fn tunnels_in_tunnels_are_followed_to_the_fourth_packet() {
    let mut levels = inner().build();
    for depth in 2..=6 {
        levels = packet().without_ethernet().protocol(4).payload(&levels).build();
        let frame = [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0], &levels[..]].concat();
        let is_reached = find(&frame).layers.protocol == 6;
        assert_eq!(is_reached, depth <= 4, "{depth} packets");
    }
    let vxlan = packet().without_ethernet().udp(1, 4789).payload(&[&VXLAN[..], &inner_frame()].concat());
    let frame = over_udp(2152, &GTPU, &vxlan.build());
    let found = find(&frame);
    assert_eq!((ports(&frame, &found), found.vni), ((6, 1234, 80), Some(0x12_3456)));
    assert!(found.in_gtpu && !find(&over_udp(4789, &VXLAN, &inner_frame())).in_gtpu);
}

#[test]
fn a_tunnel_that_cannot_be_read_leaves_the_packet_around_it() {
    let v4 = inner().build();
    let cases = [
        over_udp(2152, &[0x30, 1, 0, 0, 0, 0, 0, 1], &v4),
        over_udp(2152, &[0x50, 255, 0, 0, 0, 0, 0, 1], &v4),
        over_udp(2152, &GTPU, &[0x15; 20]),
        over_udp(2152, &GTPU, &v4[..19]),
        over_udp(4789, &VXLAN[..7], &[]),
        over_udp(4790, &VXLAN, &v4),
    ];
    for frame in cases {
        assert_eq!(find(&frame).layers.protocol, 17, "{frame:02x?}");
    }
    let later = packet().protocol(4).fragment(1, false).payload(&v4).build();
    assert_eq!(find(&later).layers.protocol, 4);
}

#[test]
fn labels_behind_ethernet_lead_to_the_packet() {
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    let labelled = |payload: &[u8]| [&ethernet[..], &[0x88, 0x47], &LABELS, payload].concat();
    let frame = labelled(&inner().build());
    let found = behind_labels(&frame).unwrap();
    assert_eq!(ports(&frame, &found), (6, 1234, 80));

    // A pseudowire with its control word is no IP packet, and neither is a frame without labels.
    assert_eq!(behind_labels(&labelled(&[&[0; 4], &inner_frame()[..]].concat())), None);
    assert_eq!(behind_labels(&inner_frame()), None);
}

proptest! {
    #[test]
    fn whatever_the_bytes_the_innermost_packet_is_inside_the_frame(
        packet in ip_packet(64),
        mutation in mutation(),
        port in prop::sample::select(std::vec![2152_u16, 4789, 4790, 6081]),
    ) {
        let mut inner = packet.without_ethernet().build();
        mutation.apply(&mut inner);
        let frame = over_udp(port, &GTPU, &inner);
        if let Ok(Some(layers)) = Layers::parse(Link::Ethernet, &frame, Strictness::Truncated) {
            let found = innermost(&frame, &layers);
            prop_assert!(found.layers.l3 >= layers.l3 && found.layers.l4 <= frame.len());
        }
    }
}
