//! Processing of INT 1.0, 0.5, 2016 and Host-INT, header by header.
#![allow(clippy::unwrap_used, reason = "the helpers are a test's")]

use inband_node::config::{
    DialectName, EncapsulationKind, Instruction, IntVersion, InterfaceConfig, NodeConfig, SinkMetadata,
    UnknownInstructions, WatchEntry,
};
use inband_node::{Node, Outcome};
use inband_testkit::path::{NodePlan, next_report, send};
use inband_testkit::{
    EarlierInt, Int, Packet, host_int, int_0_5, int_1_0, int_in_tunnel, int_md, oracle, packet,
};
use inband_wire::report::ReportGroup;

/// A node of id 7 inside its domain, on interfaces with an MTU of 9000 bytes.
fn config(version: IntVersion, kind: EncapsulationKind) -> NodeConfig {
    let mut config = NodeConfig::new(7);
    config.node.int_version = Some(version);
    config.encapsulation.kind = Some(kind);
    config.interfaces = [1, 2].map(|id| InterfaceConfig { mtu: 9000, ..InterfaceConfig::new(id) }).into();
    config.watchlist = vec![WatchEntry::default()];
    config
}

/// A node of 2.1 in a domain of `kind`: it reads all versions.
fn transit(kind: EncapsulationKind) -> NodeConfig {
    config(IntVersion::V2_1, kind)
}

fn sink(kind: EncapsulationKind) -> NodeConfig {
    let mut config = transit(kind);
    config.interfaces[1].edge = true;
    config.sink.own_metadata = SinkMetadata::None;
    config
}

fn source(version: IntVersion, kind: EncapsulationKind) -> NodeConfig {
    let mut config = config(version, kind);
    config.interfaces[0].edge = true;
    config
}

/// The node's output, which has correct checksums, and the node.
fn through(config: &NodeConfig, frame: &[u8]) -> (Vec<u8>, Node) {
    let mut node = Node::new(config).unwrap();
    let sent = send(&mut node, frame, &NodePlan([0; 4]).passage()).expect("it is not consumed");
    assert!(matches!(oracle::l4_sum(&sent), Some(0xffff) | None), "L4 checksum");
    assert!(matches!(oracle::ipv4_header_sum(&sent), Some(0xffff) | None), "IPv4 header checksum");
    (sent, node)
}

fn over_tcp(int: &EarlierInt) -> Vec<u8> {
    packet().dscp(0x17).tcp(40000, 22).payload(&[&int.bytes()[..], b"data"].concat()).build()
}

fn plain() -> Packet {
    packet().tcp(40000, 22).payload(b"data")
}

/// VXLAN-GPE that announces `int` by the Next Protocol of 0.5 and 2016.
fn in_vxlan_gpe(int: &[u8]) -> Vec<u8> {
    let behind = [&[0x0c, 0, 0, 5, 0, 0, 7, 0][..], int, &[0xee; 14]].concat();
    packet().udp(7, 4790).payload(&behind).build()
}

/// Geneve with `options`.
fn in_geneve(options: &[u8]) -> Vec<u8> {
    let words = u8::try_from(options.len() / 4).unwrap();
    let behind = [&[words, 0, 0x65, 0x58, 0, 0, 7, 0][..], options, &[0xee; 14]].concat();
    packet().udp(7, 6081).payload(&behind).build()
}

fn option(kind: u8, int: &EarlierInt) -> Vec<u8> {
    let header = int.header();
    [&[0, 0xab, kind, u8::try_from(header.len() / 4).unwrap()][..], &header].concat()
}

/// The hop of node 7 as these nodes write it: id, queue 3 with occupancy 258.
const HOP: [u32; 2] = [7, 0x0300_0102];

#[test]
fn a_hop_goes_on_top_and_only_counts_and_lengths_change() {
    // int-0.5/md-07, int-1.0/md-04
    // int-2016/headers-02, int-2016/md-16, int-2016/md-18
    let cases = [
        (int_1_0().max_hops(6), int_1_0().max_hops(5)),
        (int_0_5(), int_0_5()),
        (int_1_0().mtu_exceeded(), int_1_0().max_hops(5).mtu_exceeded()),
        (int_0_5().flags(0x01), int_0_5().flags(0x01)),
    ];
    for (before, after) in cases {
        let (sent, node) = through(&transit(EncapsulationKind::Dscp), &over_tcp(&before.hop(2).hop(1)));
        assert_eq!(sent, over_tcp(&after.words(&HOP).hop(2).hop(1)));
        assert_eq!(node.counters().get(Outcome::Pushed), 1);
    }
}

