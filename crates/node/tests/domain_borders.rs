//! The borders of a domain: INT sent by a host, and INT that a sink cannot remove.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, IntVersion, Mode, NodeConfig, SinkMetadata};
use inband_node::{Frame, Node, Outcome, Verdict};
use inband_wire::layers::Link;

use support::{
    ethernet, frame, ip_checksum_is_right, ipv4, layers, locate, md, next_report, node_config, passage, path,
    repair_ip_checksum, tcp, tcp_frame, through, udp, with_header, with_report,
};

const KINDS: [EncapsulationKind; 7] = [
    EncapsulationKind::Dscp,
    EncapsulationKind::UdpPort,
    EncapsulationKind::Udp,
    EncapsulationKind::ProbeMarker,
    EncapsulationKind::Gre,
    EncapsulationKind::VxlanGpe,
    EncapsulationKind::Geneve,
];

/// A packet that can carry this encapsulation.
fn original(kind: EncapsulationKind) -> Vec<u8> {
    let inner = tcp_frame(b"inner");
    match kind {
        EncapsulationKind::UdpPort => frame(false, 17, &udp(false, 7777, b"payload")),
        EncapsulationKind::VxlanGpe => {
            frame(false, 17, &udp(false, 4789, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], &inner].concat()))
        }
        EncapsulationKind::Geneve => {
            frame(false, 17, &udp(false, 6081, &[&[0, 0, 0x65, 0x58, 0, 0, 42, 0][..], &inner].concat()))
        }
        _ => tcp_frame(b"payload"),
    }
}

/// The packet as a source sends it.
fn started(kind: EncapsulationKind, original: &[u8]) -> Vec<u8> {
    let sent = through(&mut path(2, kind, Mode::Md)[0], original).unwrap();
    assert_ne!(sent, original, "{kind:?}");
    sent
}

fn sink(kind: EncapsulationKind) -> Node {
    path(2, kind, Mode::Md).remove(1)
}

/// Asserts that the sink drops the packet and counts it as `fate`.
fn assert_dropped(kind: EncapsulationKind, packet: &[u8], fate: Outcome) {
    let mut sink = sink(kind);
    let mut buffer = [&[0xa5; 1100][..], packet].concat();
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, 1100..end).unwrap();
    assert_eq!(sink.handle_frame(Link::Ethernet, &mut frame, &passage()), Verdict::Drop, "{kind:?}");
    assert_eq!(sink.counters().get(fate), 1, "{kind:?} {fate:?}");
    assert_eq!(sink.counters().packets(), 1, "it counts once among the fates");
    assert_eq!(sink.counters().get(Outcome::Stripped), 0);
}

#[test]
fn int_that_enters_by_an_edge_is_dropped_and_counted() {
    // int-2.1/domain-07: sources and transit hops are trusted, hosts are not.
    for (kind, egress_edge, mode) in KINDS
        .into_iter()
        .flat_map(|kind| [false, true].map(|edge| (kind, edge)))
        .flat_map(|(kind, edge)| [Mode::Md, Mode::Xd].map(|mode| (kind, edge, mode)))
    {
        let packet = started(kind, &original(kind));
        let config = node_config(7, (true, egress_edge), kind, mode);
        let mut node = Node::new(&config).unwrap();
        assert_eq!(through(&mut node, &packet), None, "{kind:?}");
        assert_eq!(node.counters().get(Outcome::IntFromEdge), 1);
        assert_eq!(node.counters().packets(), 1);
        assert_eq!(node.poll_output(), None);
    }
}

#[test]
fn an_edge_that_accepts_int_lets_it_in_and_another_interface_may_refuse_it() {
    for kind in KINDS {
        let packet = started(kind, &original(kind));
        for (edge, accept_int, is_accepted) in [
            (true, Some(true), true),
            (true, Some(false), false),
            (false, None, true),
            (false, Some(false), false),
        ] {
            let mut config = node_config(7, (edge, true), kind, Mode::Md);
            config.interfaces[0].accept_int = accept_int;
            let mut node = Node::new(&config).unwrap();
            let expected = is_accepted.then(|| original(kind));
            assert_eq!(through(&mut node, &packet), expected, "{kind:?} {edge} {accept_int:?}");
        }
    }
}

/// A GRE packet whose shim names `ethertype` for what follows INT, and the original with that EtherType
/// before it.
fn gre_with(added: bool, ethertype: u16) -> (Vec<u8>, Vec<u8>) {
    let inner = ipv4(6, &tcp(false, &[], b"payload"));
    let gre = |protocol: u16, payload: &[u8]| [&[0, 0][..], &protocol.to_be_bytes(), payload].concat();
    let plain = if added { ethernet(0x0800, &inner) } else { frame(false, 47, &gre(0x0800, &inner)) };
    let mut packet = started(EncapsulationKind::Gre, &plain);
    let shim = locate(&packet, EncapsulationKind::Gre).shim;
    packet[shim + 2..shim + 4].copy_from_slice(&ethertype.to_be_bytes());
    let mut original = plain;
    let field = if added { 12 } else { layers(&original).l4 + 2 };
    original[field..field + 2].copy_from_slice(&ethertype.to_be_bytes());
    (packet, original)
}

