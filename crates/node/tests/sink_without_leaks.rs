//! No encapsulation lets INT of any version and type leave a sink.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, IntVersion, Mode, NodeConfig, SinkMetadata};
use inband_node::{Node, Outcome};
use inband_testkit::{host_int, int_0_5, int_1_0, int_md, packet};

use support::{ethernet, frame, ipv4, layers, locate, node_config, tcp, tcp_frame, through, udp};

use EncapsulationKind::{Dscp, Geneve, Gre, ProbeMarker, Udp, UdpPort, VxlanGpe};

/// Every encapsulation of every version.
const DOMAINS: [(IntVersion, &[EncapsulationKind]); 5] = [
    (IntVersion::V2_1, &[Dscp, UdpPort, Udp, ProbeMarker, Gre, VxlanGpe, Geneve]),
    (IntVersion::V1_0, &[Dscp, ProbeMarker, VxlanGpe, Geneve]),
    (IntVersion::V0_5, &[Dscp, UdpPort, VxlanGpe, Geneve]),
    (IntVersion::Host0_5, &[Dscp, Udp]),
    (IntVersion::V2016, &[VxlanGpe, Geneve]),
];

fn config(version: IntVersion, kind: EncapsulationKind, edges: (bool, bool)) -> NodeConfig {
    let mut config = node_config(7, edges, kind, Mode::Md);
    config.node.int_version = Some(version);
    if version == IntVersion::V2_1 {
        return config;
    }
    config.sink.own_metadata = SinkMetadata::None;
    config
}

/// Packets that can carry this encapsulation, without INT.
fn originals(kind: EncapsulationKind) -> Vec<Vec<u8>> {
    let inner = ethernet(0x0800, &ipv4(6, &tcp(false, &[], b"inner")));
    let tunnel = |port, header: &[u8]| vec![frame(false, 17, &udp(false, port, &[header, &inner].concat()))];
    match kind {
        UdpPort => vec![frame(false, 17, &udp(false, 7777, &[0x55; 24]))],
        // A shim before 2.0 cannot record that the packet was plain VXLAN.
        VxlanGpe => {
            [tunnel(4789, &[8, 0, 0, 0, 0, 0, 42, 0]), tunnel(4790, &[12, 0, 0, 3, 0, 0, 42, 0])].concat()
        }
        Geneve => tunnel(6081, &[0, 0, 0x65, 0x58, 0, 0, 42, 0]),
        _ => vec![tcp_frame(&[0x55; 24]), frame(false, 17, &udp(false, 7777, &[0x55; 24]))],
    }
}

/// The packet without its L4 checksum, which a changed version leaves wrong by the same difference, and
/// without its DSCP, which Host-INT does not preserve.
fn comparable(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let at = layers(&packet);
    packet[at.l3 + 1] = 0;
    packet[at.l3 + 10..at.l3 + 12].fill(0);
    if let Some(at) = at.checksum_at() {
        packet[at..at + 2].fill(0);
    }
    packet
}

/// The highest type of INT header: before 2.0 type 3 is Host-INT's alone, and MX was added in 2.1.
fn types(version: IntVersion, kind: EncapsulationKind) -> u8 {
    let has_three = matches!(version, IntVersion::V2_1 | IntVersion::Host0_5) || kind == Geneve;
    if has_three { 3 } else { 2 }
}

/// Offsets of a packet's INT and of its metadata header.
fn place(version: IntVersion, packet: &[u8], kind: EncapsulationKind) -> (usize, usize) {
    if version == IntVersion::V2_1 {
        let location = locate(packet, kind);
        return (location.shim, location.header);
    }
    let at = layers(packet);
    let l4 = at.l4 + if at.udp(packet).is_some() { 8 } else { 20 };
    let shim = match kind {
        VxlanGpe | Geneve | ProbeMarker => l4 + 8,
        _ => l4,
    };
    (shim, shim + 4)
}

/// Asserts that the packet leaves the sink without INT, as `original`, or not at all and counted.
fn assert_no_leak(config: &NodeConfig, packet: &[u8], original: &[u8], case: &str) {
    let mut sink = Node::new(config).unwrap();
    let left = through(&mut sink, packet);
    let count = |outcome| sink.counters().get(outcome);
    assert_eq!(sink.counters().packets(), 1, "{case}");
    match left {
        Some(left) => {
            assert_eq!(count(Outcome::Stripped), 1, "{case}: it goes on as it came");
            assert_eq!(comparable(&left), comparable(original), "{case}");
        }
        None => {
            let ends =
                [Outcome::UnknownVersion, Outcome::NotStripped, Outcome::Discarded, Outcome::CopyDiscarded];
            assert_eq!(ends.map(count).iter().sum::<u64>(), 1, "{case}");
        }
    }
}

