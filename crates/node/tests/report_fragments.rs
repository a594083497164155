//! The packet fragment in a report: all of its INT, and the requested part of the original packet.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{
    EncapsulationKind, InnerForm, Instruction, IntVersion, Layer, Mode, MtuAction, NodeConfig, ReportFilter,
    ReportVersion, SinkMetadata, SmartQueue,
};
use inband_node::{Node, Outcome};
use inband_wire::int::{AnyHeader, CodePoints, Md};
use inband_wire::layers::{Link, Strictness};
use inband_wire::report::AnyReport;
use inband_wire::{Dissection, dissect};

use support::{frame, md, node_config, passage, reports, tcp, tcp_frame, through, udp, with_report};

const KINDS: [EncapsulationKind; 7] = [
    EncapsulationKind::Dscp,
    EncapsulationKind::UdpPort,
    EncapsulationKind::Udp,
    EncapsulationKind::ProbeMarker,
    EncapsulationKind::Gre,
    EncapsulationKind::VxlanGpe,
    EncapsulationKind::Geneve,
];
const HOPS: u32 = 6;
/// The metadata a hop adds.
const HOP_BYTES: usize = 32;
/// The default of `truncate`.
const TRUNCATE: usize = 128;

/// A VXLAN-GPE header before what may be a frame.
const GPE: [u8; 400] = {
    let mut payload = [7; 400];
    (payload[0], payload[1], payload[2], payload[3]) = (0x0c, 0, 0, 3);
    payload
};

/// The configurations of a path that requests 8 words from every hop, or 4 in Geneve.
fn configs(version: IntVersion, kind: EncapsulationKind, mode: Mode) -> Vec<NodeConfig> {
    let nodes = (1..=HOPS).map(|id| {
        let mut config = node_config(id, (id == 1, id == HOPS), kind, mode);
        config.node.int_version = Some(version);
        if version == IntVersion::Host0_5 {
            config.encapsulation.dscp = Some(0x17);
            config.encapsulation.dscp_mask = Some(0x3f);
        }
        config.source.instructions = [
            Instruction::NodeId,
            Instruction::Level1Interfaces,
            Instruction::HopLatency,
            Instruction::QueueOccupancy,
            Instruction::IngressTimestamp,
            Instruction::EgressTimestamp,
        ]
        .into_iter()
        // A Geneve option has room for less, and 2016 has no egress timestamp.
        .take(if kind == EncapsulationKind::Geneve || version == IntVersion::V2016 { 4 } else { 6 })
        .collect();
        if version == IntVersion::Host0_5 {
            config.source.instructions = inband_node::config::SourceConfig::default().instructions;
        }
        config
    });
    nodes.collect()
}

/// A packet of 400 bytes of payload that can carry this encapsulation.
fn original(kind: EncapsulationKind, v6: bool) -> Vec<u8> {
    let inner = frame(false, 6, &tcp(false, &[], &[7; 400]));
    match kind {
        EncapsulationKind::UdpPort => frame(v6, 17, &udp(v6, 7777, &[7; 400])),
        EncapsulationKind::VxlanGpe => {
            frame(v6, 17, &udp(v6, 4789, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], &inner].concat()))
        }
        EncapsulationKind::Geneve => {
            frame(v6, 17, &udp(v6, 6081, &[&[0, 0, 0x65, 0x58, 0, 0, 42, 0][..], &inner].concat()))
        }
        _ => frame(v6, 6, &tcp(v6, &[], &[7; 400])),
    }
}

/// The INT headers of the first report in `datagram`, and the packet it contains.
fn reported(datagram: &[u8]) -> (Dissection, Vec<u8>) {
    let report = AnyReport::parse(datagram).unwrap().reports().next().unwrap().unwrap();
    let (_, packet, _) = report.packet().unwrap();
    (report.dissect(&CodePoints::DEFAULT), packet.to_vec())
}

/// The node ids of the hops in a reported packet, last hop first, none truncated.
fn hops(datagram: &[u8]) -> Vec<u32> {
    let (dissection, packet) = reported(datagram);
    let (_, location) = dissection.int().next().unwrap_or_else(|| panic!("no INT in {packet:02x?}"));
    let int = AnyHeader::parse(&packet, location, &[]).unwrap();
    assert!(!int.is_cut(), "{packet:02x?}");
    int.hops().map(|hop| hop.metadata().node_id.unwrap()).collect()
}