#[test]
fn a_source_of_2016_asks_for_one_interface_and_for_congestion_alone() {
    // int-2016/md-02: bits 1, 5 and 6 are ingress port, egress port and queue congestion, one word each.
    // int-2016/md-04: congestion is not measured, so it is 0x7FFFFFFF.
    let cases = [
        (Instruction::IngressInterface, 0x4000, 1),
        (Instruction::EgressInterface, 0x0400, 2),
        (Instruction::QueueCongestion, 0x0200, 0x7fff_ffff),
    ];
    for (instruction, bitmap, value) in cases {
        let mut config = source(IntVersion::V2016, EncapsulationKind::VxlanGpe);
        config.source.instructions = [Instruction::NodeId, instruction].into_iter().collect();
        config.encapsulation.vxlan_gpe_next_protocol = Some(5);
        let plain =
            packet().udp(7, 4790).payload(&[&[0x0c, 0, 0, 3, 0, 0, 7, 0][..], &[0xee; 14]].concat()).build();
        let (sent, _) = through(&config, &plain);
        let int = int_in_tunnel().max_hops(8).bitmap(0x8000 | bitmap).words(&[7, 0x8000_0000 | value]);
        assert_eq!(sent[50..66 + 4], int.bytes()[..], "{instruction:?}");
    }
}

#[test]
fn a_source_of_0_5_asks_for_congestion_alone() {
    // int-0.5/md-02
    let mut config = source(IntVersion::V0_5, EncapsulationKind::Dscp);
    config.source.instructions = [Instruction::QueueCongestion].into_iter().collect();
    let (sent, _) = through(&config, &plain().build());
    let int = int_0_5().max_hops(8).bitmap(0x0200).words(&[u32::MAX]);
    assert_eq!(sent[54..54 + 16], int.bytes()[..16]);
}

#[test]
fn what_2_1_does_not_have_is_refused_by_name_where_2_1_is_asked() {
    for instruction in
        [Instruction::IngressInterface, Instruction::EgressInterface, Instruction::QueueCongestion]
    {
        let list = || [instruction].into_iter().collect();
        let mut asked = source(IntVersion::V2_1, EncapsulationKind::Dscp);
        asked.source.instructions = list();
        let mut unavailable = source(IntVersion::V2016, EncapsulationKind::VxlanGpe);
        unavailable.offline.unavailable = list();
        for (config, key) in [(asked, "source.instructions"), (unavailable, "offline.unavailable")] {
            let error = Node::new(&config).unwrap_err();
            assert_eq!(error.key(), key);
            assert!(error.to_string().contains(instruction.name()), "{error}");
        }
    }
}

#[test]
fn reserved_bits_are_not_looked_at_and_stay_until_the_sink_removes_them() {
    // host-int-0.5/packet-12, int-2016/md-20, int-1.0/md-07, int-0.5/md-09
    let tcp = EncapsulationKind::Dscp;
    for (kind, int, frame) in [
        (tcp, int_1_0().hop(2).hop(1), over_tcp as fn(&EarlierInt) -> Vec<u8>),
        (tcp, int_0_5().hop(2).hop(1), over_tcp),
        (tcp, host_int(), over_tcp),
        (EncapsulationKind::VxlanGpe, int_in_tunnel().hop(2).hop(1), |int| in_vxlan_gpe(&int.bytes())),
        (EncapsulationKind::VxlanGpe, int_in_tunnel().words(&[2, 20, 1, 0x8000_000a]), |int| {
            in_vxlan_gpe(&int.bytes())
        }),
        (EncapsulationKind::Geneve, int_in_tunnel().hop(2).hop(1), |int| in_geneve(&option(1, int))),
        (EncapsulationKind::Geneve, int_in_tunnel().words(&[2, 20, 1, 0x8000_000a]), |int| {
            in_geneve(&option(1, int))
        }),
    ] {
        let reserved = int.clone().reserved();
        let (sent, node) = through(&transit(kind), &frame(&reserved));
        assert_eq!(node.counters().get(Outcome::Pushed), 1, "{int:?}");
        let (usual, _) = through(&transit(kind), &frame(&int));
        // After the L4 checksum the frames differ in the same bits as before.
        let at = if kind == tcp { 52 } else { 42 };
        let difference = |one: &[u8], other: &[u8]| {
            one[at..].iter().zip(&other[at..]).map(|(one, other)| one ^ other).take(20).collect::<Vec<u8>>()
        };
        let before = difference(&frame(&reserved), &frame(&int));
        assert!(before.iter().any(|bits| *bits != 0), "{int:?}");
        assert_eq!(difference(&sent, &usual), before, "{int:?}");

        let (stripped, node) = through(&sink(kind), &frame(&reserved));
        assert_eq!(node.counters().get(Outcome::Stripped), 1, "{int:?}");
        assert_eq!(stripped, through(&sink(kind), &frame(&int)).0, "{int:?}");
    }
}