#[test]
fn no_version_and_no_type_of_int_leaves_a_sink_in_any_encapsulation() {
    // int-2.1/sink-01: the sink removes all INT; int-2.1/md-01: Ver is 2, any other is unknown.
    for (version, kinds) in DOMAINS {
        for kind in kinds.iter().copied() {
            let mut cases = 0;
            for original in originals(kind) {
                let mut source = Node::new(&config(version, kind, (true, false))).unwrap();
                let sent = through(&mut source, &original).unwrap();
                if sent == original {
                    // Not every encapsulation carries both TCP and UDP.
                    continue;
                }
                let (shim, header) = place(version, &sent, kind);
                for (header_type, nibble) in
                    (1..=types(version, kind)).flat_map(|kind| (0..16_u8).map(move |of| (kind, of)))
                {
                    let mut packet = sent.clone();
                    match kind {
                        Geneve => packet[shim + 2] = header_type,
                        _ if version == IntVersion::V2_1 => {
                            packet[shim] = header_type << 4 | packet[shim] & 0x0f;
                        }
                        _ => packet[shim] = header_type,
                    }
                    packet[header] = nibble << 4 | packet[header] & 0x0f;
                    for egress in [config(version, kind, (false, true)), accepting(version, kind)] {
                        let case = format!("{version:?} {kind:?}, type {header_type}, version {nibble}");
                        assert_no_leak(&egress, &packet, &original, &case);
                        cases += 1;
                    }
                }
            }
            assert!(cases >= 2 * 16 * usize::from(types(version, kind)), "{version:?} {kind:?}: {cases}");
        }
    }
}

/// A sink whose ingress is an edge with hosts that are sources.
fn accepting(version: IntVersion, kind: EncapsulationKind) -> NodeConfig {
    let mut config = config(version, kind, (true, true));
    config.interfaces[0].accept_int = Some(true);
    config
}

#[test]
fn int_of_an_unknown_version_behind_a_probe_marker_is_dropped_by_the_sink_and_counted() {
    // int-2.1/l4-22: 64 bits followed by a shim do not occur in payload by chance.
    let original = tcp_frame(b"payload");
    let mut source = Node::new(&config(IntVersion::V2_1, ProbeMarker, (true, false))).unwrap();
    let mut packet = through(&mut source, &original).unwrap();
    let (_, header) = place(IntVersion::V2_1, &packet, ProbeMarker);
    packet[header] = 0x30;

    let mut sink = Node::new(&config(IntVersion::V2_1, ProbeMarker, (false, true))).unwrap();
    assert_eq!(through(&mut sink, &packet), None);
    assert_eq!(sink.counters().get(Outcome::UnknownVersion), 1);
    let mut transit = Node::new(&config(IntVersion::V2_1, ProbeMarker, (false, false))).unwrap();
    assert_eq!(through(&mut transit, &packet), Some(packet));
    assert_eq!(transit.counters().get(Outcome::Malformed), 1);
}

#[test]
fn a_shim_before_2_0_of_an_unknown_version_is_dropped_by_the_sink_and_counted() {
    let of = |int: &[u8]| packet().dscp(0x17).tcp(1, 22).payload(&[int, b"data"].concat()).build();
    let unknown = |version: u8| int_1_0().flags(version << 4).hop(1).bytes();
    for version in 2..16 {
        let mut sink = Node::new(&config(IntVersion::V2_1, Dscp, (false, true))).unwrap();
        assert_eq!(through(&mut sink, &of(&unknown(version))), None, "version {version}");
        assert_eq!(sink.counters().get(Outcome::UnknownVersion), 1);
    }
    // A header of a known version that contradicts itself.
    for int in [int_1_0().hop(1).hop_words(1), int_0_5().hop(1).total_hops(2), host_int().total_hops(2)] {
        let mut sink = Node::new(&config(IntVersion::V2_1, Dscp, (false, true))).unwrap();
        assert_eq!(through(&mut sink, &of(&int.bytes())), None, "{int:?}");
        assert_eq!(sink.counters().get(Outcome::NotStripped), 1, "{int:?}");
    }
}

#[test]
fn payload_behind_a_mark_that_others_share_is_dropped_only_where_it_is_int_but_for_its_version() {
    let mut config = config(IntVersion::Host0_5, Dscp, (false, true));
    (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(0x20), Some(0x20));
    let sent = |payload: &[u8]| packet().dscp(46).tcp(1, 3389).payload(payload).build();
    // TPKT of 1,024 bytes, as RDP sends it, with a first byte that no version of INT has after its shim.
    let tpkt = [&[3, 0, 4, 0, 0x42, 0xf0, 0x80][..], &[0x64; 1017]].concat();
    let mut sink = Node::new(&config).unwrap();
    assert_eq!(through(&mut sink, &sent(&tpkt)), Some(sent(&tpkt)));
    assert_eq!(sink.counters().get(Outcome::Malformed), 1);

    let unknown = [&host_int().flags(0x50).bytes()[..], b"data"].concat();
    let mut sink = Node::new(&config).unwrap();
    assert_eq!(through(&mut sink, &sent(&unknown)), None);
    assert_eq!(sink.counters().get(Outcome::UnknownVersion), 1);
}

#[test]
fn a_mark_without_a_shim_behind_it_goes_on_and_counts_as_malformed() {
    // A type that no version has, and a length that does not fit.
    let long = int_md().hop(1).bytes();
    for (at, byte) in [(0, 0x50), (0, 0x00), (1, 255), (1, 2)] {
        let mut int = long.clone();
        int[at] = byte;
        let sent = packet().dscp(0x17).tcp(1, 22).payload(&[&int[..], b"data"].concat()).build();
        let mut sink = Node::new(&config(IntVersion::V2_1, Dscp, (false, true))).unwrap();
        assert_eq!(through(&mut sink, &sent), Some(sent), "byte {at} is {byte:#04x}");
        assert_eq!(sink.counters().get(Outcome::Malformed), 1);
    }
}
