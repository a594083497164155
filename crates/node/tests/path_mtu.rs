//! ICMP messages to the senders of packets that INT makes exceed the egress MTU.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Icmp, IntVersion, Mode, MtuAction, NodeConfig};
use inband_node::{Node, Outcome, OwnPacket};
use inband_testkit::{oracle, packet};

use support::{layers, next_packet, node_config, through};

const KINDS: [(EncapsulationKind, usize); 4] = [
    (EncapsulationKind::Dscp, 16),
    (EncapsulationKind::UdpPort, 16),
    (EncapsulationKind::ProbeMarker, 24),
    (EncapsulationKind::Udp, 24),
];
/// Node id and queue occupancy.
const HOP: usize = 8;

fn config(id: u32, edges: (bool, bool), kind: EncapsulationKind, mtu: usize, icmp: Icmp) -> NodeConfig {
    let mut config = node_config(id, edges, kind, Mode::Md);
    config.interfaces[1].mtu = u32::try_from(mtu).unwrap();
    config.mtu.icmp = icmp;
    config
}

/// A UDP packet of `length` bytes from its IP header on.
fn sized(v6: bool, length: usize) -> Vec<u8> {
    let (base, headers) = if v6 { (packet().ipv6(), 48) } else { (packet(), 28) };
    base.vlan(7).dscp(10).udp(4000, 53).payload(&vec![0x40; length - headers]).build()
}

fn length(frame: &[u8]) -> usize {
    layers(frame).ip_length()
}

fn replies(node: &mut Node) -> Vec<OwnPacket> {
    std::iter::from_fn(|| next_packet(node)).collect()
}

/// The MTU and the quoted packet of a message. Checks its addresses, lengths and checksums.
fn read(reply: &OwnPacket, about: &[u8]) -> (usize, Vec<u8>) {
    let frame = &reply.bytes;
    assert_eq!(reply.egress, 1, "the interface the packet came in by");
    assert_eq!((&frame[..6], &frame[6..12]), (&about[6..12], &about[..6]));
    let at = oracle::anatomy(frame).unwrap();
    assert_eq!(frame[12..at.l3], about[12..at.l3], "VLAN tag and EtherType");
    assert_eq!(at.end, frame.len());
    let message = &frame[at.l3 + at.l3_length..];
    if at.version == 4 {
        assert_eq!(oracle::ipv4_header_sum(frame), Some(0xffff));
        assert_eq!(oracle::ones_complement_sum(&[message]), 0xffff);
        assert_eq!((at.protocol, &message[..2]), (1, &[3, 4][..]));
        assert_eq!(frame[at.l3 + 1], 0xc0, "precedence 6");
        assert_eq!(frame[at.l3 + 16..at.l3 + 20], about[at.l3 + 12..at.l3 + 16], "to the sender");
    } else {
        let (source, destination) = (&frame[at.l3 + 8..at.l3 + 24], &frame[at.l3 + 24..at.l3 + 40]);
        let pseudo = oracle::pseudo_header(source, destination, 58, message.len());
        assert_eq!(oracle::ones_complement_sum(&[&pseudo, message]), 0xffff);
        assert_eq!((at.protocol, &message[..2]), (58, &[2, 0][..]));
        assert_eq!(*destination, about[at.l3 + 8..at.l3 + 24], "to the sender");
    }
    // RFC 4884: without extensions the length attribute is 0.
    assert_eq!(message[4..6], [0, 0]);
    (usize::from(u16::from_be_bytes([message[6], message[7]])), message[8..].to_vec())
}

#[test]
fn a_source_tells_the_mtu_that_leaves_room_for_what_it_adds_or_for_all_hops() {
    // int-2.1/mtu-02, int-2.1/mtu-03, int-2.1/mtu-04, int-2.1/mtu-07, int-2.1/mtu-08
    for (kind, fixed) in KINDS {
        for v6 in [false, true] {
            for (icmp, hops) in [(Icmp::Own, 1), (Icmp::Conservative, 8)] {
                // No room for the fixed headers; room for them, but not for the source's metadata.
                for room in [fixed - 1, fixed + HOP - 1] {
                    let original = sized(v6, 1500 - room);
                    let mut node = Node::new(&config(1, (true, false), kind, 1500, icmp)).unwrap();
                    through(&mut node, &original).unwrap();
                    let [reply] = &replies(&mut node)[..] else { panic!("{kind:?} {v6} {icmp:?} {room}") };
                    let (mtu, quoted) = read(reply, &original);
                    assert_eq!(mtu, 1500 - fixed - hops * HOP, "{kind:?} {v6} {icmp:?}");
                    let most = if v6 { 1280 - 48 } else { 576 - 28 };
                    assert_eq!(quoted, original[18..18 + most]);
                    assert_eq!(node.counters().get(Outcome::IcmpSent), 1);
                }
            }
        }
    }
}