#[test]
fn a_registered_ethertype_behind_gre_is_restored_as_such() {
    // int-2.1/gre-12, int-2.1/gre-13
    for (added, ethertype) in [false, true].into_iter().flat_map(|added| {
        [0x0800, 0x8847, 0x8848, 0x0806, 0x8100, 0x88cc, 0x894f].map(|value| (added, value))
    }) {
        let (packet, original) = gre_with(added, ethertype);
        let left = through(&mut sink(EncapsulationKind::Gre), &packet);
        assert_eq!(left, Some(original), "{ethertype:#06x}, header added: {added}");
    }
}

#[test]
fn a_next_protocol_that_is_no_registered_ethertype_is_discarded() {
    // int-2.1/gre-13
    for (added, ethertype) in [false, true]
        .into_iter()
        .flat_map(|added| [0x0000, 0x1234, 0x05dc, 0x05ff, 0xffff].map(|value| (added, value)))
    {
        assert_dropped(EncapsulationKind::Gre, &gre_with(added, ethertype).0, Outcome::NotStripped);
    }
    // The outer header would be removed from something other than an IPv6 packet.
    assert_dropped(EncapsulationKind::Gre, &gre_with(true, 0x86dd).0, Outcome::NotStripped);
}

#[test]
fn a_source_starts_no_int_that_a_sink_could_not_take_out() {
    // int-2.1/source-02
    let gre = |protocol: u16| frame(false, 47, &[&[0, 0][..], &protocol.to_be_bytes(), &[7; 40]].concat());
    for (kind, packet) in [
        (EncapsulationKind::Gre, gre(0x0000)),
        (EncapsulationKind::Gre, gre(0x1234)),
        (EncapsulationKind::Gre, gre(0x4569)),
        (EncapsulationKind::UdpPort, frame(false, 17, &udp(false, 33122, &[7; 40]))),
        (EncapsulationKind::Udp, frame(false, 17, &udp(false, 33122, &[7; 40]))),
    ] {
        let mut nodes = path(2, kind, Mode::Md);
        let sent = through(&mut nodes[0], &packet).unwrap();
        assert_eq!(sent, packet, "{kind:?}");
        assert_eq!(nodes[0].counters().get(Outcome::Started), 0);
        assert_eq!(through(&mut nodes[1], &sent), Some(packet), "{kind:?}: it is no INT");
    }
}

/// Inserts `more` before byte `at` and corrects the outer lengths and the IPv4 header checksum.
fn insert(packet: &mut Vec<u8>, at: usize, more: &[u8]) {
    let udp = layers(packet).udp(packet).is_some().then(|| layers(packet).l4);
    let grow = |packet: &mut Vec<u8>, at: usize| {
        let length = u16::from_be_bytes([packet[at], packet[at + 1]]) + u16::try_from(more.len()).unwrap();
        packet[at..at + 2].copy_from_slice(&length.to_be_bytes());
    };
    grow(packet, 16);
    if let Some(l4) = udp {
        grow(packet, l4 + 4);
    }
    packet.splice(at..at, more.iter().copied());
    repair_ip_checksum(packet);
}

/// A packet with INT-MD followed by a destination header of one word, and the original packet.
fn row(kind: EncapsulationKind) -> (Vec<u8>, Vec<u8>) {
    let plain = match kind {
        EncapsulationKind::UdpPort => {
            let mut datagram = udp(false, 7777, b"payload");
            datagram[6..8].fill(0);
            frame(false, 17, &datagram)
        }
        _ => tcp_frame(b"payload"),
    };
    let mut packet = started(kind, &plain);
    let location = locate(&packet, kind);
    let port = 33122_u16.to_be_bytes();
    let [high, low] = port;
    let more = match kind {
        EncapsulationKind::Gre => {
            packet[location.shim + 2..location.shim + 4].copy_from_slice(&[0x45, 0x69]);
            vec![0x28, 1, 0x08, 0x00, 1, 2, 3, 4]
        }
        EncapsulationKind::UdpPort => {
            packet[location.shim + 2..location.shim + 4].copy_from_slice(&port);
            vec![0x24, 1, 0x1e, 0x61, 1, 2, 3, 4]
        }
        _ => {
            packet[location.shim + 3] = 17;
            let length = u8::try_from(8 + 8 + packet.len() - location.end).unwrap();
            vec![0xc0, 0, high, low, 0, length, 0, 0, 0x28, 1, 0, 6, 1, 2, 3, 4]
        }
    };
    insert(&mut packet, location.end, &more);
    (packet, plain)
}

