//! Every encapsulation carries INT from source to sink and leaves no trace.

mod support;

use inband_node::Outcome;
use inband_node::config::{EncapsulationKind, Mode};
use inband_wire::dissect;
use inband_wire::int::{HeaderType, Md};
use inband_wire::layers::{Link, Strictness};
use inband_wire::report::ReportGroup;
use inband_wire::verify::{ChecksumState, l4_checksum};

use support::{code_points, ethernet, frame, ip_checksum_is_right, ipv4, path, tcp, through, udp};

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

/// Geneve with one option of another class in front.
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
        let report = nodes[3].poll_report().unwrap().to_vec();
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
            let report = node.poll_report().unwrap().to_vec();
            let group = ReportGroup::parse(&report).unwrap();
            assert_eq!(group.header.node_id(), u32::try_from(index + 1).unwrap());
        }
        assert_eq!(packet, original, "{kind:?} {name}");
    }
}
