//! Every encapsulation carries INT from source to sink and leaves no trace.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode};
use inband_node::{Node, Outcome};
use inband_testkit::packet;
use inband_wire::dissect;
use inband_wire::int::{HeaderType, Location, Md};
use inband_wire::layers::{Link, Strictness};
use inband_wire::report::ReportGroup;
use inband_wire::verify::{ChecksumState, l4_checksum};

use support::{
    code_points, ethernet, frame, ip_checksum_is_right, ipv4, layers, locate, next_report, path, tcp,
    through, udp,
};

/// Inner Ethernet frame with a TCP packet.
fn inner() -> Vec<u8> {
    ethernet(0x0800, &ipv4(6, &tcp(false, &[], b"inner payload")))
}

fn vxlan(v6: bool) -> Vec<u8> {
    let mut payload = vec![0x08, 0, 0, 0, 0x12, 0x34, 0x56, 0];
    payload.extend(inner());
    frame(v6, 17, &udp(v6, 4789, &payload))
}

fn vxlan_gpe(v6: bool) -> Vec<u8> {
    let mut payload = vec![0x0c, 0, 0, 3, 0x12, 0x34, 0x56, 0];
    payload.extend(inner());
    frame(v6, 17, &udp(v6, 4790, &payload))
}

/// Geneve with one option of another class before INT.
fn geneve(v6: bool) -> Vec<u8> {
    let mut payload = vec![2, 0, 0x65, 0x58, 0x12, 0x34, 0x56, 0];
    payload.extend([0x01, 0x04, 0x42, 1, 0xde, 0xad, 0xbe, 0xef]);
    payload.extend(inner());
    frame(v6, 17, &udp(v6, 6081, &payload))
}

/// GRE with checksum, key and sequence number around an IPv4 packet.
fn gre(v6: bool) -> Vec<u8> {
    let mut packet = vec![0xb0, 0, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9];
    packet.extend(ipv4(17, &udp(false, 53, b"inside gre")));
    let checksum = support::slow_checksum(&[&packet]);
    packet[4..6].copy_from_slice(&checksum.to_be_bytes());
    frame(v6, 47, &packet)
}

fn plain_gre(v6: bool) -> Vec<u8> {
    let mut packet = vec![0, 0, 0x65, 0x58];
    packet.extend(inner());
    frame(v6, 47, &packet)
}

/// AH in transport mode, opaque to INT.
fn ipsec(v6: bool) -> Vec<u8> {
    frame(v6, 51, &[6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0xaa, 0xbb, 0xcc, 0xdd])
}

fn tcp_with_options(v6: bool) -> Vec<u8> {
    frame(v6, 6, &tcp(v6, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], b"payload"))
}

fn plain_udp(v6: bool) -> Vec<u8> {
    frame(v6, 17, &udp(v6, 7777, b"odd"))
}

fn cases() -> Vec<(EncapsulationKind, &'static str, Vec<u8>)> {
    let mut cases = Vec::new();
    for v6 in [false, true] {
        for kind in [
            EncapsulationKind::Dscp,
            EncapsulationKind::ProbeMarker,
            EncapsulationKind::Udp,
            EncapsulationKind::Gre,
        ] {
            cases.push((kind, "tcp with options", tcp_with_options(v6)));
            cases.push((kind, "udp", plain_udp(v6)));
        }
        cases.push((EncapsulationKind::UdpPort, "udp", plain_udp(v6)));
        cases.push((EncapsulationKind::UdpPort, "vxlan", vxlan(v6)));
        cases.push((EncapsulationKind::Udp, "ipsec", ipsec(v6)));
        cases.push((EncapsulationKind::Gre, "ipsec", ipsec(v6)));
        cases.push((EncapsulationKind::Gre, "gre with checksum, key and sequence number", gre(v6)));
        cases.push((EncapsulationKind::Gre, "gre with ethernet", plain_gre(v6)));
        cases.push((EncapsulationKind::VxlanGpe, "vxlan", vxlan(v6)));
        cases.push((EncapsulationKind::VxlanGpe, "vxlan-gpe", vxlan_gpe(v6)));
        cases.push((EncapsulationKind::Geneve, "geneve", geneve(v6)));
    }
    cases
}