#[test]
fn host_int_keeps_sequence_number_and_tail_behind_the_stack() {
    // host-int-0.5/packet-07
    let before = host_int();
    let (sent, _) = through(&transit(EncapsulationKind::Dscp), &over_tcp(&before));
    let low = u32::try_from(1_700_000_000_000_000_000_u64 & 0xffff_ffff).unwrap();
    let behind = before.bytes()[12..].to_vec();
    let mut expected = before.bytes()[..12].to_vec();
    (expected[2], expected[7]) = (13, 2);
    let entry = [7, 0x0001_0002, low, low + 1000].map(u32::to_be_bytes).concat();
    expected.extend([entry, behind, b"data".to_vec()].concat());
    assert_eq!(&sent[54..], &expected[..]);
}

#[test]
fn without_hops_left_e_is_set_and_the_stack_stays() {
    // int-0.5/md-08, int-1.0/md-05
    // int-2016/md-13
    let full = int_0_5().max_hops(2);
    let cases = [
        (int_1_0().max_hops(0).hop(1), int_1_0().max_hops(0).flags(0x11).hop(1)),
        (full.clone().hop(2).hop(1), full.clone().flags(0x01).hop(2).hop(1)),
        (full.clone().max_hops(1).hop(2).hop(1), full.max_hops(1).flags(0x01).hop(2).hop(1)),
    ];
    for (before, after) in cases {
        let (sent, node) = through(&transit(EncapsulationKind::Dscp), &over_tcp(&before));
        assert_eq!(sent, over_tcp(&after));
        assert_eq!(node.counters().get(Outcome::HopsExceeded), 1);
    }
    let full = int_in_tunnel().max_hops(1).words(&[1, 0x8000_0001]);
    let (sent, _) = through(&transit(EncapsulationKind::VxlanGpe), &in_vxlan_gpe(&full.bytes()));
    assert_eq!(sent, in_vxlan_gpe(&full.flags(0x04).bytes()));
}

#[test]
fn the_last_hop_that_is_allowed_is_added() {
    // int-2016/location-03
    let (sent, _) = through(&transit(EncapsulationKind::Dscp), &over_tcp(&int_1_0().max_hops(1).hop(1)));
    assert_eq!(sent, over_tcp(&int_1_0().max_hops(0).words(&HOP).hop(1)));
    let (sent, _) = through(&transit(EncapsulationKind::Dscp), &over_tcp(&int_0_5().max_hops(2).hop(1)));
    assert_eq!(sent, over_tcp(&int_0_5().max_hops(2).words(&HOP).hop(1)));
}

#[test]
fn a_full_mtu_sets_m_in_1_0_and_nothing_before() {
    // int-1.0/md-06
    let ip_bytes = |frame: &[u8]| u32::try_from(frame.len() - 14).unwrap();
    for (int, marked) in [(int_1_0(), int_1_0().mtu_exceeded()), (int_0_5(), int_0_5())] {
        let frame = over_tcp(&int.clone().hop(1));
        let mut config = transit(EncapsulationKind::Dscp);
        config.interfaces[1].mtu = ip_bytes(&frame) + 8;
        let (sent, _) = through(&config, &frame);
        assert_eq!(sent.len(), frame.len() + 8);
        config.interfaces[1].mtu -= 1;
        let (sent, node) = through(&config, &frame);
        assert_eq!(sent, over_tcp(&marked.hop(1)));
        assert_eq!(node.counters().get(Outcome::MtuExceeded), 1);
    }
}

#[test]
fn reserved_instructions_are_padded_or_make_the_hop_skip() {
    // int-2016/md-05
    let cases =
        [(int_1_0(), 0x9080, vec![7, HOP[1], u32::MAX]), (int_0_5(), 0x9001, vec![7, HOP[1], u32::MAX])];
    for (int, bitmap, padded) in cases {
        let before = int.bitmap(bitmap);
        let mut config = transit(EncapsulationKind::Dscp);
        let (sent, _) = through(&config, &over_tcp(&before));
        assert_eq!(
            sent[66..66 + 12],
            padded.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>()[..]
        );
        config.node.unknown_instructions = UnknownInstructions::Skip;
        let (sent, node) = through(&config, &over_tcp(&before));
        assert_eq!(sent, over_tcp(&before));
        assert_eq!(node.counters().get(Outcome::ReservedInstruction), 1);
    }
}