#[test]
fn a_row_of_int_headers_is_taken_out_whole() {
    // int-2.1/sink-01: the sink removes the MD header and (int-2.1/headers-04) the destination header.
    for kind in [EncapsulationKind::Gre, EncapsulationKind::UdpPort, EncapsulationKind::Udp] {
        let (packet, plain) = row(kind);
        let mut sink = sink(kind);
        let left = through(&mut sink, &packet).unwrap();
        assert_eq!(left, plain, "{kind:?}");
        assert_eq!(sink.counters().get(Outcome::Stripped), 1);
    }
}

#[test]
fn a_row_whose_second_header_cannot_be_read_is_dropped() {
    for (kind, behind) in
        [(EncapsulationKind::Gre, 0), (EncapsulationKind::UdpPort, 0), (EncapsulationKind::Udp, 8)]
    {
        let (mut packet, _) = row(kind);
        let second = locate(&started(kind, &row(kind).1), kind).end + behind;
        packet[second] = 0xf0 | packet[second] & 0x0f;
        assert_dropped(kind, &packet, Outcome::NotStripped);
    }
}

#[test]
fn a_row_goes_through_a_transit_hop_and_is_in_the_report() {
    // int-2.1/headers-04, int-2.1/headers-05: transit adds only to the MD header; the sink removes both.
    for kind in [EncapsulationKind::Gre, EncapsulationKind::UdpPort, EncapsulationKind::Udp] {
        let (packet, plain) = row(kind);
        let mut nodes = path(3, kind, Mode::Md);
        let sent = through(&mut nodes[1], &packet).unwrap();
        assert_eq!(nodes[1].counters().get(Outcome::Pushed), 1, "{kind:?}");
        assert_eq!(through(&mut nodes[2], &sent), Some(plain), "{kind:?}");
    }
}

#[test]
fn int_of_an_unknown_version_does_not_leave_the_domain() {
    // int-2.1/md-01: a version that is not 2.
    for kind in KINDS.into_iter().filter(|kind| *kind != EncapsulationKind::ProbeMarker) {
        let mut packet = started(kind, &original(kind));
        let at = locate(&packet, kind).header;
        packet[at] = 0x30 | packet[at] & 0x0f;
        assert_dropped(kind, &packet, Outcome::UnknownVersion);
        let mut transit = path(3, kind, Mode::Md).remove(1);
        assert_eq!(through(&mut transit, &packet), Some(packet), "a transit hop leaves it alone");
        assert_eq!(transit.counters().get(Outcome::Malformed), 1);
    }
}

#[test]
fn int_that_contradicts_itself_does_not_leave_the_domain() {
    let packet = with_header(&started(EncapsulationKind::Dscp, &tcp_frame(b"payload")), 2, &[5]);
    assert_dropped(EncapsulationKind::Dscp, &packet, Outcome::NotStripped);
}

#[test]
fn a_new_ip_header_in_front_of_what_is_no_ip_packet_is_not_taken_away() {
    let plain = frame(false, 50, &[7; 40]);
    let mut packet = started(EncapsulationKind::Udp, &plain);
    let end = locate(&packet, EncapsulationKind::Udp).end;
    packet[end] = 0x00;
    assert_dropped(EncapsulationKind::Udp, &packet, Outcome::NotStripped);
}

#[test]
fn a_broken_tcp_header_does_not_bring_the_mark_into_the_domain() {
    // int-2.1/l4-19
    let mut packet = tcp_frame(b"payload");
    packet[15] = 0x17 << 2 | 1;
    packet[14 + 20 + 12] = 0xf0;
    repair_ip_checksum(&mut packet);
    let mut node = path(2, EncapsulationKind::Dscp, Mode::Md).remove(0);
    let sent = through(&mut node, &packet).unwrap();
    assert_eq!(sent[15], 1, "the mark is gone and ECN stays");
    assert!(ip_checksum_is_right_of(&sent));
    assert_eq!(node.counters().get(Outcome::Remarked), 1);
    assert_eq!(node.counters().get(Outcome::Malformed), 1);
    // Inside the domain, and where it leaves, it is unchanged.
    let mut sink = sink(EncapsulationKind::Dscp);
    assert_eq!(through(&mut sink, &packet), Some(packet));
}

fn ip_checksum_is_right_of(frame: &[u8]) -> bool {
    support::slow_checksum(&[&frame[14..34]]) == 0
}