/// Sends the packet along the path and returns what arrived at the sink.
fn at_the_sink(nodes: &mut [Node], packet: &[u8]) -> Vec<u8> {
    let (_, before) = nodes.split_last_mut().unwrap();
    before.iter_mut().fold(packet.to_vec(), |packet, node| through(node, &packet).unwrap())
}

fn nodes(configs: &[NodeConfig]) -> Vec<Node> {
    configs.iter().map(|config| Node::new(config).unwrap()).collect()
}

#[test]
fn reports_keep_every_hop_at_the_default_truncation() {
    // int-2.1/md-43: the stack is included in the report.
    for version in [ReportVersion::V2_0, ReportVersion::V1_0, ReportVersion::V0_5] {
        for kind in KINDS {
            for (v6, own) in [false, true].into_iter().flat_map(|v6| {
                [SinkMetadata::Stack, SinkMetadata::Report, SinkMetadata::None].map(|own| (v6, own))
            }) {
                let mut configs = configs(IntVersion::V2_1, kind, Mode::Md);
                let sink = configs.last_mut().unwrap();
                (sink.report.version, sink.sink.own_metadata) = (version, own);
                let mut nodes = nodes(&configs);
                let packet = original(kind, v6);

                let carrying = at_the_sink(&mut nodes, &packet);
                let sink = nodes.last_mut().unwrap();
                assert_eq!(through(sink, &carrying), Some(packet));

                let datagrams = reports(sink);
                let expected: &[u32] =
                    if own == SinkMetadata::Stack { &[6, 5, 4, 3, 2, 1] } else { &[5, 4, 3, 2, 1] };
                assert_eq!(hops(&datagrams[0]), expected, "{version:?} {kind:?} IPv6 {v6} {own:?}");
            }
        }
    }
}

#[test]
fn as_much_of_the_original_packet_is_kept_as_without_int() {
    for kind in KINDS {
        let mut nodes = nodes(&configs(IntVersion::V2_1, kind, Mode::Md));
        let packet = original(kind, false);
        let carrying = at_the_sink(&mut nodes, &packet);
        let sink = nodes.last_mut().unwrap();
        through(sink, &carrying);
        let (_, kept) = reported(&reports(sink)[0]);
        // Its own hop is in the report, too.
        let hop_bytes = if kind == EncapsulationKind::Geneve { 16 } else { HOP_BYTES };
        let int = carrying.len() - packet.len() + hop_bytes;
        let expected = TRUNCATE + int;
        assert!((expected - 3..=expected).contains(&kept.len()), "{kind:?}: {} of {expected}", kept.len());
    }
}

#[test]
fn a_truncation_in_front_of_int_keeps_int_and_nothing_behind_it() {
    let mut configs = configs(IntVersion::V2_1, EncapsulationKind::Dscp, Mode::Md);
    configs.last_mut().unwrap().report.truncate = 14;
    let mut nodes = nodes(&configs);
    let carrying = at_the_sink(&mut nodes, &original(EncapsulationKind::Dscp, false));
    let sink = nodes.last_mut().unwrap();
    through(sink, &carrying);
    let datagram = &reports(sink)[0];
    assert_eq!(hops(datagram).len(), 6);
    let end = md(&carrying).1.end + HOP_BYTES;
    assert_eq!(reported(datagram).1.len(), end.next_multiple_of(4));
}

