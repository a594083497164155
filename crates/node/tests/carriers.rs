//! Changes of each encapsulation to the packet: MD and MX, IPv4 and IPv6, source, transit hop, sink.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, GrePayload, Instruction, Mode, NodeConfig};
use inband_node::{Node, Outcome};
use inband_testkit::{oracle, packet};
use inband_wire::int::{HeaderType, Location, Md};
use inband_wire::layers::{Link, Strictness};
use inband_wire::{dissect, udp};

use support::{code_points, ethernet, frame, ipv4, layers, locate, node_config, path, tcp, through, udp};

const MODES: [Mode; 2] = [Mode::Md, Mode::Mx];

/// Sends `original` through source, transit hop and sink, checks every sum on the path and that the original
/// is restored, and passes the packets sent by the source and the transit hop to `check`.
fn carry(
    original: &[u8],
    kind: EncapsulationKind,
    mode: Mode,
    change: impl Fn(&mut NodeConfig),
    check: impl Fn(&[u8], &Location),
) {
    let what = format!("{kind:?} {mode:?}");
    let mut current = original.to_vec();
    for id in 1..=3 {
        let mut config = node_config(id, (id == 1, id == 3), kind, mode);
        change(&mut config);
        let mut node = Node::new(&config).unwrap();
        current = through(&mut node, &current).unwrap();
        if id == 3 {
            break;
        }
        let location = locate(&current, kind);
        let expected = if mode == Mode::Md { HeaderType::Md } else { HeaderType::Mx };
        assert_eq!(location.header_type, expected, "{what}");
        assert!(oracle::l4_sum(&current).is_none_or(|sum| sum == 0xffff), "{what}");
        assert!(oracle::ipv4_header_sum(&current).is_none_or(|sum| sum == 0xffff), "{what}");
        assert_eq!(layers(&current).end, current.len(), "{what}");
        if mode == Mode::Md {
            let hops = Md::parse(&current, &location, &[]).unwrap().stack.hop_count();
            assert_eq!(hops, usize::try_from(id).unwrap(), "{what}");
        }
        check(&current, &location);
    }
    assert_eq!(current, original, "{what}");
}

const ESP: u8 = 50;
const AH: u8 = 51;

#[test]
fn ipsec_and_other_protocols_get_a_new_ip_and_udp_header() {
    // int-2.1/l4-07, int-2.1/l4-09, int-2.1/l4-10, int-2.1/l4-28
    for v6 in [false, true] {
        for protocol in [ESP, AH, 1, 89, 132, 253] {
            let original = frame(v6, protocol, &[0x5a; 37]);
            for mode in MODES {
                carry(
                    &original,
                    EncapsulationKind::Udp,
                    mode,
                    |_| (),
                    |sent, location| {
                        let outer = layers(sent);
                        assert_eq!(outer.protocol, udp::PROTOCOL);
                        assert_eq!(outer.addresses(sent), layers(&original).addresses(&original));
                        assert_eq!(sent[outer.l4 + 2..outer.l4 + 4], 33122_u16.to_be_bytes());
                        assert_eq!(sent[outer.l4 + 6..outer.l4 + 8], [0, 0], "no checksum");
                        // NPT 2, and the protocol of IP in IP.
                        assert_eq!(sent[location.shim] & 0x0c, 0x08);
                        assert_eq!(sent[location.shim + 2..location.shim + 4], [0, if v6 { 41 } else { 4 }]);
                        assert_eq!(sent[location.end..], original[14..], "the original packet, untouched");
                    },
                );
            }
        }
    }
}

#[test]
fn a_new_udp_header_stands_in_front_of_tcp_and_udp_and_behind_extension_headers() {
    // int-2.1/l4-07, int-2.1/l4-08, int-2.1/l4-10
    let extended = packet().ipv6().extension(0, &[1, 4, 0, 0, 0, 0]).extension(60, &[0; 14]);
    for (base, l3_bytes) in [(packet(), 20), (packet().ipv6(), 40), (extended, 40 + 8 + 16)] {
        for (original, protocol) in
            [(base.clone().tcp(9, 80).payload(b"x").build(), 6), (base.udp(9, 53).payload(b"x").build(), 17)]
        {
            for mode in MODES {
                carry(
                    &original,
                    EncapsulationKind::Udp,
                    mode,
                    |_| (),
                    |sent, location| {
                        assert_eq!(location.shim, 14 + l3_bytes + 8);
                        assert_eq!(sent[location.shim + 3], protocol);
                        assert_eq!(sent[location.end..], original[14 + l3_bytes..]);
                    },
                );
            }
        }
    }
}

