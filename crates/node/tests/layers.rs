//! INT in the inner layer of a tunnel, in the outer one, and in both.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Icmp, IntVersion, Layer, Mode, NodeConfig};
use inband_node::{Node, Outcome};
use inband_testkit::oracle;
use inband_wire::int::{CodePoints, Md};
use inband_wire::layers::{Link, Strictness};
use inband_wire::report::ReportGroup;
use inband_wire::{dissect, gtpu};

use support::{ethernet, frame, ipv4, ipv6, next_packet, node_config, slow_checksum, tcp, through, udp};

const INNER_KINDS: [EncapsulationKind; 4] = [
    EncapsulationKind::Dscp,
    EncapsulationKind::UdpPort,
    EncapsulationKind::ProbeMarker,
    EncapsulationKind::Udp,
];

/// IP packets that can be inside a tunnel.
fn inner_packets(kind: EncapsulationKind) -> Vec<(bool, Vec<u8>)> {
    let mut packets = Vec::new();
    for v6 in [false, true] {
        let ip =
            |protocol, payload: &[u8]| if v6 { ipv6(protocol, payload) } else { ipv4(protocol, payload) };
        packets.push((v6, ip(17, &udp(v6, 53, b"inner"))));
        if kind != EncapsulationKind::UdpPort {
            packets.push((v6, ip(6, &tcp(v6, &[1, 1, 1, 0], b"inner payload"))));
        }
    }
    packets
}

/// Every tunnel around an IP packet.
fn tunnels(v6: bool, (inner_is_v6, inner): &(bool, Vec<u8>)) -> Vec<(&'static str, Vec<u8>)> {
    let ethertype = if *inner_is_v6 { 0x86dd } else { 0x0800_u16 };
    let bridged = ethernet(ethertype, inner);
    let behind = |header: &[u8], payload: &[u8]| [header, payload].concat();
    let vxlan = behind(&[8, 0, 0, 0, 0, 0, 7, 0], &bridged);
    let mut without_checksum = frame(v6, 17, &udp(v6, 4789, &vxlan));
    let at = if v6 { 14 + 40 } else { 14 + 20 };
    without_checksum[at + 6..at + 8].fill(0);
    let gpe = behind(&[0x0c, 0, 0, if *inner_is_v6 { 2 } else { 1 }, 0, 0, 7, 0], inner);
    let geneve =
        behind(&[2, 0, 0x65, 0x58, 0, 0, 7, 0, 0x01, 0x04, 0x42, 1, 0xde, 0xad, 0xbe, 0xef], &bridged);
    let plain_gre = behind(&[&[0, 0][..], &ethertype.to_be_bytes()].concat(), inner);
    let mut gre = behind(&[0xb0, 0, 0x65, 0x58, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9], &bridged);
    let checksum = slow_checksum(&[&gre]);
    gre[4..6].copy_from_slice(&checksum.to_be_bytes());
    let length = u16::try_from(inner.len()).unwrap().to_be_bytes();
    let gtpu = behind(&[0x30, 255, length[0], length[1], 0, 0, 0, 1], inner);
    vec![
        ("vxlan", frame(v6, 17, &udp(v6, 4789, &vxlan))),
        ("vxlan without checksum", without_checksum),
        ("vxlan-gpe", frame(v6, 17, &udp(v6, 4790, &gpe))),
        ("geneve", frame(v6, 17, &udp(v6, 6081, &geneve))),
        ("gre", frame(v6, 47, &plain_gre)),
        ("gre with checksum", frame(v6, 47, &gre)),
        ("gtp-u", frame(v6, 17, &udp(v6, gtpu::PORT, &gtpu))),
        ("ip in ip", frame(v6, if *inner_is_v6 { 41 } else { 4 }, inner)),
    ]
}

fn config(id: u32, edges: (bool, bool), layer: Layer, kind: EncapsulationKind, mode: Mode) -> NodeConfig {
    let mut config = node_config(id, edges, kind, mode);
    config.encapsulation.layer = layer;
    config.report.truncate = 1024;
    config
}

fn path(length: u32, layer: Layer, kind: EncapsulationKind, mode: Mode) -> Vec<Node> {
    let node = |id| Node::new(&config(id, (id == 1, id == length), layer, kind, mode)).unwrap();
    (1..=length).map(node).collect()
}