#[test]
fn values_of_2016_have_31_bits_and_the_bottom_of_the_stack_is_marked_once() {
    // int-2016/md-03, int-2016/md-06
    let kind = EncapsulationKind::VxlanGpe;
    let empty = int_in_tunnel().bitmap(0xff00);
    let mut config = transit(kind);
    config.node.id = 0x8000_0001;
    let (first, _) = through(&config, &in_vxlan_gpe(&empty.bytes()));
    config.node.id = 2;
    let (second, _) = through(&config, &in_vxlan_gpe(&empty.bytes()));
    let none = 0x7fff_ffff;
    let low = u32::try_from(1_700_000_000_000_000_000_u64 & 0x7fff_ffff).unwrap();
    // An id of 32 bits is not available; there is no congestion status.
    let hop = |id: u32, bottom: u32| [id, 1, 1000, 258, low, 2, none, bottom];
    assert_eq!(first, in_vxlan_gpe(&empty.clone().words(&hop(none, 0x8000_0000)).bytes()));
    assert_eq!(second, in_vxlan_gpe(&empty.clone().words(&hop(2, 0x8000_0000)).bytes()));
    let (third, _) = through(&config, &second);
    assert_eq!(third, in_vxlan_gpe(&empty.words(&hop(2, 0)).words(&hop(2, 0x8000_0000)).bytes()));
}

#[test]
fn transit_fills_the_hop_by_hop_header_and_the_sink_takes_both_out() {
    // int-2016/roles-01, int-2016/headers-01, int-2016/headers-03
    let stack = |words: &[u32]| int_in_tunnel().words(words);
    let (first, more) = (stack(&[1, 0x8000_0001]), stack(&[7, 258, 1, 0x8000_0001]));
    let opaque = [2, 0, 3, 3, 0xde, 0xad, 0xbe, 0xef, 0x10, 0x20, 0x30, 0x40];
    let kind = EncapsulationKind::VxlanGpe;
    let chain = |int: EarlierInt| in_vxlan_gpe(&[int.last_of_shim(5).bytes(), opaque.to_vec()].concat());
    let (sent, _) = through(&transit(kind), &chain(first));
    assert_eq!(sent, chain(more));
    let (left, node) = through(&sink(kind), &sent);
    let original = [&[0x0c, 0, 0, 3, 0, 0, 7, 0][..], &[0xee; 14]].concat();
    assert_eq!(left, packet().udp(7, 4790).payload(&original).build());
    assert_eq!(node.counters().get(Outcome::Stripped), 1);
}

#[test]
fn both_options_of_geneve_leave_and_others_stay() {
    // int-2016/geneve-01, int-2016/geneve-02
    let kind = EncapsulationKind::Geneve;
    let others = [0x01, 0x02, 0x03, 1, 9, 9, 9, 9];
    let destination = [0, 0xab, 2, 1, 0xca, 0xfe, 0xca, 0xfe];
    let options = |words: &[u32]| {
        let int = option(1, &int_in_tunnel().words(words));
        in_geneve(&[&others[..], &int, &destination].concat())
    };
    let (sent, _) = through(&transit(kind), &options(&[1, 0x8000_0001]));
    assert_eq!(sent, options(&[7, 258, 1, 0x8000_0001]));
    let (left, _) = through(&sink(kind), &sent);
    assert_eq!(left, in_geneve(&others));
}

#[test]
fn what_a_domain_of_0_5_sends_in_tunnels_stays_0_5() {
    // An empty stack could be of 2016, whose last word has its first bit set.
    let empty = int_in_tunnel();
    let of_0_5 = config(IntVersion::V0_5, EncapsulationKind::VxlanGpe);
    let (sent, _) = through(&of_0_5, &in_vxlan_gpe(&empty.bytes()));
    assert_eq!(sent, in_vxlan_gpe(&empty.clone().words(&HOP).bytes()));
    let of_2016 = config(IntVersion::V2016, EncapsulationKind::VxlanGpe);
    let (sent, _) = through(&of_2016, &in_vxlan_gpe(&empty.bytes()));
    assert_eq!(sent, in_vxlan_gpe(&empty.words(&[7, 0x8000_0102]).bytes()));
}