#[test]
fn the_older_versions_keep_every_hop_too() {
    for version in [IntVersion::V1_0, IntVersion::V0_5, IntVersion::V2016, IntVersion::Host0_5] {
        let kinds: &[EncapsulationKind] = match version {
            IntVersion::V2016 => &[EncapsulationKind::VxlanGpe, EncapsulationKind::Geneve],
            IntVersion::Host0_5 => &[EncapsulationKind::Dscp, EncapsulationKind::Udp],
            _ => &[EncapsulationKind::Dscp, EncapsulationKind::VxlanGpe, EncapsulationKind::Geneve],
        };
        for (kind, report) in kinds.iter().flat_map(|kind| {
            [ReportVersion::V2_0, ReportVersion::V1_0, ReportVersion::V0_5].map(|report| (*kind, report))
        }) {
            let mut configs = configs(version, kind, Mode::Md);
            let sink = configs.last_mut().unwrap();
            sink.report.version = report;
            // Host-INT's latency report has a fixed length.
            sink.sink.own_metadata = SinkMetadata::None;
            let mut nodes = nodes(&configs);
            // A shim before 2.0 cannot record that the packet was plain VXLAN.
            let packet = match kind {
                EncapsulationKind::VxlanGpe => frame(false, 17, &udp(false, 4790, &GPE)),
                _ => original(kind, false),
            };
            let carrying = at_the_sink(&mut nodes, &packet);
            let sink = nodes.last_mut().unwrap();
            through(sink, &carrying);
            let found = hops(&reports(sink)[0]);
            assert_eq!(found.last(), Some(&1), "{version:?} {kind:?} {report:?}");
            assert!(found.len() == 5 || version == IntVersion::Host0_5, "{version:?} {kind:?}: {found:?}");
        }
    }
}

#[test]
fn reports_on_the_way_keep_int_as_well() {
    let path = configs(IntVersion::V2_1, EncapsulationKind::Dscp, Mode::Md);
    let mut nodes = nodes(&path);
    let carrying = at_the_sink(&mut nodes, &original(EncapsulationKind::Dscp, true));
    let mut config = path[4].clone();
    config.report.truncate = 0;
    config.report.filter = ReportFilter::Smart;
    config.smart.queue.insert("3".to_owned(), SmartQueue { trigger_ns: 1, reset_ns: None, quota: 9 });
    let mut node = Node::new(&config).unwrap();

    node.handle_drop(Link::Ethernet, &carrying, &passage(), 71);
    assert_eq!(hops(&reports(&mut node)[0]), [5, 4, 3, 2, 1], "a dropped packet");

    through(&mut node, &carrying);
    assert_eq!(hops(&reports(&mut node)[0]), [5, 5, 4, 3, 2, 1], "a packet in a congested queue");
}

#[test]
fn postcards_keep_the_header_whole() {
    for kind in KINDS {
        let mut configs = configs(IntVersion::V2_1, kind, Mode::Mx);
        configs.iter_mut().for_each(|config| config.report.truncate = 0);
        let mut nodes = nodes(&configs);
        let carrying = at_the_sink(&mut nodes, &original(kind, true));
        let sink = nodes.last_mut().unwrap();
        through(sink, &carrying);
        for node in &mut nodes {
            let (dissection, packet) = reported(&reports(node)[0]);
            let (_, location) = dissection.int().next().unwrap();
            assert!(location.end <= packet.len(), "{kind:?}");
            AnyHeader::parse(&packet, location, &[]).unwrap();
        }
    }
}

#[test]
fn int_in_the_inner_layer_is_kept_behind_the_headers_around_it() {
    let mut configs = configs(IntVersion::V2_1, EncapsulationKind::Dscp, Mode::Md);
    configs.iter_mut().for_each(|config| config.encapsulation.layer = Layer::Inner);
    let mut nodes = nodes(&configs);
    let packet = original(EncapsulationKind::VxlanGpe, true);
    let carrying = at_the_sink(&mut nodes, &packet);
    let mut dropping = Node::new(&configs[4]).unwrap();
    dropping.handle_drop(Link::Ethernet, &carrying, &passage(), 71);
    let sink = nodes.last_mut().unwrap();
    assert_eq!(through(sink, &carrying), Some(packet));
    for (node, expected) in [(sink, 6), (&mut dropping, 5)] {
        let (dissection, packet) = reported(&reports(node)[0]);
        let (_, location) = dissection.int().next().unwrap();
        let md = Md::parse(&packet, location, &[]).unwrap();
        assert_eq!((md.stack.visible_hop_count(), md.stack.is_cut()), (expected, false));
    }
}