#[test]
fn bits_that_nobody_cares_about_do_not_keep_int_in_the_packet() {
    // host-int-0.5/packet-12
    let config = |id, edges| {
        let mut config: NodeConfig = node_config(id, edges, EncapsulationKind::Dscp, Mode::Md);
        config.node.int_version = Some(IntVersion::Host0_5);
        config
    };
    let plain = frame(false, 17, &udp(false, 7777, b"payload"));
    let sent = through(&mut Node::new(&config(1, (true, false))).unwrap(), &plain).unwrap();
    let shim = 14 + 20 + 8;
    for (at, bits) in [(1, 0xff), (3, 0xff), (5, 0xe0), (10, 0xff), (11, 0xff)] {
        let mut packet = sent.clone();
        packet[shim + at] |= bits;
        packet[14 + 20 + 6..14 + 20 + 8].fill(0);
        let mut sink = Node::new(&config(2, (false, true))).unwrap();
        let left = through(&mut sink, &packet).unwrap();
        assert_eq!(left.len(), plain.len(), "byte {at}");
        assert_eq!(sink.counters().get(Outcome::Stripped), 1);
    }
}

#[test]
fn a_sink_without_a_hop_left_reports_none_of_its_metadata_and_sets_e() {
    // int-2.1/md-07, int-2.1/md-31
    for (left, is_exceeded) in [(1, false), (0, true)] {
        let packet = with_header(&started(EncapsulationKind::Dscp, &tcp_frame(b"payload")), 3, &[left]);
        assert_eq!(md(&packet).0.remaining_hop_count(), left);
        let mut config = node_config(3, (false, true), EncapsulationKind::Dscp, Mode::Md);
        config.sink.own_metadata = SinkMetadata::Report;
        let mut node = Node::new(&config).unwrap();
        assert_eq!(through(&mut node, &packet), Some(tcp_frame(b"payload")));
        assert_eq!(node.counters().get(Outcome::HopsExceeded), u64::from(is_exceeded));
        with_report(&mut node, |report| {
            assert_eq!(report.rep_md_bits().0 == 0, is_exceeded);
            let (_, reported, _) = report.packet().unwrap();
            let e = 0x04;
            assert_eq!(reported[md(&packet).1.header] & e != 0, is_exceeded);
        });
    }
}

#[test]
fn a_gre_header_of_the_source_has_the_class_of_the_packet() {
    let plain = tcp_frame(b"payload");
    let sent = started(EncapsulationKind::Gre, &plain);
    assert_eq!((plain[15], sent[15]), (10 << 2 | 1, 10 << 2), "DSCP 10; ECN stays inside");
    assert!(ip_checksum_is_right(&sent));
    assert_eq!(through(&mut sink(EncapsulationKind::Gre), &sent), Some(plain));
}

#[test]
fn an_option_without_room_for_int_is_no_matter_of_the_mtu() {
    let options = [&[0x01, 0x02, 1, 31][..], &[0; 124], &[0x01, 0x02, 1, 27], &[0; 108]].concat();
    let inner = tcp_frame(b"inner");
    let geneve = [&[60, 0, 0x65, 0x58, 0, 0, 42, 0][..], &options, &inner].concat();
    let packet = frame(false, 17, &udp(false, 6081, &geneve));
    let mut node = path(2, EncapsulationKind::Geneve, Mode::Md).remove(0);
    assert_eq!(through(&mut node, &packet).unwrap(), packet);
    assert_eq!(node.counters().get(Outcome::NotStartedLength), 1);
    assert_eq!(node.counters().get(Outcome::NotStartedMtu), 0);
}

#[test]
fn a_node_that_is_source_and_sink_leaves_e_clear_with_its_last_hop() {
    // int-2.1/md-04
    for remaining_hops in [0, 1] {
        let mut config = node_config(3, (true, true), EncapsulationKind::Dscp, Mode::Md);
        config.sink.own_metadata = SinkMetadata::Report;
        config.source.remaining_hops = remaining_hops;
        let mut node = Node::new(&config).unwrap();
        assert_eq!(through(&mut node, &tcp_frame(b"payload")), Some(tcp_frame(b"payload")));
        assert_eq!(node.counters().get(Outcome::HopsExceeded), 0);
        with_report(&mut node, |report| assert!(report.rep_md_bits().0 != 0));
    }
}

#[test]
fn reports_do_not_wait_for_a_time_that_a_clock_was_set_back_from() {
    let mut config = node_config(7, (false, false), EncapsulationKind::Dscp, Mode::Xd);
    config.report.group = 3.try_into().unwrap();
    config.report.group_ms = 100;
    let mut node = Node::new(&config).unwrap();
    through(&mut node, &tcp_frame(b"payload"));
    let set_back = passage().metadata.clock().unwrap() - 10_000_000_000;
    node.handle_timeout(set_back);
    assert_eq!(node.poll_output(), None);
    node.handle_timeout(set_back + 99_999_999);
    assert_eq!(node.poll_output(), None);
    node.handle_timeout(set_back + 100_000_000);
    assert!(next_report(&mut node).is_some());
}