#[test]
fn every_encapsulation_carries_md_and_leaves_the_packet_as_it_was() {
    // int-2.1/sink-01, int-2.1/domain-03
    for (kind, name, original) in cases() {
        let mut nodes = path(4, kind, Mode::Md);
        let mut packet = original.clone();
        for (hops, node) in nodes.iter_mut().enumerate() {
            let last = hops == 3;
            packet = through(node, &packet).unwrap();
            if last {
                assert_eq!(node.counters().get(Outcome::Stripped), 1, "{kind:?} {name}");
                continue;
            }
            let dissection = dissect(Link::Ethernet, &packet, &code_points(kind), Strictness::Whole);
            assert_eq!(dissection.error, None, "{kind:?} {name}");
            let (layers, location) = dissection.int().next().unwrap_or_else(|| panic!("{kind:?} {name}"));
            let md = Md::parse(&packet, location, &[]).unwrap();
            let path: Vec<_> = md.stack.hops().map(|hop| hop.metadata().node_id.unwrap()).collect();
            let expected: Vec<_> = (1..=u32::try_from(hops + 1).unwrap()).rev().collect();
            assert_eq!(path, expected, "{kind:?} {name}");
            assert!(ip_checksum_is_right(&packet), "{kind:?} {name}");
            let state = l4_checksum(&packet, layers);
            assert!(matches!(state, ChecksumState::Ok | ChecksumState::Absent), "{kind:?} {name} {state:?}");
        }
        assert_eq!(packet, original, "{kind:?} {name}");
        let report = next_report(&mut nodes[3]).unwrap();
        let group = ReportGroup::parse(&report).unwrap();
        assert_eq!(group.reports().count(), 1);
    }
}

#[test]
fn every_encapsulation_carries_mx_and_every_node_reports() {
    // int-2.1/sink-03, int-2.1/modes-02, int-2.1/modes-03
    for (kind, name, original) in cases() {
        let mut nodes = path(3, kind, Mode::Mx);
        let mut packet = original.clone();
        let mut length = None;
        for (index, node) in nodes.iter_mut().enumerate() {
            packet = through(node, &packet).unwrap();
            if index < 2 {
                let length = *length.get_or_insert(packet.len());
                assert_eq!(packet.len(), length, "{kind:?} {name}");
                let dissection = dissect(Link::Ethernet, &packet, &code_points(kind), Strictness::Whole);
                let (_, location) = dissection.int().next().unwrap();
                assert_eq!(location.header_type, HeaderType::Mx, "{kind:?} {name}");
            }
            let report = next_report(node).unwrap();
            let group = ReportGroup::parse(&report).unwrap();
            assert_eq!(group.header.node_id(), u32::try_from(index + 1).unwrap());
        }
        assert_eq!(packet, original, "{kind:?} {name}");
    }
}

/// The shim of the packet that a source of `kind` makes of `original`.
fn started(kind: EncapsulationKind, original: &[u8]) -> (Vec<u8>, [u8; 4], Location) {
    let packet = through(&mut path(2, kind, Mode::Md)[0], original).unwrap();
    let location = locate(&packet, kind);
    let shim = packet[location.shim..location.shim + 4].try_into().unwrap();
    (packet, shim, location)
}

#[test]
fn an_added_gre_header_says_so_in_its_shim() {
    // int-2.1/gre-03, int-2.1/gre-06, int-2.1/gre-07, int-2.1/gre-08, int-2.1/gre-10, int-2.1/gre-12
    let (packet, shim, location) = started(EncapsulationKind::Gre, &plain_udp(false));
    assert_eq!(shim, [0x18, 5, 0x08, 0x00]);
    assert_eq!(packet[34..38], [0, 0, 0x45, 0x69]);
    assert_eq!(packet[location.end] >> 4, 4);
    let (packet, shim, _) = started(EncapsulationKind::Gre, &plain_udp(true));
    assert_eq!(shim, [0x18, 5, 0x86, 0xdd]);
    assert_eq!(packet[12..14], [0x08, 0x00], "the outer header is IPv4");
}

