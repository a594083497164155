//! Packets that metadata would make longer than their 16-bit length fields allow.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, IntVersion, Layer, Mode, NodeConfig};
use inband_node::{Node, Outcome};
use inband_wire::layers::{Layers, Strictness};

use support::{frame, layers, locate, md, node_config, reports, tcp, through, udp, with_report};

/// Shim, header and one hop of node id and queue occupancy.
const STARTED_BYTES: usize = 4 + 12 + 8;

/// A node whose interfaces send packets of any length.
fn config(id: u32, edges: (bool, bool), kind: EncapsulationKind) -> NodeConfig {
    let mut config = node_config(id, edges, kind, Mode::Md);
    for interface in &mut config.interfaces {
        interface.mtu = 100_000;
    }
    config
}

fn dscp(id: u32, edges: (bool, bool)) -> NodeConfig {
    config(id, edges, EncapsulationKind::Dscp)
}

/// A frame whose length field has the value `length`: of the packet in IPv4, of its payload in IPv6.
fn plain(v6: bool, is_tcp: bool, length: usize) -> Vec<u8> {
    let room = if v6 { length } else { length - 20 };
    if is_tcp {
        frame(v6, 6, &tcp(v6, &[], &vec![7; room - 20]))
    } else {
        frame(v6, 17, &udp(v6, 7777, &vec![7; room - 8]))
    }
}

fn node(config: &NodeConfig) -> Node {
    Node::new(config).unwrap()
}

#[test]
fn a_sink_adds_its_hop_up_to_the_end_of_the_length_fields_and_else_reports_the_stack_without_it() {
    // int-2.1/md-28
    for (v6, is_tcp) in [(false, true), (false, false), (true, true), (true, false)] {
        for (length, hops) in [(65_527, 2), (65_528, 1), (65_535, 1)] {
            let plain = plain(v6, is_tcp, length - STARTED_BYTES);
            let sent = through(&mut node(&dscp(1, (true, false))), &plain).unwrap();
            assert_eq!(sent.len(), plain.len() + STARTED_BYTES);
            let mut sink = node(&dscp(2, (false, true)));

            assert_eq!(through(&mut sink, &sent), Some(plain), "{length}");

            assert_eq!(sink.counters().get(Outcome::StackFull), 2 - hops);
            assert_eq!(sink.counters().get(Outcome::Pushed), hops - 1);
            assert_eq!(sink.counters().get(Outcome::MtuExceeded), 0);
            with_report(&mut sink, |report| {
                let (link, packet, _) = report.packet().unwrap();
                let found = Layers::parse(link, packet, Strictness::Truncated).unwrap().unwrap();
                let grown = usize::try_from(hops - 1).unwrap() * 8;
                assert_eq!(found.end, sent.len() + grown);
                assert_eq!(
                    usize::from(packet[locate(&sent, EncapsulationKind::Dscp).shim + 1]),
                    5 + grown / 4
                );
            });
        }
    }
}

#[test]
fn a_node_that_is_source_and_sink_starts_no_int_without_room_in_the_length_fields() {
    for (v6, is_tcp) in [(false, true), (false, false), (true, true), (true, false)] {
        // The last length that fits, one with room for the header only, one with room for nothing.
        for (length, is_started) in [(65_511, true), (65_512, false), (65_535, false)] {
            let plain = plain(v6, is_tcp, length);
            let mut node = node(&dscp(1, (true, true)));
            assert_eq!(through(&mut node, &plain), Some(plain));
            assert_eq!(node.counters().get(Outcome::NotStartedLength), u64::from(!is_started), "{length}");
            assert_eq!(node.counters().get(Outcome::NotStartedMtu), 0);
            assert_eq!(reports(&mut node).len(), usize::from(is_started));
        }
    }
}

#[test]
fn a_transit_hop_takes_a_full_length_field_for_no_matter_of_the_mtu() {
    // int-2.1/md-28, int-2.1/mtu-05
    let sent =
        through(&mut node(&dscp(1, (true, false))), &plain(false, true, 65_535 - STARTED_BYTES)).unwrap();
    for (mtu, fate) in [(100_000, Outcome::StackFull), (65_535, Outcome::MtuExceeded)] {
        let mut config = dscp(2, (false, false));
        config.interfaces[1].mtu = mtu;
        let mut transit = node(&config);
        let left = through(&mut transit, &sent).unwrap();
        assert_eq!(transit.counters().get(fate), 1);
        assert_eq!(md(&left).0.mtu_exceeded(), fate == Outcome::MtuExceeded);
        assert_eq!(left == sent, fate == Outcome::StackFull);
    }
}

#[test]
fn a_sink_of_1_0_adds_its_hop_up_to_the_end_of_the_length_fields() {
    let of_1_0 = |id, edges| {
        let mut config = dscp(id, edges);
        config.node.int_version = Some(IntVersion::V1_0);
        config
    };
    // Shim, header and one hop.
    let started = 4 + 8 + 8;
    for (length, fate) in [(65_527, Outcome::Pushed), (65_528, Outcome::StackFull)] {
        let plain = plain(false, false, length - started);
        let sent = through(&mut node(&of_1_0(1, (true, false))), &plain).unwrap();
        assert_eq!(sent.len(), 14 + length);
        let mut sink = node(&of_1_0(2, (false, true)));
        assert_eq!(through(&mut sink, &sent), Some(plain));
        assert_eq!(sink.counters().get(fate), 1, "{length}");
        with_report(&mut sink, |report| assert!(report.packet().is_some()));
    }
    for (length, is_started) in [(65_515, true), (65_516, false)] {
        let plain = plain(false, false, length);
        let mut node = node(&of_1_0(1, (true, true)));
        assert_eq!(through(&mut node, &plain), Some(plain));
        assert_eq!(node.counters().get(Outcome::NotStartedLength), u64::from(!is_started), "{length}");
    }
}

#[test]
fn the_lengths_of_the_packets_around_the_inner_layer_do_not_wrap() {
    let vxlan = |length: usize| {
        let tunnel = [&[8, 0, 0, 0, 0, 0, 7, 0][..], &plain(false, true, length - 50)].concat();
        frame(false, 17, &udp(false, 4789, &tunnel))
    };
    for (length, is_started) in [(65_511, true), (65_512, false), (65_535, false)] {
        let mut config = dscp(1, (true, true));
        config.encapsulation.layer = Layer::Inner;
        let plain = vxlan(length);
        let mut node = node(&config);
        assert_eq!(through(&mut node, &plain), Some(plain), "{length}");
        assert_eq!(node.counters().get(Outcome::NotStartedLength), u64::from(!is_started), "{length}");
        assert_eq!(reports(&mut node).len(), usize::from(is_started));
    }
}

#[test]
fn the_new_ipv4_header_in_front_of_gre_carries_ipv6_up_to_its_own_length_field() {
    // New IPv4 and GRE headers, and the fixed header of IPv6, which its own length field does not count.
    let around = 24 + 40;
    for (length, is_started) in
        [(65_535 - around - STARTED_BYTES, true), (65_535 - around - STARTED_BYTES + 1, false)]
    {
        let plain = plain(true, true, length);
        let sent = through(&mut node(&config(1, (true, false), EncapsulationKind::Gre)), &plain).unwrap();
        assert_eq!(sent.len(), plain.len() + if is_started { 24 + STARTED_BYTES } else { 0 });
        assert_eq!(layers(&sent).end, sent.len());
    }
}