#[test]
fn a_new_ip_header_and_gre_are_counted_too() {
    // int-2.1/mtu-04
    let esp = packet().protocol(50).payload(&[0x40; 1460]).build();
    for (kind, original, fixed) in
        [(EncapsulationKind::Udp, &esp, 16 + 8 + 20), (EncapsulationKind::Gre, &esp, 16 + 4 + 20)]
    {
        let mut node = Node::new(&config(1, (true, false), kind, 1500, Icmp::Own)).unwrap();
        assert_eq!(through(&mut node, original).unwrap(), *original);
        let reply = replies(&mut node).remove(0);
        assert_eq!(read(&reply, original).0, 1500 - fixed - HOP, "{kind:?}");
    }
}

#[test]
fn a_transit_hop_quotes_the_packet_as_its_sender_made_it() {
    // int-2.1/mtu-02, int-2.1/mtu-03, int-2.1/mtu-04
    for (kind, fixed) in KINDS {
        for v6 in [false, true] {
            for (icmp, hops) in [(Icmp::Own, 2), (Icmp::Conservative, 8)] {
                for action in [MtuAction::SetMBit, MtuAction::IntermediateReport] {
                    let original = sized(v6, 1500 - fixed - HOP);
                    let source = config(1, (true, false), kind, 1500, icmp);
                    let before = through(&mut Node::new(&source).unwrap(), &original).unwrap();
                    assert_eq!(length(&before), 1500);
                    let mut transit = config(2, (false, false), kind, 1500, icmp);
                    transit.mtu.action = action;
                    let mut transit = Node::new(&transit).unwrap();
                    through(&mut transit, &before).unwrap();
                    let [reply] = &replies(&mut transit)[..] else { panic!("{kind:?} {v6} {icmp:?}") };
                    let (mtu, quoted) = read(reply, &original);
                    assert_eq!(mtu, 1500 - fixed - hops * HOP, "{kind:?} {v6} {icmp:?}");
                    assert!(original[18..].starts_with(&quoted), "{kind:?} {v6}");
                }
            }
        }
    }
}

#[test]
fn int_that_is_already_too_big_for_the_next_link_is_told_of() {
    // int-2.1/mtu-02: MX adds nothing at this hop, nor does MD with no hop left.
    for mode in [Mode::Mx, Mode::Md] {
        let mut source = config(1, (true, false), EncapsulationKind::Dscp, 9000, Icmp::Own);
        source.source.mode = mode;
        source.source.own_metadata = false;
        source.source.remaining_hops = 0;
        let original = sized(false, 1000);
        let before = through(&mut Node::new(&source).unwrap(), &original).unwrap();
        for (mtu, expected) in [(length(&before), None), (length(&before) - 1, Some(999))] {
            let transit = config(2, (false, false), EncapsulationKind::Dscp, mtu, Icmp::Own);
            let mut transit = Node::new(&transit).unwrap();
            through(&mut transit, &before).unwrap();
            let told = replies(&mut transit).first().map(|reply| read(reply, &original).0);
            assert_eq!(told, expected, "{mode:?} {mtu}");
        }
    }
}

/// Sends packets of the largest size known to fit until no more messages arrive; returns the number of hops
/// pushed, the number of messages, and that size.
fn discover(icmp: Icmp, mtus: [usize; 4]) -> (u64, usize, usize) {
    let mut nodes: Vec<_> = (1..=4)
        .zip(mtus)
        .map(|(id, mtu)| {
            Node::new(&config(id, (id == 1, id == 4), EncapsulationKind::Dscp, mtu, icmp)).unwrap()
        })
        .collect();
    let (mut size, mut messages) = (1500, 0);
    loop {
        let mut frame = sized(true, size);
        let original = frame.clone();
        let mut told = None;
        for node in &mut nodes {
            frame = through(node, &frame).unwrap();
            told = told.or(replies(node).pop());
        }
        assert_eq!(frame, original);
        let Some(reply) = told else {
            return (nodes.iter().map(|node| node.counters().get(Outcome::Pushed)).sum(), messages, size);
        };
        let mtu = read(&reply, &original).0;
        assert!(mtu < size, "{mtu} after {size}");
        (size, messages) = (mtu, messages + 1);
    }
}