#[test]
fn a_destination_header_alone_counts_only_where_it_is_one() {
    let kind = EncapsulationKind::VxlanGpe;
    let whole = int_in_tunnel().kind(2).words(&[1, 0x8000_0001]);
    let (left, node) = through(&sink(kind), &in_vxlan_gpe(&whole.bytes()));
    assert_eq!(node.counters().get(Outcome::Stripped), 1);
    assert_eq!(left[42..], [&[0x0c, 0, 0, 3, 0, 0, 7, 0][..], &[0xee; 14]].concat());
    // An MPLS label, which shares the Next Protocol, and an option of another vendor.
    let label = in_vxlan_gpe(&[2, 0, 3, 64, 1, 2, 3, 4, 5, 6, 7, 8]);
    let (left, node) = through(&sink(kind), &label);
    assert_eq!((left, node.counters().get(Outcome::Stripped)), (label, 0));
    let option = in_geneve(&[0, 0xab, 2, 1, 1, 2, 3, 4]);
    let (left, node) = through(&sink(EncapsulationKind::Geneve), &option);
    assert_eq!((left, node.counters().get(Outcome::NoInt)), (option, 1));
}

#[test]
fn a_source_writes_what_the_examples_of_0_5_and_1_0_show() {
    // int-2016/roles-02
    let (sent, _) = through(&source(IntVersion::V0_5, EncapsulationKind::Dscp), &plain().dscp(9).build());
    assert_eq!(sent, over_tcp(&int_0_5().max_hops(8).words(&HOP).behind(&[6, 0, 22, 9])));
    let (sent, _) = through(&source(IntVersion::V1_0, EncapsulationKind::Dscp), &plain().dscp(9).build());
    assert_eq!(sent, over_tcp(&int_1_0().last_of_shim(9 << 2).max_hops(7).words(&HOP)));
    let mut without = source(IntVersion::V0_5, EncapsulationKind::Dscp);
    without.source.own_metadata = false;
    let (sent, _) = through(&without, &plain().build());
    assert_eq!(sent, over_tcp(&int_0_5().max_hops(8)));
}

#[test]
fn a_port_marks_tcp_and_udp_in_0_5() {
    // int-0.5/l4-03
    let kind = EncapsulationKind::UdpPort;
    let int = int_0_5().max_hops(8).words(&HOP);
    let tcp =
        |port, behind: &[u8]| packet().dscp(9).tcp(40000, port).payload(&[behind, b"data"].concat()).build();
    let (sent, _) = through(&source(IntVersion::V0_5, kind), &tcp(22, &[]));
    assert_eq!(sent, tcp(33122, &int.clone().behind(&[6, 0, 22, 9]).bytes()));
    assert_eq!(through(&sink(kind), &sent).0, tcp(22, &[]));
    let udp =
        |port, behind: &[u8]| packet().dscp(9).udp(40000, port).payload(&[behind, b"data"].concat()).build();
    let (sent, _) = through(&source(IntVersion::V0_5, kind), &udp(53, &[]));
    assert_eq!(sent, udp(33122, &int.behind(&[17, 0, 53, 9]).bytes()));
    assert_eq!(through(&sink(kind), &sent).0, udp(53, &[]));
    // A packet that only uses the port carries no INT.
    let (sent, node) = through(&transit(kind), &tcp(33122, &[]));
    assert_eq!((sent, node.counters().get(Outcome::NoInt)), (tcp(33122, &[]), 1));
}

#[test]
fn a_domain_of_0_5_may_leave_l4_alone() {
    let leave_alone = |mut config: NodeConfig| {
        config.encapsulation.update_l4 = false;
        Node::new(&config).unwrap()
    };
    let frame = packet().udp(40000, 53).payload(b"data").build();
    let passage = NodePlan([0; 4]).passage();
    let kind = EncapsulationKind::Dscp;
    let source = send(&mut leave_alone(source(IntVersion::V0_5, kind)), &frame, &passage).unwrap();
    let transit = send(&mut leave_alone(transit(kind)), &source, &passage).unwrap();
    let sink = send(&mut leave_alone(sink(kind)), &transit, &passage).unwrap();
    // Ports, UDP length and checksum are the host's; the IP length and its checksum are correct.
    assert_eq!(source[34..42], frame[34..42]);
    assert_eq!(transit[34..42], frame[34..42]);
    assert_eq!(oracle::anatomy(&transit).unwrap().end, frame.len() + 24 + 8);
    assert_eq!(oracle::ipv4_header_sum(&transit), Some(0xffff));
    assert_eq!(sink, frame);
}