/// The code points of the two layers, with DSCP only if one of them is marked by it.
fn code_points(kinds: &[EncapsulationKind]) -> CodePoints<'static> {
    let is_dscp = kinds.contains(&EncapsulationKind::Dscp);
    CodePoints { dscp: if is_dscp { CodePoints::DEFAULT.dscp } else { &[] }, ..CodePoints::DEFAULT }
}

/// Checks length and checksum of every layer by recomputation; `what` names the packet.
fn check_all_layers(frame: &[u8], kinds: &[EncapsulationKind], what: &str) {
    let found = dissect(Link::Ethernet, frame, &code_points(kinds), Strictness::Whole);
    assert_eq!(found.error, None, "{what}");
    assert!(found.levels().count() >= 2, "{what}: the tunnel is there");
    for level in found.levels() {
        let layers = level.layers;
        let ethertype = if frame[layers.l3] >> 4 == 6 { 0x86dd } else { 0x0800 };
        let alone = ethernet(ethertype, &frame[layers.l3..layers.end]);
        assert!(oracle::ipv4_header_sum(&alone).is_none_or(|sum| sum == 0xffff), "{what}");
        assert!(oracle::l4_sum(&alone).is_none_or(|sum| sum == 0xffff), "{what}");
        if layers.protocol == 47 && frame[layers.l4] & 0x80 != 0 {
            assert_eq!(slow_checksum(&[&frame[layers.l4..layers.end]]), 0, "{what}: GRE checksum");
        }
        if layers.udp(frame).is_some_and(|header| header.destination_port.get() == gtpu::PORT) {
            let at = layers.l4 + 8 + level.int().last().map_or(0, |int| int.end - layers.l4 - 8);
            let length = usize::from(u16::from_be_bytes([frame[at + 2], frame[at + 3]]));
            assert_eq!(at + 8 + length, layers.end, "{what}: GTP-U length");
        }
    }
    assert_eq!(found.levels().next().unwrap().layers.end, frame.len(), "{what}");
}

