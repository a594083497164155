//! Replication of packets that request it, and the fate of the copies.
#![allow(clippy::unwrap_used, reason = "the helpers are a test's")]

use inband_node::config::{
    EncapsulationKind, IntVersion, InterfaceConfig, NodeConfig, Replicate, WatchEntry,
};
use inband_node::frame::MAX_GROWTH;
use inband_node::{Branch, BranchLevel, Frame, Node, Outcome, Passage, Verdict};
use inband_testkit::path::{next_packet, next_report, send};
use inband_testkit::{EarlierInt, int_0_5, int_1_0, int_in_tunnel, oracle, packet};
use inband_wire::Link;

const KIND: EncapsulationKind = EncapsulationKind::VxlanGpe;

/// A node of id 7 whose interfaces 2, 3 and 4 lead to other nodes, and 5 to a host.
fn node(version: IntVersion, kind: EncapsulationKind) -> Node {
    let mut config = NodeConfig::new(7);
    config.node.int_version = Some(version);
    config.encapsulation.kind = Some(kind);
    config.interfaces =
        (1..=5).map(|id| InterfaceConfig { mtu: 9000, edge: id == 5, ..InterfaceConfig::new(id) }).collect();
    Node::new(&config).unwrap()
}

fn to(egress: u16) -> Passage {
    Passage { ingress: 1, egress, ..Passage::default() }
}

/// Another port of the port channel, interface 3, and another next hop, interface 4.
fn branches() -> [Branch; 2] {
    [
        Branch { level: BranchLevel::Port, passage: to(3) },
        Branch { level: BranchLevel::NextHop, passage: to(4) },
    ]
}

/// Sends `frame` by interface 2; returns the packet sent, and the copies with their interfaces.
fn among(node: &mut Node, frame: &[u8], branches: &[Branch]) -> (Vec<u8>, Vec<(u16, Vec<u8>)>) {
    let mut buffer = vec![0xa5; MAX_GROWTH];
    buffer.extend(frame);
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, MAX_GROWTH..end).unwrap();
    let verdict = node.handle_frame_among(Link::Ethernet, &mut frame, &to(2), branches);
    assert_eq!(verdict, Verdict::Forward);
    let copies = std::iter::from_fn(|| next_packet(node)).map(|copy| (copy.egress, copy.bytes));
    (frame.bytes().to_vec(), copies.collect())
}

fn in_vxlan_gpe(int: &EarlierInt) -> Vec<u8> {
    let behind = [&[0x0c, 0, 0, 5, 0, 0, 7, 0][..], &int.bytes(), &[0xee; 14]].concat();
    packet().udp(7, 4790).payload(&behind).build()
}

/// Node id and egress port of 2016 in node 1's stack, with the first byte of the header.
fn of_2016(flags: u8, words: &[u32]) -> Vec<u8> {
    in_vxlan_gpe(&int_in_tunnel().bitmap(0x8400).flags(flags).words(words))
}

const FIRST: [u32; 2] = [1, 0x8000_0009];

#[test]
fn every_rep_is_answered_on_the_ways_it_asks_for() {
    // int-2016/md-08
    for (replication, asked) in [(0, &[][..]), (1, &[3]), (2, &[4]), (3, &[3, 4])] {
        let mut node = node(IntVersion::V2016, KIND);
        let flags = replication << 4;
        let (sent, copies) = among(&mut node, &of_2016(flags, &FIRST), &branches());
        // The original has C clear, every copy has it set, and each names its egress port.
        assert_eq!(sent, of_2016(flags, &[7, 2, 1, 0x8000_0009]));
        let expected: Vec<_> = asked
            .iter()
            .map(|egress| (*egress, of_2016(flags | 0x08, &[7, u32::from(*egress), 1, 0x8000_0009])))
            .collect();
        assert_eq!(copies, expected, "Rep {replication}");
        assert_eq!(node.counters().get(Outcome::Replicated), asked.len() as u64);
        assert_eq!(node.counters().packets(), 1);
    }
}