#[test]
fn host_int_inserts_36_bytes_before_the_tcp_options_and_44_with_a_new_udp_header() {
    // host-int-0.5/packet-02, host-int-0.5/packet-03, host-int-0.5/packet-08, host-int-0.5/packet-10
    let frame = packet().dscp(4).tcp(40000, 22).options(&[1; 8]).payload(b"data").build();
    let mut config = source(IntVersion::Host0_5, EncapsulationKind::Dscp);
    (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(1), Some(1));
    let (sent, _) = through(&config, &frame);
    let low = u32::try_from(1_700_000_000_000_000_000_u64 & 0xffff_ffff).unwrap();
    // One interface and one timestamp, reported twice.
    let entry = [7, 0x0001_0001, low, low].map(u32::to_be_bytes).concat();
    let start = [3, 0, 9, 0, 0, 4, 2, 1, 0xcc, 0, 0, 0];
    assert_eq!(sent.len(), frame.len() + 36);
    assert_eq!(sent[15], 5 << 2);
    assert_eq!(sent[54..54 + 36], [&start[..], &entry, &[0, 0, 0, 1, 0, 0, 0, 0]].concat());
    assert_eq!(sent[90..98], [1; 8]);

    let (sent, _) = through(&source(IntVersion::Host0_5, EncapsulationKind::Udp), &frame);
    assert_eq!(sent.len(), frame.len() + 44);
    assert_eq!((sent[15], sent[23]), (4 << 2, 17));
    let length = u8::try_from(frame.len() - 34 + 44).unwrap();
    assert_eq!(sent[34..42], [0x9c, 0x40, 0x81, 0x62, 0, length, 0, 0]);
    assert_eq!(sent[42..78], [&start[..], &entry, &[0, 0, 0, 1, 6, 0, 0, 0]].concat());
    assert_eq!(sent[78..], frame[34..]);
}

#[test]
fn host_int_numbers_each_flow_and_leaves_what_it_does_not_know() {
    // host-int-0.5/packet-01
    let mut node = Node::new(&source(IntVersion::Host0_5, EncapsulationKind::Udp)).unwrap();
    let mut number = |packet: &Packet| {
        let frame = packet.build();
        let sent = send(&mut node, &frame, &NodePlan([0; 4]).passage()).unwrap();
        (sent.len() == frame.len() + 44).then(|| sent[73])
    };
    let (a, b) = (packet().udp(1, 53), packet().udp(2, 53));
    let numbers = [&a, &b, &a, &a].map(&mut number);
    assert_eq!(numbers, [Some(1), Some(1), Some(2), Some(3)]);
    let others = [packet().ipv6().udp(1, 53), packet().options(&[1; 4]).udp(1, 53), packet().protocol(50)];
    assert!(others.iter().all(|packet| number(packet).is_none()));
    assert_eq!(number(&a), Some(4));
}

#[test]
fn the_sink_of_host_int_clears_the_mark_and_leaves_the_tail_out_of_the_checksum() {
    let mut config = sink(EncapsulationKind::Dscp);
    (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(1), Some(1));
    let int = host_int().bytes();
    let mut frame = packet().dscp(5).tcp(1, 22).payload(&[&int[..], b"data"].concat()).build();
    // A network card wrote a checksum where it expected the UDP header.
    frame[86..90].copy_from_slice(&[0, 0, 0xab, 0xcd]);
    let mut node = Node::new(&config).unwrap();
    let left = send(&mut node, &frame, &NodePlan([0; 4]).passage()).unwrap();
    assert_eq!(left, packet().dscp(4).tcp(1, 22).payload(b"data").build());
}

#[test]
fn the_sink_reports_the_packet_with_its_stack_and_its_own_metadata_where_it_is_wanted() {
    // int-2016/roles-03: the sink removes what it reports.
    // report-2.0/modes-04: a report of 2.0 and type INT has a fragment with INT 0.5, including its shim.
    let frame = over_tcp(&int_0_5().behind(&[6, 0, 22, 0]).hop(1));
    for (own, length, bits) in [
        (SinkMetadata::Stack, frame.len() + 8, 0),
        (SinkMetadata::Report, frame.len(), 0x1000),
        (SinkMetadata::None, frame.len(), 0),
    ] {
        let mut config = sink(EncapsulationKind::Dscp);
        config.sink.own_metadata = own;
        let (left, mut node) = through(&config, &frame);
        assert_eq!(left, plain().build());
        let datagram = next_report(&mut node).expect("a report");
        let group = ReportGroup::parse(&datagram).unwrap();
        let report = group.reports().next().unwrap().unwrap();
        let (_, inner, _) = report.packet().unwrap();
        assert!(inner.len() >= length && inner.len() < length + 4, "{own:?}");
        assert_eq!(report.rep_md_bits().0, bits, "{own:?}");
        let of_0_5 = own != SinkMetadata::Stack;
        assert!(!of_0_5 || inner.starts_with(&frame), "{own:?}: INT 0.5 as it came");
    }
}