/// The packet after five hops, and the sixth node, whose egress MTU has no room for a hop.
fn without_room(report: impl FnOnce(&mut NodeConfig)) -> (Vec<u8>, Node) {
    let path = configs(IntVersion::V2_1, EncapsulationKind::Dscp, Mode::Md);
    let mut nodes = nodes(&path);
    let carrying = at_the_sink(&mut nodes, &original(EncapsulationKind::Dscp, false));
    let mut config = path[4].clone();
    config.mtu.action = MtuAction::IntermediateReport;
    config.interfaces[1].mtu = u32::try_from(support::layers(&carrying).ip_length()).unwrap();
    report(&mut config);
    (carrying, Node::new(&config).unwrap())
}

#[test]
fn an_intermediate_report_has_every_hop_that_it_takes_out() {
    // int-2.1/mtu-06: what is reported is removed; the one hop left in the packet is this node's.
    let (carrying, mut node) = without_room(|_| {});
    let sent = through(&mut node, &carrying).unwrap();
    assert_eq!(hops(&reports(&mut node)[0]), [5, 4, 3, 2, 1]);
    let after = Md::parse(&sent, &md(&sent).1, &[]).unwrap();
    assert_eq!((after.stack.hop_count(), after.header.mtu_exceeded()), (1, false));
}

#[test]
fn a_stack_that_no_report_holds_stays_in_the_packet() {
    // int-2.1/mtu-06: only the reported stack is removed.
    for (tlv, path_mtu, counted) in [
        (false, 256, Outcome::ReportMtuExceeded),
        (true, 256, Outcome::ReportMtuExceeded),
        (false, 65535, Outcome::ReportLimited),
    ] {
        let (carrying, mut node) = without_room(|config| {
            config.report.path_mtu = path_mtu;
            config.report.inner = if tlv { InnerForm::Tlv } else { InnerForm::Packet };
            config.report.reports_per_second = 1;
        });
        if counted == Outcome::ReportLimited {
            // The limit of one report a second is used up.
            through(&mut node, &carrying);
            reports(&mut node);
        }
        let sent = through(&mut node, &carrying).unwrap();
        assert_eq!(node.counters().get(counted), 1, "{counted:?}");
        assert_eq!(node.counters().get(Outcome::MtuExceeded), 1);
        assert!(reports(&mut node).is_empty());
        assert!(md(&sent).0.mtu_exceeded());
        assert_eq!(support::stack(&sent), support::stack(&carrying));
        assert!(support::checksum_is_right(&sent));
    }
}

#[test]
fn a_short_path_to_the_collector_cuts_the_original_packet_first() {
    for (path_mtu, is_reported) in [(320, true), (300, false)] {
        let mut configs = configs(IntVersion::V2_1, EncapsulationKind::Dscp, Mode::Md);
        configs.last_mut().unwrap().report.path_mtu = path_mtu;
        let mut nodes = nodes(&configs);
        let packet = original(EncapsulationKind::Dscp, false);
        let carrying = at_the_sink(&mut nodes, &packet);
        let sink = nodes.last_mut().unwrap();
        assert_eq!(through(sink, &carrying), Some(packet));
        let datagrams = reports(sink);
        assert_eq!(datagrams.len(), usize::from(is_reported));
        assert_eq!(sink.counters().get(Outcome::ReportMtuExceeded), u64::from(!is_reported));
        for datagram in datagrams {
            assert!(20 + 8 + datagram.len() <= usize::from(path_mtu));
            assert_eq!(hops(&datagram), [6, 5, 4, 3, 2, 1]);
        }
    }
}

#[test]
fn a_report_without_int_is_cut_as_before() {
    let mut config = node_config(7, (false, false), EncapsulationKind::Dscp, Mode::Xd);
    config.report.truncate = 64;
    let mut node = Node::new(&config).unwrap();
    let packet = tcp_frame(&[7; 400]);
    through(&mut node, &packet);
    with_report(&mut node, |report| {
        assert_eq!(report.packet().unwrap().1, &packet[..64]);
        assert!(
            dissect(Link::Ethernet, &packet, &CodePoints::DEFAULT, Strictness::Truncated).error.is_none()
        );
    });
}