#[test]
fn copies_of_every_version_have_right_checksums() {
    // int-2016/md-11
    let cases = [
        (IntVersion::V2_1, int_1_0().flags(0x1c).hop(1), 0x1e),
        (IntVersion::V2_1, int_0_5().flags(0x0c).hop(1), 0x0e),
    ];
    for (version, int, flags) in cases {
        let frame = |int: &EarlierInt| {
            packet().dscp(0x17).tcp(1, 22).payload(&[&int.bytes()[..], b"data"].concat()).build()
        };
        let (sent, copies) = among(&mut node(version, EncapsulationKind::Dscp), &frame(&int), &branches());
        assert_eq!((copies.len(), oracle::l4_sum(&sent)), (2, Some(0xffff)));
        for (_, copy) in copies {
            assert_eq!((copy[58], copy.len()), (flags, sent.len()));
            assert_eq!((oracle::l4_sum(&copy), oracle::ipv4_header_sum(&copy)), (Some(0xffff), Some(0xffff)));
        }
    }
}

#[test]
fn a_copy_is_replicated_further_and_stays_a_copy() {
    let (sent, copies) = among(&mut node(IntVersion::V2016, KIND), &of_2016(0x38, &FIRST), &branches());
    assert_eq!(sent[54], 0x38);
    assert!(copies.len() == 2 && copies.iter().all(|(_, copy)| copy[54] == 0x38));
}

#[test]
fn the_sink_lets_the_original_leave_and_reports_both() {
    // int-2016/md-10
    let mut node = node(IntVersion::V2016, KIND);
    let [original, copy] = [0x10, 0x18].map(|flags| of_2016(flags, &FIRST));
    let plain = [&[0x0c, 0, 0, 3, 0, 0, 7, 0][..], &[0xee; 14]].concat();
    assert_eq!(send(&mut node, &original, &to(5)), Some(packet().udp(7, 4790).payload(&plain).build()));
    assert_eq!(send(&mut node, &copy, &to(5)), None);
    let count = |outcome| node.counters().get(outcome);
    assert_eq!(
        (count(Outcome::Stripped), count(Outcome::CopyDiscarded), count(Outcome::Reported)),
        (1, 1, 2)
    );
}

#[test]
fn a_branch_that_ends_the_domain_is_reported_and_sent_nowhere() {
    let mut node = node(IntVersion::V2016, KIND);
    let branch = Branch { level: BranchLevel::Port, passage: to(5) };
    let (_, copies) = among(&mut node, &of_2016(0x10, &FIRST), &[branch]);
    assert_eq!((copies.len(), node.counters().get(Outcome::Reported)), (0, 1));
}

#[test]
fn what_asks_for_nothing_is_not_copied() {
    let plain = packet().udp(7, 53).payload(b"data").build();
    let of_2_1 = inband_testkit::md_frame().hop(1).build();
    for (frame, kind) in [(plain, KIND), (of_2_1, EncapsulationKind::Dscp)] {
        let (_, copies) = among(&mut node(IntVersion::V2_1, kind), &frame, &branches());
        assert_eq!(copies, []);
    }
}

#[test]
fn copies_that_nobody_takes_are_bounded_and_counted() {
    let mut node = node(IntVersion::V2016, KIND);
    let many = [branches()[0]; 300];
    let mut buffer = vec![0xa5; MAX_GROWTH];
    buffer.extend(of_2016(0x10, &FIRST));
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, MAX_GROWTH..end).unwrap();
    let _ = node.handle_frame_among(Link::Ethernet, &mut frame, &to(2), &many);
    let count = |outcome| node.counters().get(outcome);
    assert_eq!((count(Outcome::Replicated), count(Outcome::CopyShed)), (256, 44));
    assert!(!node.follow_up(Link::Ethernet, &of_2016(0, &FIRST), &to(2)));
    assert_eq!(node.counters().get(Outcome::CopyShed), 45);
}