#[test]
fn a_copy_is_reported_and_goes_no_further() {
    // int-0.5/md-10
    let copies = [
        (EncapsulationKind::Dscp, over_tcp(&int_1_0().flags(0x12).hop(1))),
        (EncapsulationKind::Dscp, over_tcp(&int_0_5().flags(0x02).hop(1))),
        (
            EncapsulationKind::VxlanGpe,
            in_vxlan_gpe(&int_in_tunnel().flags(0x08).words(&[1, 1 << 31]).bytes()),
        ),
    ];
    for (kind, frame) in copies {
        let mut node = Node::new(&sink(kind)).unwrap();
        assert_eq!(send(&mut node, &frame, &NodePlan([0; 4]).passage()), None);
        assert_eq!(node.counters().get(Outcome::CopyDiscarded), 1);
        assert!(next_report(&mut node).is_some());
        let (sent, _) = through(&transit(kind), &frame);
        assert_eq!(sent.len(), frame.len() + 8);
    }
}

#[test]
fn code_points_are_those_of_the_version_unless_they_are_configured() {
    // int-0.5/tunnel-01, int-0.5/tunnel-02, int-1.0/tunnel-01, int-1.0/tunnel-02
    // int-2016/location-01
    let vxlan = packet().udp(7, 4790).payload(&[0x0c, 0, 0, 3, 0, 0, 7, 0, 1]).build();
    let geneve = packet().udp(7, 6081).payload(&[0, 0, 0x65, 0x58, 0, 0, 7, 0, 1]).build();
    let cases =
        [(IntVersion::V2016, 5), (IntVersion::V0_5, 5), (IntVersion::V1_0, 8), (IntVersion::V2_1, 0x82)];
    for (version, next_protocol) in cases {
        let mut config = source(version, EncapsulationKind::VxlanGpe);
        assert_eq!(through(&config, &vxlan).0[45], next_protocol);
        config.encapsulation.vxlan_gpe_next_protocol = Some(0x55);
        assert_eq!(through(&config, &vxlan).0[45], 0x55);
        let mut config = source(version, EncapsulationKind::Geneve);
        let class = if version == IntVersion::V2_1 { [1, 3] } else { [0, 0xab] };
        assert_eq!(through(&config, &geneve).0[50..52], class);
        config.encapsulation.geneve_class = Some(0x1234);
        assert_eq!(through(&config, &geneve).0[50..52], [0x12, 0x34]);
    }
}

#[test]
fn no_plain_vxlan_becomes_gpe_where_nothing_could_say_so() {
    let frame = packet().udp(7, 4789).payload(&[8, 0, 0, 0, 0, 0, 7, 0, 1]).build();
    for version in [IntVersion::V2016, IntVersion::V0_5, IntVersion::V1_0] {
        let (sent, node) = through(&source(version, EncapsulationKind::VxlanGpe), &frame);
        assert_eq!((sent, node.counters().get(Outcome::NotCarried)), (frame.clone(), 1));
    }
}

#[test]
fn a_source_of_1_0_that_has_no_room_for_its_own_metadata_sets_m() {
    let mut config = source(IntVersion::V1_0, EncapsulationKind::Dscp);
    let frame = plain().build();
    config.interfaces[1].mtu = u32::try_from(frame.len() - 14 + 12).unwrap();
    let (sent, _) = through(&config, &frame);
    assert_eq!(sent, over_tcp(&int_1_0().max_hops(8).mtu_exceeded()));
    config.interfaces[1].mtu -= 1;
    let (sent, node) = through(&config, &frame);
    assert_eq!((sent, node.counters().get(Outcome::NotStartedMtu)), (frame, 1));
}

#[test]
fn the_checksum_complement_of_1_0_leaves_the_l4_checksum_alone() {
    // int-1.0/md-09
    use inband_node::config::ChecksumUpdate;
    let mut config = source(IntVersion::V1_0, EncapsulationKind::Dscp);
    config.source.instructions = [Instruction::NodeId, Instruction::ChecksumComplement].into_iter().collect();
    config.checksum.update = ChecksumUpdate::Complement;
    let frame = plain().build();
    let (sent, _) = through(&config, &frame);
    assert_eq!(sent[50..52], frame[50..52]);
    let mut next = transit(EncapsulationKind::Dscp);
    next.checksum.update = ChecksumUpdate::Complement;
    let (sent, _) = through(&next, &sent);
    assert_eq!(sent[50..52], frame[50..52]);
    assert_eq!(through(&sink(EncapsulationKind::Dscp), &sent).0, frame);
}