#[test]
fn a_sender_that_follows_the_messages_ends_with_packets_that_carry_all_metadata() {
    // int-2.1/mtu-03, int-2.1/mtu-04
    let same = [1500; 4];
    let (_, messages, size) = discover(Icmp::Conservative, same);
    assert_eq!((messages, size), (1, 1500 - 16 - 8 * HOP), "at once, and less than the path could carry");
    let (_, messages, size) = discover(Icmp::Own, same);
    assert_eq!((messages, size), (3, 1500 - 16 - 3 * HOP), "precisely, with a message of each hop");
    let (_, messages, size) = discover(Icmp::Own, [1500, 1400, 1450, 1500]);
    assert_eq!((messages, size), (2, 1400 - 16 - 2 * HOP));
}

/// The same packet with a single change after which it must not be answered.
fn unanswerable() -> Vec<(&'static str, Vec<u8>)> {
    let long = [0x40; 1460];
    let v4 = || packet().udp(4000, 53).payload(&long);
    let v6 = || packet().ipv6().udp(4000, 53).payload(&long[..1440]);
    let to = [10, 2, 2, 2];
    let from = |address: [u8; 4]| v4().addresses(&address, &to).build();
    let from_v6 = |source: [u8; 16]| v6().addresses(&source, &[0x20; 16]).build();
    let mut to_many = v4().build();
    to_many[0] |= 1;
    let error = |kind: u8| packet().protocol(1).payload(&[&[kind, 0, 0, 0], &long[..]].concat()).build();
    let error_v6 =
        |kind: u8| packet().ipv6().protocol(58).payload(&[&[kind, 0], &long[..1430]].concat()).build();
    let mut cases = vec![
        ("without DF", v4().fragment(0, false).build()),
        ("wrong header checksum", v4().ip_checksum(inband_testkit::Checksum::WrongBy(1)).build()),
        ("from 0.0.0.0", from([0; 4])),
        ("from loopback", from([127, 0, 0, 1])),
        ("from multicast", from([224, 0, 0, 5])),
        ("from broadcast", from([255; 4])),
        ("to multicast", v4().addresses(&[10, 1, 1, 1], &[239, 1, 1, 1]).build()),
        ("to broadcast", v4().addresses(&[10, 1, 1, 1], &[255; 4]).build()),
        ("to a MAC group address", to_many),
        ("from ::", from_v6([0; 16])),
        ("from ipv6 multicast", from_v6([0xff; 16])),
    ];
    cases.extend([3, 4, 5, 11, 12].map(|kind| ("icmp error", error(kind))));
    cases.extend([1, 2, 3, 4, 137].map(|kind| ("icmpv6 error", error_v6(kind))));
    cases
}

#[test]
fn what_the_rfcs_forbid_to_answer_is_not_answered() {
    for (name, original) in unanswerable() {
        for kind in [EncapsulationKind::Udp, EncapsulationKind::Gre] {
            let mut node = Node::new(&config(1, (true, false), kind, 1495, Icmp::Own)).unwrap();
            through(&mut node, &original).unwrap();
            assert_eq!(replies(&mut node), [], "{name} {kind:?}");
            assert_eq!(node.counters().get(Outcome::IcmpWithheld), 1, "{name} {kind:?}");
        }
    }
    let allowed = [
        packet().protocol(1).payload(&[&[8, 0, 0, 0], &[0x40; 1460][..]].concat()).build(),
        packet().ipv6().protocol(58).payload(&[&[128, 0], &[0x40; 1440][..]].concat()).build(),
        packet().ipv6().addresses(&[0x20; 16], &[0xff; 16]).udp(1, 2).payload(&[0x40; 1440]).build(),
    ];
    for original in allowed {
        let config = config(1, (true, false), EncapsulationKind::Udp, 1495, Icmp::Own);
        let mut node = Node::new(&config).unwrap();
        through(&mut node, &original).unwrap();
        assert_eq!(replies(&mut node).len(), 1);
    }
}

#[test]
fn later_fragments_are_not_answered_because_int_does_not_start_in_them() {
    let config = config(1, (true, false), EncapsulationKind::Udp, 1495, Icmp::Own);
    let mut node = Node::new(&config).unwrap();
    through(&mut node, &packet().ipv6().udp(1, 2).payload(&[0x40; 1440]).fragment(100, true).build())
        .unwrap();
    assert_eq!(replies(&mut node), []);
}