#[test]
fn a_follow_up_has_the_stack_and_is_exempt_from_more() {
    // int-2016/headers-05, int-2016/handling-01, int-2016/handling-03, int-2016/handling-04
    let mut first = node(IntVersion::V2016, KIND);
    assert!(first.follow_up(Link::Ethernet, &of_2016(0x10, &FIRST), &to(2)));
    let follow_up = next_packet(&mut first).unwrap();
    let int = int_in_tunnel().kind(2).bitmap(0x8400).flags(0x18).words(&[7, 2, 1, 0x8000_0009]);
    assert_eq!((follow_up.egress, &follow_up.bytes), (2, &in_vxlan_gpe(&int)));
    assert_eq!(first.counters().get(Outcome::FollowedUp), 1);
    // No node fills it, copies it or follows it up; the sink reports and discards it.
    let mut next = node(IntVersion::V2016, KIND);
    let (sent, copies) = among(&mut next, &follow_up.bytes, &branches());
    assert_eq!((sent, copies), (follow_up.bytes.clone(), vec![]));
    assert!(!next.follow_up(Link::Ethernet, &follow_up.bytes, &to(2)));
    assert_eq!(send(&mut next, &follow_up.bytes, &to(5)), None);
    assert_eq!(next.counters().get(Outcome::CopyDiscarded), 1);
    assert!(next_report(&mut next).is_some());
}

#[test]
fn follow_ups_exist_in_geneve_and_behind_tcp_too() {
    // int-2016/handling-05
    let int = int_in_tunnel().words(&[1, 0x8000_0001]);
    let option = [&[5, 0, 0x65, 0x58, 0, 0, 7, 0, 0, 0xab, 1, 4][..], &int.header(), &[0xee; 14]].concat();
    let geneve = packet().udp(7, 6081).payload(&option).build();
    let tcp = packet().dscp(0x17).tcp(1, 22).payload(&int_0_5().hop(1).bytes()).build();
    for (kind, frame, type_at) in
        [(EncapsulationKind::Geneve, geneve, 52), (EncapsulationKind::Dscp, tcp, 54)]
    {
        let mut node = node(IntVersion::V2_1, kind);
        assert!(node.follow_up(Link::Ethernet, &frame, &to(2)));
        let copy = next_packet(&mut node).unwrap().bytes;
        assert_eq!((copy[type_at], copy.len()), (2, frame.len() + 8));
        assert_eq!(oracle::l4_sum(&copy), Some(0xffff));
        assert_eq!(send(&mut node, &copy, &to(5)), None);
        assert_eq!(node.counters().get(Outcome::CopyDiscarded), 1);
    }
}

#[test]
fn a_follow_up_needs_room_and_somebody_to_go_to() {
    let mut node = node(IntVersion::V2016, KIND);
    let full = in_vxlan_gpe(&int_in_tunnel().bitmap(0x8400).max_hops(1).words(&FIRST));
    assert!(!node.follow_up(Link::Ethernet, &full, &to(2)));
    assert!(!node.follow_up(Link::Ethernet, &of_2016(0, &FIRST), &to(5)));
    assert!(!node.follow_up(Link::Ethernet, b"no packet", &to(2)));
    assert_eq!(node.poll_output(), None);
}

#[test]
fn a_source_asks_for_what_is_configured_and_marks_nothing_as_a_copy() {
    // int-2016/md-09, int-2016/md-12, int-2016/md-17
    let plain = [&[0x0c, 0, 0, 3, 0, 0, 7, 0][..], &[0xee; 14]].concat();
    let frame = packet().udp(7, 4790).payload(&plain).build();
    let cases = [
        (IntVersion::V2016, [0x00, 0x10, 0x20, 0x30]),
        (IntVersion::V0_5, [0x00, 0x04, 0x08, 0x0c]),
        (IntVersion::V1_0, [0x10, 0x14, 0x18, 0x1c]),
    ];
    let asked = [Replicate::None, Replicate::Port, Replicate::NextHop, Replicate::Both];
    for (version, flags) in cases {
        for (replicate, flags) in asked.into_iter().zip(flags) {
            let mut config = NodeConfig::new(7);
            config.node.int_version = Some(version);
            config.encapsulation.kind = Some(KIND);
            config.interfaces = vec![InterfaceConfig { edge: true, ..InterfaceConfig::new(1) }];
            config.watchlist = vec![WatchEntry::default()];
            config.source.replicate = replicate;
            let sent = send(&mut Node::new(&config).unwrap(), &frame, &to(2)).unwrap();
            assert_eq!(sent[54], flags, "{version:?} {replicate:?}");
        }
    }
}