#[test]
fn the_code_points_of_the_examples_of_2_0_are_read_too() {
    // On the wire 2.0 is 2.1 with the next protocol 0x80 and the option class 0x00ab.
    let int = |int: Int| {
        let mut bytes = int.bytes();
        bytes[3] = 3;
        bytes
    };
    let vxlan = |bytes: &[u8]| {
        let behind = [&[0x0c, 0, 0, 0x80, 0, 0, 7, 0][..], bytes, &[0xee; 14]].concat();
        packet().udp(7, 4790).payload(&behind).build()
    };
    let (sent, _) = through(&transit(EncapsulationKind::VxlanGpe), &vxlan(&int(int_md().hop(1))));
    assert_eq!(sent, vxlan(&int(int_md().remaining_hop_count(5).words(&HOP).hop(1))));
    let (left, _) = through(&sink(EncapsulationKind::VxlanGpe), &sent);
    assert_eq!(left[42..46], [0x0c, 0, 0, 3]);
    let geneve = |bytes: &[u8]| {
        let words = u8::try_from(bytes.len() / 4 - 1).unwrap();
        in_geneve(&[&[0, 0xab, 1, words][..], &bytes[4..]].concat())
    };
    let (sent, _) = through(&transit(EncapsulationKind::Geneve), &geneve(&int(int_md().hop(1))));
    assert_eq!(sent, geneve(&int(int_md().remaining_hop_count(5).words(&HOP).hop(1))));
    assert_eq!(through(&sink(EncapsulationKind::Geneve), &sent).0, in_geneve(&[]));
}

#[test]
fn host_int_before_tcp_options_is_no_shim_behind_them_whatever_the_node_id() {
    // host-int-0.5/packet-03, host-int-0.5/packet-12
    let timestamp = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let plain = packet().dscp(10).tcp(40000, 22).options(&timestamp).payload(b"data").build();
    let marked = |mut config: NodeConfig| {
        (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(1), Some(1));
        config
    };
    for id in [2, 0x2000_0005, 0x2c00_0001, 0x1003_0000, 0x3003_0000, 0x0100_0801, 0x0200_0801] {
        let mut from = marked(source(IntVersion::Host0_5, EncapsulationKind::Dscp));
        from.node.id = id;
        let (sent, _) = through(&from, &plain);
        assert_eq!(sent.len(), plain.len() + 36);

        // A transit hop adds its own metadata, after which the header is no longer a source's.
        let (passed, hop) = through(&marked(transit(EncapsulationKind::Dscp)), &sent);
        assert_eq!(hop.counters().get(Outcome::Pushed), 1, "{id:#010x}");
        assert_eq!(passed.len(), sent.len() + 16);

        for arrived in [sent, passed] {
            let (left, end) = through(&marked(sink(EncapsulationKind::Dscp)), &arrived);
            assert_eq!(end.counters().get(Outcome::Stripped), 1, "{id:#010x}");
            assert_eq!(left, plain, "{id:#010x}");
        }
    }
}

#[test]
fn a_header_that_fits_both_versions_of_a_dialect_is_of_the_nodes_own() {
    // Rep, two bits of 0.5 in this dialect, is where 1.0 has its version.
    let tail = [6, 0, 22, 0];
    let full = [&[1, 0, 5, 0, 0x10, 0xe1, 1, 1, 0x80, 0, 0, 0][..], &[0, 0, 0, 9], &tail].concat();
    let empty = [&[1, 0, 4, 0, 0x10, 0xe1, 1, 0, 0x00, 0x01, 0, 0][..], &tail].concat();
    let mut config = config(IntVersion::V0_5, EncapsulationKind::Dscp);
    config.encapsulation.dialect = Some(DialectName::Geant);
    let marked = |int: &[u8]| packet().dscp(0x20).tcp(40000, 22).payload(&[int, b"data"].concat()).build();

    let (sent, node) = through(&config, &marked(&full));
    assert_eq!(node.counters().get(Outcome::HopsExceeded), 1);
    assert_eq!(sent[58..66], [0x14, 0xe1, 1, 1, 0x80, 0, 0, 0], "E, and no hop more");

    let (sent, node) = through(&config, &marked(&empty));
    assert_eq!(node.counters().get(Outcome::Pushed), 1);
    assert_eq!(sent[54..70], [1, 0, 5, 0, 0x10, 0xe1, 1, 1, 0x00, 0x01, 0, 0, 0xff, 0xff, 0xff, 0xff]);
}