#[test]
fn a_packet_that_is_too_big_without_int_is_left_to_who_forwards_it() {
    for (size, expected) in [(1400, 1), (1401, 0)] {
        let config = config(1, (true, false), EncapsulationKind::Dscp, 1400, Icmp::Own);
        let mut node = Node::new(&config).unwrap();
        through(&mut node, &sized(true, size)).unwrap();
        assert_eq!(replies(&mut node).len(), expected, "{size} bytes");
    }
}

#[test]
fn no_sender_is_asked_for_less_than_every_link_carries() {
    // RFC 791, RFC 8200 and RFC 8201.
    for (v6, least) in [(false, 68), (true, 1280)] {
        for (size, expected) in [(least, None), (least + 1, Some(least))] {
            let config = config(1, (true, false), EncapsulationKind::Dscp, size, Icmp::Conservative);
            let mut node = Node::new(&config).unwrap();
            let original = sized(v6, size);
            through(&mut node, &original).unwrap();
            let told = replies(&mut node).first().map(|reply| read(reply, &original).0);
            assert_eq!(told, expected, "{v6} {size}");
        }
    }
}

#[test]
fn messages_are_limited_to_so_many_a_second() {
    let mut config = config(1, (true, false), EncapsulationKind::Dscp, 1500, Icmp::Own);
    config.mtu.icmp_per_second = 3;
    let mut node = Node::new(&config).unwrap();
    for _ in 0..5 {
        through(&mut node, &sized(false, 1500)).unwrap();
    }
    assert_eq!(replies(&mut node).len(), 3);
    assert_eq!(node.counters().get(Outcome::IcmpLimited), 2);
    node.handle_timeout(1_700_000_000_000_000_000 + 400_000_000);
    through(&mut node, &sized(false, 1500)).unwrap();
    assert_eq!(replies(&mut node).len(), 1, "0.4 s save one of 3 a second");
}

#[test]
fn messages_nobody_takes_are_shed_and_counted() {
    let mut config = config(1, (true, false), EncapsulationKind::Dscp, 1500, Icmp::Own);
    config.mtu.icmp_per_second = 1000;
    let mut node = Node::new(&config).unwrap();
    for _ in 0..300 {
        through(&mut node, &sized(false, 1500)).unwrap();
    }
    let counters = node.counters();
    assert_eq!((counters.get(Outcome::IcmpSent), counters.get(Outcome::IcmpShed)), (256, 44));
}

#[test]
fn nobody_is_told_of_copies_or_by_default() {
    let mut quiet = Node::new(&config(1, (true, false), EncapsulationKind::Dscp, 1500, Icmp::Off)).unwrap();
    through(&mut quiet, &sized(false, 1500)).unwrap();
    assert_eq!(replies(&mut quiet), []);
    let mut copying = config(1, (true, false), EncapsulationKind::Dscp, 1510, Icmp::Own);
    copying.source.clone = 1;
    let mut copying = Node::new(&copying).unwrap();
    through(&mut copying, &sized(false, 1500)).unwrap();
    assert_eq!(copying.counters().get(Outcome::NotStartedMtu), 1);
    assert_eq!(replies(&mut copying), []);
    let mut source = config(1, (true, false), EncapsulationKind::Dscp, 9000, Icmp::Own);
    source.source.discard = true;
    let copy = through(&mut Node::new(&source).unwrap(), &sized(false, 1480)).unwrap();
    let transit = config(2, (false, false), EncapsulationKind::Dscp, 1500, Icmp::Own);
    let mut transit = Node::new(&transit).unwrap();
    through(&mut transit, &copy).unwrap();
    assert_eq!(transit.counters().get(Outcome::MtuExceeded), 1);
    assert_eq!(replies(&mut transit), []);
}

#[test]
fn messages_are_not_marked_as_int() {
    // int-2.1/l4-19
    let mut config = config(1, (true, false), EncapsulationKind::Dscp, 1500, Icmp::Own);
    (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(0x20), Some(0x20));
    let mut node = Node::new(&config).unwrap();
    through(&mut node, &sized(false, 1500)).unwrap();
    let reply = replies(&mut node).remove(0);
    assert_eq!(layers(&reply.bytes).dscp(&reply.bytes), 0x10);
}

#[test]
fn a_rate_out_of_range_and_older_versions_are_refused() {
    let base = || config(1, (true, false), EncapsulationKind::Dscp, 1500, Icmp::Own);
    for per_second in [0, 1_000_001] {
        let mut config = base();
        config.mtu.icmp_per_second = per_second;
        assert!(Node::new(&config).is_err());
    }
    let mut old = base();
    old.node.int_version = Some(IntVersion::V1_0);
    assert_eq!(Node::new(&old).unwrap_err().key(), "mtu.icmp");
}