#[test]
fn an_existing_gre_header_keeps_its_fields() {
    // int-2.1/gre-01, int-2.1/gre-02, int-2.1/gre-05, int-2.1/gre-07, int-2.1/gre-12
    let (packet, shim, location) = started(EncapsulationKind::Gre, &gre(false));
    assert_eq!(shim, [0x10, 5, 0x08, 0x00]);
    assert_eq!(packet[34..38], [0xb0, 0, 0x45, 0x69]);
    assert_eq!(location.shim, 34 + 16);
}

#[test]
fn the_reserved_bits_of_a_shim_are_ignored_on_receipt() {
    // int-2.1/gre-09, int-2.1/l4-31, int-2.1/l4-33, int-2.1/l4-34
    for (kind, original, reserved) in [
        (EncapsulationKind::Gre, plain_udp(false), [0x07, 0, 0, 0]),
        (EncapsulationKind::Udp, plain_udp(false), [0x03, 0, 0xff, 0]),
        (EncapsulationKind::Dscp, tcp_with_options(false), [0x03, 0, 0xff, 0x03]),
        (EncapsulationKind::VxlanGpe, vxlan(false), [0x0f, 0, 0x7f, 0]),
    ] {
        let mut nodes = path(2, kind, Mode::Md);
        let mut packet = through(&mut nodes[0], &original).unwrap();
        let location = locate(&packet, kind);
        let mut other = packet.clone();
        for (byte, reserved) in other[location.shim..].iter_mut().zip(reserved) {
            *byte |= reserved;
        }
        let (a, b) = (through(&mut nodes[1], &packet).unwrap(), through(&mut nodes[1], &other).unwrap());
        let checksum_at = layers(&a).checksum_at();
        packet = b;
        if let Some(at) = checksum_at {
            // The changed bits were not covered by the checksum, so the sink's correction leaves it wrong.
            packet[at..at + 2].copy_from_slice(&a[at..at + 2]);
        }
        assert_eq!(packet, a, "{kind:?}");
    }
}

#[test]
fn vxlan_becomes_gpe_with_int_as_next_protocol() {
    // int-2.1/vxlan-01, int-2.1/vxlan-02, int-2.1/vxlan-03, int-2.1/vxlan-05, int-2.1/vxlan-06,
    // int-2.1/vxlan-07
    let (packet, shim, _) = started(EncapsulationKind::VxlanGpe, &vxlan(false));
    assert_eq!(packet[36..38], 4790_u16.to_be_bytes());
    assert_eq!(packet[42..46], [0x0c, 0, 0, 0x82]);
    assert_eq!(shim, [0x10, 5, 0x80, 3]);
    let (_, shim, _) = started(EncapsulationKind::VxlanGpe, &vxlan_gpe(false));
    assert_eq!(shim, [0x10, 5, 0x00, 3]);
}

#[test]
fn vxlan_with_an_extension_is_left_alone() {
    // int-2.1/encapsulation-02: the group policy bits of the first word could not be restored.
    let mut original = vxlan(false);
    original[42] |= 0x80;
    original[40..42].fill(0);
    let mut source = path(2, EncapsulationKind::VxlanGpe, Mode::Md).remove(0);
    assert_eq!(through(&mut source, &original).unwrap(), original);
    assert_eq!(source.counters().get(Outcome::NotCarried), 1);
}

#[test]
fn geneve_gets_an_option_behind_the_others() {
    // int-2.1/geneve-01, int-2.1/geneve-02, int-2.1/geneve-05
    let (packet, option, location) = started(EncapsulationKind::Geneve, &geneve(false));
    assert_eq!(option, [0x01, 0x03, 1, 5]);
    assert_eq!(location.shim, 42 + 8 + 8);
    assert_eq!(packet[42], 2 + 1 + 5, "base length in words, option headers counted");
}

#[test]
fn nodes_follow_the_mark_of_their_domain_only() {
    // int-2.1/l4-23, int-2.1/l4-24, int-2.1/encapsulation-03, int-2.1/encapsulation-01, int-2.1/l4-05
    let (packet, _, _) = started(EncapsulationKind::UdpPort, &plain_udp(false));
    let mut other = path(3, EncapsulationKind::Dscp, Mode::Md).remove(1);
    assert_eq!(through(&mut other, &packet).unwrap(), packet);
}