#[test]
fn a_source_adds_gre_in_front_of_ipv4_and_ipv6() {
    // int-2.1/gre-03, int-2.1/gre-04, int-2.1/gre-07, int-2.1/gre-12
    for (v6, ethertype) in [(false, [0x08, 0x00]), (true, [0x86, 0xdd])] {
        let original = frame(v6, 6, &tcp(v6, &[], b"payload"));
        for mode in MODES {
            carry(
                &original,
                EncapsulationKind::Gre,
                mode,
                |_| (),
                |sent, location| {
                    assert_eq!(sent[12..14], [0x08, 0x00]);
                    assert_eq!(sent[location.shim] & 0x08, 0x08, "G");
                    assert_eq!(sent[location.shim + 2..location.shim + 4], ethertype);
                    assert_eq!(sent[location.end..], original[14..]);
                },
            );
        }
    }
}

#[test]
fn a_source_adds_gre_in_front_of_a_whole_frame_with_its_tags() {
    // int-2.1/gre-03, int-2.1/gre-04, int-2.1/gre-07, int-2.1/gre-12
    for original in [
        packet().tcp(9, 80).payload(b"payload").build(),
        packet().vlan(7).udp(9, 53).payload(b"payload").build(),
        packet().tag(0x88a8, 3).vlan(7).ipv6().tcp(9, 80).build(),
    ] {
        let l3 = layers(&original).l3;
        for mode in MODES {
            let change = |config: &mut NodeConfig| config.encapsulation.gre_payload = GrePayload::Ethernet;
            carry(&original, EncapsulationKind::Gre, mode, change, |sent, location| {
                assert_eq!(sent[..l3 - 2], original[..l3 - 2], "addresses and tags");
                assert_eq!(sent[l3 - 2..l3], [0x08, 0x00]);
                assert_eq!(location.shim, l3 + 20 + 4);
                assert_eq!(sent[location.shim] & 0x08, 0x08, "G");
                assert_eq!(sent[location.shim + 2..location.shim + 4], [0x65, 0x58]);
                assert_eq!(sent[location.end..], original);
            });
        }
    }
}

#[test]
fn ethernet_padding_stays_behind_the_packet_when_a_frame_goes_into_gre() {
    // int-2.1/gre-04
    let original = packet().udp(9, 53).payload(b"x").padding(&[0xee; 17]).build();
    let mut nodes = path(2, EncapsulationKind::Gre, Mode::Md);
    let mut config = node_config(1, (true, false), EncapsulationKind::Gre, Mode::Md);
    config.encapsulation.gre_payload = GrePayload::Ethernet;
    let sent = through(&mut Node::new(&config).unwrap(), &original).unwrap();
    assert_eq!(layers(&sent).end + 17, sent.len());
    assert_eq!(through(&mut nodes[1], &sent).unwrap(), original);
}

/// A GRE packet with any of checksum, key and sequence number around `payload` of type `ethertype`.
fn gre(v6: bool, flags: u8, ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let fields = [0x80, 0x20, 0x10].iter().filter(|bit| flags & **bit != 0).count();
    let mut packet = [&[flags, 0][..], &ethertype.to_be_bytes(), &[0; 12][..fields * 4], payload].concat();
    if flags & 0x80 != 0 {
        let checksum = support::slow_checksum(&[&packet]);
        packet[4..6].copy_from_slice(&checksum.to_be_bytes());
    }
    frame(v6, 47, &packet)
}

#[test]
fn gre_that_is_there_keeps_checksum_key_and_sequence_number() {
    // int-2.1/gre-01, int-2.1/gre-02, int-2.1/gre-05, int-2.1/gre-07
    let inner = ipv4(17, &udp(false, 53, b"inside gre"));
    for v6 in [false, true] {
        for flags in [0, 0x80, 0x20, 0x10, 0xa0, 0x90, 0x30, 0xb0] {
            for (ethertype, payload) in [(0x0800, inner.clone()), (0x6558, ethernet(0x0800, &inner))] {
                let original = gre(v6, flags, ethertype, &payload);
                for mode in MODES {
                    carry(
                        &original,
                        EncapsulationKind::Gre,
                        mode,
                        |_| (),
                        |sent, location| {
                            let at = layers(sent).l4;
                            assert_eq!(sent[at..at + 2], [flags, 0]);
                            assert_eq!(sent[at + 2..at + 4], [0x45, 0x69]);
                            assert_eq!(sent[location.shim] & 0x08, 0, "G");
                            let has_checksum = flags & 0x80 != 0;
                            assert!(!has_checksum || support::slow_checksum(&[&sent[at..]]) == 0);
                        },
                    );
                }
            }
        }
    }
}