#[test]
fn int_in_the_inner_layer_keeps_every_checksum_and_leaves_no_trace() {
    // int-2.1/l4-04, int-2.1/l4-03, int-2.1/checksum-03, int-2.1/sink-01
    for kind in INNER_KINDS {
        for mode in [Mode::Md, Mode::Mx] {
            for outer_is_v6 in [false, true] {
                for inner in inner_packets(kind) {
                    for (tunnel, original) in tunnels(outer_is_v6, &inner) {
                        let what = format!(
                            "{kind:?} {mode:?} in {tunnel}, outer v6 {outer_is_v6}, inner v6 {}",
                            inner.0
                        );
                        check_all_layers(&original, &[], &what);
                        let mut nodes = path(4, Layer::Inner, kind, mode);
                        let mut packet = original.clone();
                        for node in &mut nodes[..3] {
                            packet = through(node, &packet).unwrap();
                            check_all_layers(&packet, &[kind], &what);
                            let found =
                                dissect(Link::Ethernet, &packet, &code_points(&[kind]), Strictness::Whole);
                            let with_int: Vec<_> = found.levels().map(|level| level.int().count()).collect();
                            assert!(
                                found.only_level_with_int().is_some() && !found.has_nested_int(),
                                "{what}"
                            );
                            assert_eq!(with_int, [0, 1], "{what}");
                        }
                        assert_eq!(through(&mut nodes[3], &packet).unwrap(), original, "{what}");
                        let datagram = support::reports(&mut nodes[3]).remove(0);
                        let group = ReportGroup::parse(&datagram).unwrap();
                        let report = group.reports().next().unwrap().unwrap();
                        if mode == Mode::Md {
                            let fragment = report.packet().unwrap().1;
                            assert_eq!(path_of(fragment, kind), [4, 3, 2, 1], "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// The node ids of the only stack of a packet.
fn path_of(packet: &[u8], kind: EncapsulationKind) -> Vec<u32> {
    let found = dissect(Link::Ethernet, packet, &code_points(&[kind]), Strictness::Truncated);
    let (_, location) = found.int().next().unwrap();
    let md = Md::parse(packet, location, &[]).unwrap();
    md.stack.hops().map(|hop| hop.metadata().node_id.unwrap()).collect()
}

#[test]
fn both_layers_at_once_keep_every_checksum_and_come_back_bit_for_bit() {
    // int-2.1/l4-04, int-2.1/checksum-03, int-2.1/sink-01, int-2.1/domain-03
    let outer_kinds = [
        (EncapsulationKind::Dscp, &["vxlan", "vxlan without checksum", "vxlan-gpe", "geneve"][..]),
        (EncapsulationKind::UdpPort, &["vxlan", "vxlan without checksum", "geneve", "gtp-u"]),
        (EncapsulationKind::ProbeMarker, &["vxlan", "geneve"]),
        (EncapsulationKind::Udp, &["vxlan", "vxlan without checksum", "geneve", "gre", "gtp-u", "ip in ip"]),
        (EncapsulationKind::Gre, &["vxlan", "gre", "gre with checksum", "gtp-u", "ip in ip"]),
        (EncapsulationKind::VxlanGpe, &["vxlan", "vxlan without checksum", "vxlan-gpe"]),
        (EncapsulationKind::Geneve, &["geneve"]),
    ];
    for (outer_kind, names) in outer_kinds {
        for inner_kind in INNER_KINDS {
            for inner in inner_packets(inner_kind) {
                for v6 in [false, true] {
                    for (tunnel, original) in tunnels(v6, &inner) {
                        if names.contains(&tunnel) {
                            let what = format!("{inner_kind:?} in {tunnel} with {outer_kind:?}, v6 {v6}");
                            carry_both(&original, outer_kind, inner_kind, &what);
                        }
                    }
                }
            }
        }
    }
}

fn carry_both(original: &[u8], outer_kind: EncapsulationKind, inner_kind: EncapsulationKind, what: &str) {
    let kinds = [outer_kind, inner_kind];
    let mut inner = path(3, Layer::Inner, inner_kind, Mode::Md);
    let mut outer = path(3, Layer::Outer, outer_kind, Mode::Md);
    let with_inner = through(&mut inner[0], original).unwrap();
    let with_both = through(&mut outer[0], &with_inner).unwrap();
    assert_eq!(outer[0].counters().get(Outcome::Started), 1, "{what}");
    check_all_layers(&with_both, &kinds, what);
    let inner_grown = through(&mut inner[1], &with_both).unwrap();
    assert_eq!(inner[1].counters().get(Outcome::Pushed), 1, "{what}");
    check_all_layers(&inner_grown, &kinds, what);
    let both_grown = through(&mut outer[1], &inner_grown).unwrap();
    assert_eq!(outer[1].counters().get(Outcome::Pushed), 1, "{what}");
    check_all_layers(&both_grown, &kinds, what);
    // Either layer may end first.
    let mut outer_first = outer[2].clone();
    let without_outer = through(&mut outer_first, &both_grown).unwrap();
    check_all_layers(&without_outer, &kinds, what);
    assert_eq!(through(&mut inner[2].clone(), &without_outer).unwrap(), original, "{what}, outer first");
    let without_inner = through(&mut inner[2], &both_grown).unwrap();
    check_all_layers(&without_inner, &kinds, what);
    assert_eq!(through(&mut outer[2], &without_inner).unwrap(), original, "{what}, inner first");
}

#[test]
fn nodes_of_one_layer_leave_int_of_the_other_as_it_is() {
    // int-2.1/l4-04
    let inner_packet = &inner_packets(EncapsulationKind::Dscp)[1];
    let original = tunnels(false, inner_packet).remove(0).1;
    let with_inner =
        through(&mut path(3, Layer::Inner, EncapsulationKind::Dscp, Mode::Md)[0], &original).unwrap();
    for kind in [EncapsulationKind::Dscp, EncapsulationKind::UdpPort, EncapsulationKind::VxlanGpe] {
        let mut transit = config(2, (false, false), Layer::Outer, kind, Mode::Md);
        transit.watchlist.clear();
        let mut transit = Node::new(&transit).unwrap();
        assert_eq!(through(&mut transit, &with_inner).unwrap(), with_inner, "{kind:?}");
        let with_outer = through(&mut path(3, Layer::Outer, kind, Mode::Md)[0], &original).unwrap();
        let mut inner_transit = path(3, Layer::Inner, EncapsulationKind::Udp, Mode::Md).remove(1);
        assert_eq!(through(&mut inner_transit, &with_outer).unwrap(), with_outer, "{kind:?}");
    }
}

#[test]
fn a_packet_that_is_no_tunnel_carries_int_itself_in_either_layer() {
    let original = frame(false, 6, &tcp(false, &[], b"payload"));
    let started =
        |layer| through(&mut path(2, layer, EncapsulationKind::Dscp, Mode::Md)[0], &original).unwrap();
    assert_eq!(started(Layer::Inner), started(Layer::Outer));
    let mut sink = path(2, Layer::Inner, EncapsulationKind::Dscp, Mode::Md).remove(1);
    assert_eq!(through(&mut sink, &started(Layer::Outer)).unwrap(), original);
}

#[test]
fn the_outer_packet_counts_against_the_mtu_and_its_sender_is_told() {
    // int-2.1/mtu-07: with 15 bytes of room the fixed headers do not fit, and INT is not started.
    // int-2.1/mtu-08: with 16 to 23 they fit and the source's 8 bytes do not, so INT starts without them.
    // int-2.1/mtu-02: the sender learns what would fit.
    let inner = ethernet(0x0800, &ipv4(6, &tcp(false, &[], &[0x40; 400])));
    let original = frame(false, 17, &udp(false, 4789, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &inner].concat()));
    let length = original.len() - 14;
    for (room, started, pushed) in [(24, 1, 1), (23, 1, 0), (16, 1, 0), (15, 0, 0)] {
        let mut config = config(1, (true, false), Layer::Inner, EncapsulationKind::Dscp, Mode::Md);
        config.interfaces[1].mtu = u32::try_from(length + room).unwrap();
        config.mtu.icmp = Icmp::Own;
        let mut source = Node::new(&config).unwrap();
        let sent = through(&mut source, &original).unwrap();
        let grown = sent.len() - original.len();
        assert_eq!(grown, started * 16 + pushed * 8, "{room} bytes of room");
        assert_eq!(source.counters().get(Outcome::Started), u64::try_from(started).unwrap());
        let reply = next_packet(&mut source);
        assert_eq!(reply.is_some(), pushed == 0, "{room} bytes of room");
        if let Some(reply) = reply {
            let message = &reply.bytes[34..];
            assert_eq!(usize::from(u16::from_be_bytes([message[6], message[7]])), length + room - 24);
            assert!(original[14..].starts_with(&message[8..]), "the packet as its sender made it");
        }
    }
}

#[test]
fn a_tunnel_in_fragments_is_left_alone() {
    let original = tunnels(false, &inner_packets(EncapsulationKind::Dscp)[1]).remove(0).1;
    let mut first = original;
    first[20] = 0x20;
    support::repair_ip_checksum(&mut first);
    let mut source = path(2, Layer::Inner, EncapsulationKind::Dscp, Mode::Md).remove(0);
    assert_eq!(through(&mut source, &first).unwrap(), first);
    assert_eq!(source.counters().get(Outcome::NoInt), 1);
    // int-2.1/modes-01: reporting changes nothing.
    let mut watching = path(2, Layer::Inner, EncapsulationKind::Dscp, Mode::Xd).remove(0);
    assert_eq!(through(&mut watching, &first).unwrap(), first);
    assert_eq!(support::reports(&mut watching).len(), 1);
}

#[test]
fn copies_of_a_tunnel_are_whole_packets_and_end_at_the_sink() {
    // int-2.1/modes-04
    let original = tunnels(true, &inner_packets(EncapsulationKind::Dscp)[3]).remove(0).1;
    let mut config = config(1, (true, false), Layer::Inner, EncapsulationKind::Dscp, Mode::Md);
    config.source.clone = 1;
    let mut source = Node::new(&config).unwrap();
    assert_eq!(through(&mut source, &original).unwrap(), original);
    let copy = next_packet(&mut source).unwrap().bytes;
    check_all_layers(&copy, &[EncapsulationKind::Dscp], "copy");
    let mut sink = path(2, Layer::Inner, EncapsulationKind::Dscp, Mode::Md).remove(1);
    assert_eq!(through(&mut sink, &copy), None);
}

#[test]
fn the_inner_layer_has_the_encapsulations_behind_tcp_and_udp() {
    for kind in [EncapsulationKind::Gre, EncapsulationKind::VxlanGpe, EncapsulationKind::Geneve] {
        let refused = Node::new(&config(1, (true, false), Layer::Inner, kind, Mode::Md)).unwrap_err();
        assert_eq!(refused.key(), "encapsulation.kind");
    }
    let mut old = config(1, (true, false), Layer::Inner, EncapsulationKind::Dscp, Mode::Md);
    old.node.int_version = Some(IntVersion::V1_0);
    assert_eq!(Node::new(&old).unwrap_err().key(), "encapsulation.layer");
}

#[test]
fn a_header_that_need_not_change_keeps_a_checksum_that_could_not_be_corrected_and_back() {
    // An IPv4 header checksum of 0xffff is equivalent to 0, so INT is not started inside it either.
    let mut original = tunnels(false, &inner_packets(EncapsulationKind::Dscp)[1]).remove(0).1;
    original[24..26].fill(0xff);
    let mut source = path(2, Layer::Inner, EncapsulationKind::Dscp, Mode::Md).remove(0);
    assert_eq!(through(&mut source, &original).unwrap(), original);
    assert_eq!(source.counters().get(Outcome::NotStartedChecksum), 1);
}

#[test]
fn a_new_ip_header_inside_of_a_tunnel_is_where_int_is_found_again() {
    // int-2.1/l4-07: ESP inside VXLAN gets a new IP and UDP header there.
    for mode in [Mode::Md, Mode::Mx] {
        let inner = ethernet(0x86dd, &ipv6(50, &[0x5a; 21]));
        let payload = [&[8, 0, 0, 0, 0, 0, 7, 0][..], &inner].concat();
        let original = frame(true, 17, &udp(true, 4789, &payload));
        let mut nodes = path(4, Layer::Inner, EncapsulationKind::Udp, mode);
        let mut packet = original.clone();
        for (index, node) in nodes.iter_mut().enumerate() {
            packet = through(node, &packet).unwrap();
            let outcomes = [Outcome::Started, Outcome::Transit, Outcome::Transit, Outcome::Stripped];
            assert_eq!(node.counters().get(outcomes[index]), 1, "{mode:?} node {index}");
            assert_eq!(oracle::l4_sum(&packet), Some(0xffff), "{mode:?} node {index}");
        }
        assert_eq!(packet, original, "{mode:?}");
    }
}

#[test]
fn a_dscp_that_the_tunnel_endpoint_copied_outward_marks_nothing_there() {
    // int-2.1/l4-04
    for kind in INNER_KINDS {
        for v6 in [false, true] {
            for (tunnel, mut original) in tunnels(v6, &inner_packets(kind)[0]) {
                let class: u16 = 0x17 << 6;
                if v6 {
                    let word = u16::from_be_bytes([original[14], original[15]]) & !0x0fc0 | class;
                    original[14..16].copy_from_slice(&word.to_be_bytes());
                } else {
                    original[15] = 0x17 << 2;
                    support::repair_ip_checksum(&mut original);
                }
                let mut packet = original.clone();
                for node in &mut path(3, Layer::Inner, kind, Mode::Md) {
                    packet = through(node, &packet).unwrap();
                    check_all_layers(&packet, &[kind], tunnel);
                }
                assert_eq!(packet, original, "{kind:?} in {tunnel}, v6 {v6}");
            }
        }
    }
}

#[test]
fn the_watchlist_looks_at_the_tunnel_and_through_int_of_the_other_layer() {
    // int-2.1/domain-04
    let original = tunnels(false, &inner_packets(EncapsulationKind::Dscp)[1]).remove(0).1;
    let with_outer =
        through(&mut path(2, Layer::Outer, EncapsulationKind::UdpPort, Mode::Md)[0], &original).unwrap();
    for (entry, plain, behind_int) in [
        ("vni = 7", 1, 0),
        ("vni = 8", 0, 0),
        ("protocol = \"tcp\"", 1, 1),
        ("destination_port = 80", 1, 1),
        ("destination_port = 4789", 1, 0),
        ("destination_port = 53", 0, 0),
    ] {
        let mut config = config(1, (true, false), Layer::Inner, EncapsulationKind::Dscp, Mode::Md);
        config.watchlist = vec![toml::from_str(entry).unwrap()];
        for (packet, expected) in [(&original, plain), (&with_outer, behind_int)] {
            let mut source = Node::new(&config).unwrap();
            through(&mut source, packet).unwrap();
            assert_eq!(source.counters().get(Outcome::Started), expected, "{entry}");
        }
    }
}