/// A VXLAN-GPE packet with an MD header and, behind it, a destination header of one word.
fn chain() -> Vec<u8> {
    let (mut packet, _, location) = started(EncapsulationKind::VxlanGpe, &vxlan(false));
    packet[location.shim + 2..location.shim + 4].copy_from_slice(&[0x80, 0x82]);
    let destination = [0x20, 1, 0x80, 3, 0xde, 0xad, 0xbe, 0xef];
    packet.splice(location.end..location.end, destination);
    for (at, bytes) in [(16, 8), (38, 8)] {
        let length = u16::from_be_bytes([packet[at], packet[at + 1]]) + bytes;
        packet[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }
    packet[40..42].fill(0);
    support::repair_ip_checksum(&mut packet);
    packet
}

#[test]
fn a_transit_hop_ignores_a_destination_header_and_the_sink_removes_the_chain() {
    // int-2.1/headers-01, int-2.1/vxlan-04: a destination header is beside an MD or MX header in one packet.
    // int-2.1/headers-02: MD or MX, to which the hop adds, comes first, and stays first.
    // int-2.1/headers-05: the transit hop leaves each byte of the destination header unchanged.
    // int-2.1/headers-04: the sink removes it.
    let mut nodes = path(3, EncapsulationKind::VxlanGpe, Mode::Md);
    let packet = through(&mut nodes[1], &chain()).unwrap();
    let headers = |packet: &[u8]| {
        let points = code_points(EncapsulationKind::VxlanGpe);
        let found = dissect(Link::Ethernet, packet, &points, Strictness::Whole);
        let header =
            |location: &Location| (location.header_type, packet[location.shim..location.end].to_vec());
        found.int().map(|(_, location)| header(location)).collect::<Vec<_>>()
    };
    let (before, after) = (headers(&chain()), headers(&packet));
    let types: Vec<_> = after.iter().map(|(header_type, _)| *header_type).collect();
    assert_eq!(types, [HeaderType::Md, HeaderType::Destination]);
    assert_ne!(before[0], after[0]);
    assert_eq!(before[1], after[1]);
    let mut expected = vxlan(false);
    expected[40..42].fill(0);
    assert_eq!(through(&mut nodes[2], &packet).unwrap(), expected);
}

#[test]
fn a_destination_header_alone_passes_a_transit_hop_as_it_came_and_the_sink_takes_it_out() {
    // int-2.1/headers-01: a packet has a destination header and no other.
    // int-2.1/headers-05: the transit hop ignores it; int-2.1/headers-04: the sink consumes it.
    let header = [0x20, 2, 0, 10 << 2, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4];
    let sent = packet().dscp(0x17).tcp(1, 22).payload(&[&header[..], b"data"].concat()).build();
    let mut nodes = path(3, EncapsulationKind::Dscp, Mode::Md);
    assert_eq!(through(&mut nodes[1], &sent), Some(sent.clone()));
    assert_eq!(nodes[1].counters().get(Outcome::Transit), 1);
    let plain = packet().dscp(10).tcp(1, 22).payload(b"data").build();
    assert_eq!(through(&mut nodes[2], &sent), Some(plain));
    assert_eq!(nodes[2].counters().get(Outcome::Stripped), 1);
}

#[test]
fn int_of_an_inner_packet_is_none_of_an_outer_domains_business() {
    // int-2.1/l4-04
    let inner = through(&mut path(2, EncapsulationKind::Dscp, Mode::Md)[0], &inner()).unwrap();
    let mut payload = vec![0x08, 0, 0, 0, 0, 0, 1, 0];
    payload.extend(&inner);
    let original = frame(false, 17, &udp(false, 4789, &payload));
    let mut packet = original.clone();
    for node in &mut path(3, EncapsulationKind::UdpPort, Mode::Md) {
        packet = through(node, &packet).unwrap();
        let dissection =
            dissect(Link::Ethernet, &packet, &code_points(EncapsulationKind::Dscp), Strictness::Whole);
        let at_the_end = packet == original;
        assert_eq!(dissection.int().count(), if at_the_end { 1 } else { 2 });
    }
    assert_eq!(packet, original);
}

#[test]
fn the_probe_marker_is_a_number_in_network_byte_order() {
    // int-2.1/l4-20, int-2.1/l4-21
    let (packet, _, location) = started(EncapsulationKind::ProbeMarker, &plain_udp(false));
    assert_eq!(packet[location.shim - 8..location.shim], 0xaaaa_aaaa_bbbb_bbbb_u64.to_be_bytes());
}

#[test]
fn every_encapsulation_can_report_its_stack_on_the_way() {
    // int-2.1/mtu-05: in each encapsulation, reporting the stack makes room for the hop of this node.
    // int-2.1/mtu-06: the report is marked as intermediate, and that hop is the one on the packet's stack.
    for (kind, name, original) in cases() {
        let mut nodes = path(2, kind, Mode::Md);
        let before = through(&mut nodes[0], &original).unwrap();
        let mut config = support::node_config(7, (false, false), kind, Mode::Md);
        config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
        config.interfaces[1].mtu = u32::try_from(layers(&before).ip_length()).unwrap();
        let mut node = Node::new(&config).unwrap();

        let after = through(&mut node, &before).unwrap();

        assert_eq!(after.len(), before.len(), "{kind:?} {name}");
        assert_eq!(node.counters().get(Outcome::IntermediateReport), 1, "{kind:?} {name}");
        support::with_report(&mut node, |report| assert!(report.intermediate(), "{kind:?} {name}"));
        let stack = Md::parse(&after, &locate(&after, kind), &[]).unwrap().stack;
        let ids: Vec<_> = stack.hops().map(|hop| hop.metadata().node_id).collect();
        assert_eq!(ids, [Some(7)], "{kind:?} {name}");
        assert!(ip_checksum_is_right(&after), "{kind:?} {name}");
        let state = l4_checksum(&after, &layers(&after));
        assert!(matches!(state, ChecksumState::Ok | ChecksumState::Absent), "{kind:?} {name} {state:?}");
        assert_eq!(through(&mut nodes[1], &after).unwrap(), original, "{kind:?} {name}");
    }
}

#[test]
fn a_sink_takes_a_whole_frame_out_of_an_added_gre_header() {
    // int-2.1/gre-04: another vendor's source put Ethernet, not IP, behind GRE.
    let original = tcp_with_options(false);
    let (with_ip, _, location) = started(EncapsulationKind::Gre, &original);
    let mut packet = with_ip[..location.end].to_vec();
    packet.extend(&original);
    packet[location.shim + 2..location.shim + 4].copy_from_slice(&[0x65, 0x58]);
    let length = u16::try_from(packet.len() - 14).unwrap();
    packet[16..18].copy_from_slice(&length.to_be_bytes());
    support::repair_ip_checksum(&mut packet);
    assert_eq!(through(&mut path(2, EncapsulationKind::Gre, Mode::Md)[1], &packet).unwrap(), original);
}

#[test]
fn a_probe_marker_counts_only_beside_the_ports_of_the_domain() {
    // int-2.1/l4-22
    let config = |edges| {
        let mut config = support::node_config(1, edges, EncapsulationKind::ProbeMarker, Mode::Md);
        config.encapsulation.probe_marker_ports = Some(inband_node::config::PortRange(7777..=7777));
        config
    };
    let mut source = Node::new(&config((true, false))).unwrap();
    let started = through(&mut source, &plain_udp(false)).unwrap();
    assert_eq!(source.counters().get(Outcome::Started), 1);
    let mut sink = Node::new(&config((false, true))).unwrap();
    assert_eq!(through(&mut sink, &started).unwrap(), plain_udp(false));
    // A host's own bytes that look like a marker, to another port: payload to all nodes.
    let other = frame(false, 17, &udp(false, 53, &started[42..]));
    let mut transit = Node::new(&config((false, false))).unwrap();
    assert_eq!(through(&mut transit, &other).unwrap(), other);
    assert_eq!(transit.counters().get(Outcome::NoInt), 1);
    assert_eq!(through(&mut source, &other).unwrap(), other);
    assert_eq!(source.counters().get(Outcome::NotCarried), 1);
}