/// VXLAN or VXLAN-GPE with Next Protocol `next` around `payload`.
fn vxlan(v6: bool, next: Option<u8>, payload: &[u8]) -> Vec<u8> {
    let (port, header) = match next {
        None => (4789, [8, 0, 0, 0, 0, 0, 7, 0]),
        Some(next) => (4790, [0x0c, 0, 0, next, 0, 0, 7, 0]),
    };
    frame(v6, 17, &udp(v6, port, &[&header[..], payload].concat()))
}

#[test]
fn vxlan_becomes_gpe_and_vxlan_again_and_gpe_keeps_its_next_protocol() {
    // int-2.1/vxlan-01, int-2.1/vxlan-03, int-2.1/vxlan-07, int-2.1/vxlan-08
    let ip = ipv4(6, &tcp(false, &[], b"x"));
    for v6 in [false, true] {
        for (next, payload) in
            [(None, ethernet(0x0800, &ip)), (Some(3), ethernet(0x0800, &ip)), (Some(1), ip.clone())]
        {
            let original = vxlan(v6, next, &payload);
            let mut unsummed = original.clone();
            let at = layers(&original).l4;
            unsummed[at + 6..at + 8].fill(0);
            for (original, mode) in [(&original, Mode::Md), (&original, Mode::Mx), (&unsummed, Mode::Md)] {
                carry(
                    original,
                    EncapsulationKind::VxlanGpe,
                    mode,
                    |_| (),
                    |sent, location| {
                        assert_eq!(sent[at + 2..at + 4], 4790_u16.to_be_bytes());
                        assert_eq!(sent[at + 8..at + 12], [0x0c, 0, 0, 0x82]);
                        let g = if next.is_none() { 0x80 } else { 0 };
                        assert_eq!(sent[location.shim + 2..location.shim + 4], [g, next.unwrap_or(3)]);
                        assert_eq!(sent[at + 6..at + 8] == [0, 0], original[at + 6..at + 8] == [0, 0]);
                    },
                );
            }
        }
    }
}

/// Geneve with `options` around an Ethernet frame.
fn geneve(v6: bool, options: &[u8]) -> Vec<u8> {
    let words = u8::try_from(options.len() / 4).unwrap();
    let inner = ethernet(0x0800, &ipv4(6, &tcp(false, &[], b"x")));
    frame(v6, 17, &udp(v6, 6081, &[&[words, 0, 0x65, 0x58, 0, 0, 7, 0][..], options, &inner].concat()))
}

#[test]
fn a_geneve_option_never_overflows_because_its_source_counts_the_hops_that_fit() {
    // int-2.1/geneve-02, int-2.1/geneve-04, int-2.1/source-03, int-2.1/md-08
    let all = |config: &mut NodeConfig| {
        config.source.remaining_hops = 255;
        config.source.instructions = Instruction::OF_2_1.into_iter().take(4).collect();
    };
    let other = |words: u8| [&[0x01, 0x04, 0x42, words][..], &vec![0xde; usize::from(words) * 4]].concat();
    for (options, hops) in [
        // 31 words hold the header of 3 and 7 hops of 4.
        (Vec::new(), 7),
        // 63 words of options: 32 are taken, 30 are left after the option header, 27 after the INT header.
        (other(31), 6),
        ([other(31), other(15)].concat(), 2),
        ([other(31), other(23)].concat(), 0),
    ] {
        for v6 in [false, true] {
            let original = geneve(v6, &options);
            let mut config = node_config(1, (true, false), EncapsulationKind::Geneve, Mode::Md);
            all(&mut config);
            let mut current = through(&mut Node::new(&config).unwrap(), &original).unwrap();
            let mut transit = path(3, EncapsulationKind::Geneve, Mode::Md).remove(1);
            for _ in 0..9 {
                current = through(&mut transit, &current).unwrap();
            }
            let location = locate(&current, EncapsulationKind::Geneve);
            let md = Md::parse(&current, &location, &[]).unwrap();
            assert_eq!(md.stack.hop_count(), hops, "{} bytes of other options", options.len());
            assert!(md.header.max_hop_count_exceeded());
            assert_eq!(md.header.remaining_hop_count(), 0);
            assert_eq!(transit.counters().get(Outcome::StackFull), 0);
            assert!(oracle::l4_sum(&current) == Some(0xffff));
            let mut sink = path(2, EncapsulationKind::Geneve, Mode::Mx).remove(1);
            assert_eq!(through(&mut sink, &current).unwrap(), original);
        }
    }
}

