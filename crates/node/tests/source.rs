//! Packets in which INT is started, and the headers a source writes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Instruction, Mode, NodeConfig, Prefix, WatchEntry};
use inband_node::{Node, Outcome};
use inband_wire::Words;
use inband_wire::int::{Instructions, Location};

use support::{
    checksum_is_right, frame, ip_checksum_is_right, layers, locate, md, node_config, stack, tcp, tcp_frame,
    through, udp,
};

const TO_DOMAIN: (bool, bool) = (true, false);

fn config() -> NodeConfig {
    node_config(1, TO_DOMAIN, EncapsulationKind::Dscp, Mode::Md)
}

fn start(config: &NodeConfig, frame: &[u8]) -> (Vec<u8>, Node) {
    let mut node = Node::new(config).unwrap();
    let started = through(&mut node, frame).unwrap();
    (started, node)
}

fn shim(frame: &[u8], location: &Location) -> [u8; 4] {
    frame[location.shim..location.shim + 4].try_into().unwrap()
}

#[test]
fn source_writes_header_and_own_metadata_behind_tcp() {
    // int-2.1/source-01, int-2.1/source-02, int-2.1/md-36, int-2.1/md-37, int-2.1/l4-26
    let (started, node) = start(&config(), &tcp_frame(b"payload"));
    let (header, location) = md(&started);
    assert_eq!(shim(&started, &location)[..2], [0x10, 5]);
    assert_eq!(started[location.header..location.header + 12], [0x20, 0, 2, 7, 0x90, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(header.instructions(), Instructions::NODE_ID | Instructions::QUEUE);
    assert_eq!(stack(&started), [0, 0, 0, 1, 3, 0, 1, 2]);
    assert!(checksum_is_right(&started) && ip_checksum_is_right(&started));
    assert_eq!(node.counters().get(Outcome::Started), 1);
}

#[test]
fn source_keeps_the_original_dscp_in_the_shim_and_marks_the_packet() {
    // int-2.1/l4-12, int-2.1/l4-13, int-2.1/l4-27, int-2.1/l4-31, int-2.1/l4-32, int-2.1/l4-34
    let (started, _) = start(&config(), &tcp_frame(b""));
    let (_, location) = md(&started);
    assert_eq!(shim(&started, &location)[2..], [0, 10 << 2]);
    assert_eq!(layers(&started).dscp(&started), 0x17);
    assert_eq!(started[15] & 3, 1, "ECN stays");
}

#[test]
fn source_marks_one_bit_where_the_mask_is_one_bit() {
    // int-2.1/l4-12
    let mut config = config();
    (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(0x20), Some(0x20));
    let (started, _) = start(&config, &tcp_frame(b""));
    assert_eq!(layers(&started).dscp(&started), 0x20 | 10);
}

#[test]
fn source_rewrites_the_udp_port_and_keeps_the_original_one() {
    // int-2.1/l4-06, int-2.1/l4-28
    let config = node_config(1, TO_DOMAIN, EncapsulationKind::UdpPort, Mode::Md);
    let (started, _) = start(&config, &frame(false, 17, &udp(false, 7777, b"payload")));
    let location = locate(&started, EncapsulationKind::UdpPort);
    assert_eq!(shim(&started, &location), [0x14, 5, 0x1e, 0x61]);
    assert_eq!(started[36..38], 33122_u16.to_be_bytes());
    assert!(checksum_is_right(&started));
}

#[test]
fn source_adds_a_udp_header_without_checksum_in_front_of_tcp() {
    // int-2.1/l4-07, int-2.1/l4-08, int-2.1/l4-09, int-2.1/l4-28, int-2.1/l4-33
    let config = node_config(1, TO_DOMAIN, EncapsulationKind::Udp, Mode::Md);
    let original = tcp_frame(b"payload");
    let (started, _) = start(&config, &original);
    let location = locate(&started, EncapsulationKind::Udp);
    assert_eq!(shim(&started, &location), [0x18, 5, 0, 6]);
    assert_eq!(started[23], 17);
    assert!(u16::from_be_bytes([started[34], started[35]]) >= 0xc000);
    assert_eq!(started[40..42], [0, 0]);
    assert_eq!(started[location.end..], original[34..]);
    assert!(ip_checksum_is_right(&started));
}

#[test]
fn a_new_udp_headers_source_port_depends_on_the_flow_alone() {
    // int-2.1/l4-08
    let config = node_config(1, TO_DOMAIN, EncapsulationKind::Udp, Mode::Md);
    let port = |frame: &[u8]| start(&config, frame).0[34..36].to_vec();
    let other_flow = frame(false, 17, &udp(false, 9, b""));
    assert_eq!(port(&tcp_frame(b"one")), port(&tcp_frame(b"two")));
    assert_ne!(port(&tcp_frame(b"one")), port(&other_flow));
}

#[test]
fn source_counts_itself_among_the_hops() {
    // int-2.1/md-08, int-2.1/md-04, int-2.1/source-03
    let mut config = config();
    for (remaining_hops, left, hops) in [(1, 0, 1), (0, 0, 0)] {
        config.source.remaining_hops = remaining_hops;
        let (started, _) = start(&config, &tcp_frame(b""));
        assert_eq!(md(&started).0.remaining_hop_count(), left);
        assert_eq!(stack(&started).len(), hops * 8);
        assert!(!md(&started).0.max_hop_count_exceeded());
    }
}

#[test]
fn source_without_own_metadata_writes_the_header_only() {
    let mut config = config();
    config.source.own_metadata = false;
    let (started, _) = start(&config, &tcp_frame(b""));
    assert_eq!(stack(&started), [0; 0]);
    assert_eq!(md(&started).0.remaining_hop_count(), 8);
    assert!(!md(&started).0.mtu_exceeded());
}

#[test]
fn source_sets_d_as_configured() {
    // int-2.1/modes-07, int-2.1/md-36
    let mut config = config();
    config.source.discard = true;
    assert!(md(&start(&config, &tcp_frame(b"")).0).0.discard());
}

#[test]
fn source_starts_with_m_where_only_the_fixed_headers_fit_and_not_at_all_below() {
    // int-2.1/mtu-07, int-2.1/mtu-08, int-2.1/md-05
    let original = tcp_frame(b"payload");
    let length = u32::try_from(layers(&original).ip_length()).unwrap();
    for (mtu, expected) in [
        (length + 24, Some((8, false))),
        (length + 23, Some((0, true))),
        (length + 16, Some((0, true))),
        (length + 15, None),
    ] {
        let mut config = config();
        config.interfaces[1].mtu = mtu;
        let (started, node) = start(&config, &original);
        match expected {
            Some((own, mtu_exceeded)) => {
                assert_eq!(stack(&started).len(), own, "mtu {mtu}");
                assert_eq!(md(&started).0.mtu_exceeded(), mtu_exceeded);
                assert_eq!(md(&started).0.remaining_hop_count(), if own > 0 { 7 } else { 8 });
                assert!(checksum_is_right(&started));
            }
            None => {
                assert_eq!(started, original);
                assert_eq!(node.counters().get(Outcome::NotStartedMtu), 1);
            }
        }
    }
}

#[test]
fn hop_ml_is_31_words_at_most() {
    // int-2.1/md-11, int-2.1/md-10: 13 words of baseline metadata leave 18 for the domain.
    let mut config = config();
    config.source.instructions = Instruction::OF_2_1.into_iter().collect();
    for (words, fits) in [(18, true), (19, false)] {
        config.domains = vec![support::domain(0xabcd, 0, words, "every-hop", "")];
        config.source.domain = Some(support::source_domain(0xabcd, &[0]));
        assert_eq!(Node::new(&config).is_ok(), fits, "{words} words");
    }
    config.domains = vec![support::domain(0xabcd, 0, 18, "every-hop", "")];
    let (started, _) = start(&config, &tcp_frame(b""));
    assert_eq!(md(&started).0.hop_ml(), Words::new(31));
}

#[test]
fn only_watched_packets_start_int() {
    // int-2.1/domain-04, int-2.1/congestion-03
    let mut config = config();
    let elsewhere: Prefix = "192.0.2.0/24".parse().unwrap();
    config.watchlist = vec![WatchEntry { source: Some(elsewhere), ..WatchEntry::default() }];
    let original = tcp_frame(b"");
    let (passed, node) = start(&config, &original);
    assert_eq!(passed, original);
    assert_eq!(node.counters().get(Outcome::NoInt), 1);
    config.watchlist.clear();
    assert_eq!(start(&config, &original).0, original);
}

#[test]
fn packets_from_inside_the_domain_do_not_start_int() {
    let config = node_config(1, (false, false), EncapsulationKind::Dscp, Mode::Md);
    let original = tcp_frame(b"");
    assert_eq!(start(&config, &original).0, original);
}

#[test]
fn later_fragments_carry_no_int_and_first_fragments_do() {
    let mut later = tcp_frame(b"01234567");
    later[20..22].copy_from_slice(&[0x20, 0x10]);
    support::repair_ip_checksum(&mut later);
    let mut first = tcp_frame(b"01234567");
    first[20..22].copy_from_slice(&[0x20, 0x00]);
    support::repair_ip_checksum(&mut first);
    assert_eq!(start(&config(), &later).0, later);
    assert_eq!(start(&config(), &first).0.len(), first.len() + 24);
}

#[test]
fn a_protocol_that_cannot_carry_the_encapsulation_passes_as_it_came() {
    // int-2.1/encapsulation-02
    let icmp = frame(false, 1, &[8, 0, 0xf7, 0xfe, 0, 1, 0, 0]);
    let (passed, node) = start(&config(), &icmp);
    assert_eq!(passed, icmp);
    assert_eq!(node.counters().get(Outcome::NotCarried), 1);
    let config = node_config(1, TO_DOMAIN, EncapsulationKind::UdpPort, Mode::Md);
    assert_eq!(start(&config, &tcp_frame(b"")).0, tcp_frame(b""));
}

#[test]
fn a_zero_udp_checksum_stays_zero() {
    // int-2.1/checksum-02, int-2.1/checksum-01
    let mut original = frame(false, 17, &udp(false, 7777, b"payload"));
    original[40..42].fill(0);
    let (started, _) = start(&config(), &original);
    assert_eq!(started[40..42], [0, 0]);
}

#[test]
fn a_checksum_of_all_ones_could_not_be_restored_so_int_is_not_started() {
    let mut original = tcp_frame(b"payload");
    original[50..52].fill(0xff);
    let (passed, node) = start(&config(), &original);
    assert_eq!(passed, original);
    assert_eq!(node.counters().get(Outcome::NotStartedChecksum), 1);
}

#[test]
fn int_stands_before_or_after_the_tcp_options() {
    // int-2.1/l4-01, int-2.1/l4-02
    let original = frame(false, 6, &tcp(false, &[1, 1, 1, 1], b"payload"));
    let (after, _) = start(&config(), &original);
    assert_eq!(md(&after).1.shim, 58);
    let mut config = config();
    config.encapsulation.tcp_options = inband_node::config::TcpOptionsConfig::Before;
    let (before, _) = start(&config, &original);
    assert_eq!(before[54..56], [0x10, 5]);
    assert_eq!(before[before.len() - 11..before.len() - 7], [1, 1, 1, 1]);
    assert!(checksum_is_right(&before));
}

#[test]
fn a_packet_without_int_enters_the_domain_without_its_mark() {
    // int-2.1/l4-19
    let mut config = config();
    config.watchlist.clear();
    let mut original = tcp_frame(b"");
    original[15] = 0x17 << 2 | 1;
    support::repair_ip_checksum(&mut original);
    let (passed, node) = start(&config, &original);
    assert_eq!(layers(&passed).dscp(&passed), 0);
    assert!(ip_checksum_is_right(&passed));
    assert_eq!(node.counters().get(Outcome::Remarked), 1);
    config.interfaces[1].edge = true;
    assert_eq!(start(&config, &original).0, original, "between hosts of one node it stays");
}

#[test]
fn a_packet_with_the_mark_and_on_the_watchlist_keeps_it_for_the_sink() {
    // int-2.1/l4-13
    let mut original = tcp_frame(b"");
    original[15] = 0x17 << 2;
    support::repair_ip_checksum(&mut original);
    let (started, _) = start(&config(), &original);
    assert_eq!(shim(&started, &md(&started).1)[3], 0x17 << 2);
}

#[test]
fn in_geneve_no_more_hops_are_allowed_than_the_option_has_room_for() {
    // int-2.1/geneve-04, int-2.1/geneve-05: 31 words less 3 of header, 2 a hop.
    let mut config = node_config(1, TO_DOMAIN, EncapsulationKind::Geneve, Mode::Md);
    config.source.remaining_hops = 200;
    let mut payload = vec![0, 0, 0x65, 0x58, 0, 0, 1, 0];
    payload.extend(tcp_frame(b""));
    let mut packet = start(&config, &frame(false, 17, &udp(false, 6081, &payload))).0;
    let mut transit =
        Node::new(&node_config(2, (false, false), EncapsulationKind::Geneve, Mode::Md)).unwrap();
    for _ in 0..20 {
        packet = through(&mut transit, &packet).unwrap();
    }
    let location = locate(&packet, EncapsulationKind::Geneve);
    assert_eq!(location.end - location.header, 31 * 4);
    assert_eq!(transit.counters().get(Outcome::HopsExceeded), 7);
    assert_eq!(transit.counters().get(Outcome::StackFull), 0);
}

#[test]
fn in_geneve_a_source_without_metadata_leaves_the_room_of_source_only_metadata_to_the_hops() {
    // int-2.1/geneve-04, int-2.1/md-08: 31 words less 3 of header, 2 a hop.
    let mut payload = vec![0, 0, 0x65, 0x58, 0, 0, 1, 0];
    payload.extend(tcp_frame(b""));
    let packet = frame(false, 17, &udp(false, 6081, &payload));
    for (own_metadata, remaining_hops) in [(false, 14), (true, 12)] {
        let mut config = node_config(1, TO_DOMAIN, EncapsulationKind::Geneve, Mode::Md);
        config.source.remaining_hops = 200;
        config.source.own_metadata = own_metadata;
        config.domains = vec![support::domain(0x5453, 0, 2, "source-only", "ethernet-source")];
        config.source.domain = Some(support::source_domain(0x5453, &[0]));

        let started = start(&config, &packet).0;

        let header = &started[locate(&started, EncapsulationKind::Geneve).header..];
        assert_eq!(header[3], remaining_hops, "own metadata {own_metadata}");
    }
}