#[test]
fn geneve_without_room_for_the_header_starts_no_int() {
    // int-2.1/encapsulation-02, int-2.1/geneve-02
    let other = |words: u8| [&[0x01, 0x04, 0x42, words][..], &vec![0xde; usize::from(words) * 4]].concat();
    for (last, expected) in [(26, 1), (27, 0)] {
        let original = geneve(false, &[other(31), other(last)].concat());
        let mut source = path(2, EncapsulationKind::Geneve, Mode::Mx).remove(0);
        through(&mut source, &original).unwrap();
        assert_eq!(source.counters().get(Outcome::Started), expected, "{last} words");
    }
}

/// Puts a destination header of two words behind the first INT header of a packet without L4 checksum.
fn with_destination(packet: &[u8], kind: EncapsulationKind) -> Vec<u8> {
    const DATA: [u8; 8] = [0xde, 0xad, 0xbe, 0xef, 0x01, 0x02, 0x03, 0x04];
    let mut packet = packet.to_vec();
    let location = locate(&packet, kind);
    let at = layers(&packet);
    let header: [u8; 4] = match kind {
        EncapsulationKind::VxlanGpe => {
            let shim = [packet[location.shim + 2], packet[location.shim + 3]];
            packet[location.shim + 3] = 0x82;
            [0x20, 2, shim[0], shim[1]]
        }
        _ => {
            packet[at.l4 + 8] += 3;
            [0x01, 0x03, 2, 2]
        }
    };
    packet.splice(location.end..location.end, [&header[..], &DATA].concat());
    for field in [if packet[at.l3] >> 4 == 6 { at.l3 + 4 } else { at.l3 + 2 }, at.l4 + 4] {
        let length = u16::from_be_bytes([packet[field], packet[field + 1]]) + 12;
        packet[field..field + 2].copy_from_slice(&length.to_be_bytes());
    }
    if packet[at.l3] >> 4 == 4 {
        support::repair_ip_checksum(&mut packet);
    }
    packet
}

#[test]
fn a_destination_header_behind_md_or_mx_is_opaque_to_transit_and_removed_by_the_sink() {
    // int-2.1/headers-01, int-2.1/vxlan-04: a destination header is beside an MD or MX header in one packet.
    // int-2.1/headers-02: MD or MX, to which the hop adds, comes first, and stays first.
    // int-2.1/headers-05: the transit hop leaves each byte of the destination header unchanged.
    // int-2.1/headers-04: the sink removes it.
    let inner = ethernet(0x0800, &ipv4(6, &tcp(false, &[], b"x")));
    for kind in [EncapsulationKind::VxlanGpe, EncapsulationKind::Geneve] {
        for v6 in [false, true] {
            for mode in MODES {
                let mut original =
                    if kind == EncapsulationKind::Geneve { geneve(v6, &[]) } else { vxlan(v6, None, &inner) };
                let at = layers(&original).l4;
                original[at + 6..at + 8].fill(0);
                let mut nodes = path(3, kind, mode);
                let started = through(&mut nodes[0], &original).unwrap();
                let chain = with_destination(&started, kind);
                let sent = through(&mut nodes[1], &chain).unwrap();
                let found = dissect(Link::Ethernet, &sent, &code_points(kind), Strictness::Whole);
                assert_eq!(found.error, None);
                let chained: Vec<_> = found.int().map(|(_, location)| *location).collect();
                let first = if mode == Mode::Md { HeaderType::Md } else { HeaderType::Mx };
                let types: Vec<_> = chained.iter().map(|location| location.header_type).collect();
                assert_eq!(types, [first, HeaderType::Destination], "{kind:?} {mode:?} {v6}");
                let data = &sent[chained[1].header..chained[1].end];
                assert_eq!(data, [0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4], "{kind:?} {mode:?} {v6}");
                assert_eq!(nodes[1].counters().get(Outcome::Transit), 1);
                assert_eq!(through(&mut nodes[2], &sent).unwrap(), original, "{kind:?} {mode:?} {v6}");
            }
        }
    }
}
