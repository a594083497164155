//! The sink: its reports, and the packets leaving the domain.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig, SinkMetadata};
use inband_node::{Node, Outcome};
use inband_wire::int::{Instructions, Md, Queue};
use inband_wire::layers::{Link, Strictness};
use inband_wire::report::{InnerType, ReportGroup, ReportType};
use inband_wire::{FiveTuple, dissect};

use support::{
    addresses, code_points, frame, layers, node_config, path, reports, tcp_frame, through, udp, with_header,
    with_report,
};

fn config(own: SinkMetadata) -> NodeConfig {
    let mut config = node_config(3, (false, true), EncapsulationKind::Dscp, Mode::Md);
    config.sink.own_metadata = own;
    config
}

/// A packet after source and one transit hop.
fn on_its_way(original: &[u8]) -> Vec<u8> {
    let mut nodes = path(3, EncapsulationKind::Dscp, Mode::Md);
    let packet = through(&mut nodes[0], original).unwrap();
    through(&mut nodes[1], &packet).unwrap()
}

/// The node ids on the stack of a reported packet, last hop first.
fn reported_path(packet: &[u8]) -> Vec<u32> {
    let points = code_points(EncapsulationKind::Dscp);
    let dissection = dissect(Link::Ethernet, packet, &points, Strictness::Truncated);
    let (_, location) = dissection.int().next().unwrap();
    let md = Md::parse(packet, location, &[]).unwrap();
    md.stack.hops().map(|hop| hop.metadata().node_id.unwrap()).collect()
}

#[test]
fn sink_restores_the_packet_and_reports_the_whole_path() {
    // int-2.1/sink-01, int-2.1/sink-02, int-2.1/md-30, int-2.1/domain-03
    // report-2.0/transport-06: the sink's own metadata is in the stack it reports.
    let original = tcp_frame(b"payload");
    let mut node = Node::new(&config(SinkMetadata::Stack)).unwrap();

    let stripped = through(&mut node, &on_its_way(&original)).unwrap();

    assert_eq!(stripped, original);
    with_report(&mut node, |report| {
        assert_eq!(report.first_word.report_type(), ReportType::InnerOnly);
        assert_eq!(report.first_word.inner_type(), InnerType::Ethernet);
        assert!(report.tracked_flow() && !report.dropped() && !report.intermediate());
        let (_, packet, _) = report.packet().unwrap();
        assert_eq!(reported_path(packet), [3, 2, 1]);
    });
}

#[test]
fn sink_puts_its_metadata_into_the_report_where_configured() {
    // int-2.1/md-31, int-2.1/md-32, report-2.0/modes-03, report-2.0/metadata-02
    // report-2.0/transport-06: the sink's own metadata is in the same report, beside the stack of the others.
    let mut node = Node::new(&config(SinkMetadata::Report)).unwrap();
    through(&mut node, &on_its_way(&tcp_frame(b""))).unwrap();
    with_report(&mut node, |report| {
        assert_eq!(report.first_word.report_type(), ReportType::Int);
        assert_eq!(report.rep_md_bits(), Instructions::QUEUE);
        assert_eq!(report.metadata().queue, Some(Queue { id: 3, occupancy: 258 }));
        let (_, packet, _) = report.packet().unwrap();
        assert_eq!(reported_path(packet), [2, 1]);
    });
}

#[test]
fn sink_keeps_its_metadata_to_itself_where_configured() {
    let mut node = Node::new(&config(SinkMetadata::None)).unwrap();
    through(&mut node, &on_its_way(&tcp_frame(b""))).unwrap();
    with_report(&mut node, |report| {
        assert_eq!(report.rep_md_bits(), Instructions::default());
        assert_eq!(reported_path(report.packet().unwrap().1), [2, 1]);
    });
}

#[test]
fn sink_consumes_a_packet_with_d_after_reporting_it() {
    // int-2.1/md-02
    let packet = with_header(&on_its_way(&tcp_frame(b"")), 0, &[0x28]);
    let mut node = Node::new(&config(SinkMetadata::Stack)).unwrap();
    assert_eq!(through(&mut node, &packet), None);
    assert_eq!(reports(&mut node).len(), 1);
    assert_eq!(node.counters().get(Outcome::Discarded), 1);
}

#[test]
fn sink_restores_the_dscp_or_clears_its_mark() {
    // int-2.1/l4-14
    let packet = on_its_way(&tcp_frame(b""));
    let mut config = config(SinkMetadata::Stack);
    let restored = through(&mut Node::new(&config).unwrap(), &packet).unwrap();
    config.sink.restore_dscp = false;
    let cleared = through(&mut Node::new(&config).unwrap(), &packet).unwrap();
    assert_eq!(layers(&restored).dscp(&restored), 10);
    assert_eq!(layers(&cleared).dscp(&cleared), 0);
}

#[test]
fn sink_restores_port_and_protocol() {
    // int-2.1/l4-10, int-2.1/l4-11
    for kind in [EncapsulationKind::UdpPort, EncapsulationKind::Udp] {
        let original = frame(false, 17, &udp(false, 7777, b"payload"));
        let mut packet = original.clone();
        for node in &mut path(3, kind, Mode::Md) {
            packet = through(node, &packet).unwrap();
        }
        assert_eq!(packet, original, "{kind:?}");
    }
}

#[test]
fn sink_corrects_the_checksum_itself_where_hops_used_the_complement() {
    // int-2.1/checksum-07
    let original = tcp_frame(b"payload");
    let mut packet = original.clone();
    for id in 1..=3 {
        let mut config = node_config(id, (id == 1, id == 3), EncapsulationKind::Dscp, Mode::Md);
        config.source.instructions = inband_node::config::Instruction::OF_2_1.into_iter().collect();
        config.checksum.update = inband_node::config::ChecksumUpdate::Complement;
        packet = through(&mut Node::new(&config).unwrap(), &packet).unwrap();
        if id < 3 {
            assert_eq!(packet[50..52], original[50..52], "the TCP checksum stays at node {id}");
            assert!(support::checksum_is_right(&packet));
        }
    }
    assert_eq!(packet, original);
}

#[test]
fn a_node_that_is_source_and_sink_reports_itself_once() {
    // int-2.1/domain-05
    let config = node_config(9, (true, true), EncapsulationKind::Dscp, Mode::Md);
    let mut node = Node::new(&config).unwrap();
    let original = tcp_frame(b"payload");
    assert_eq!(through(&mut node, &original).unwrap(), original);
    with_report(&mut node, |report| assert_eq!(reported_path(report.packet().unwrap().1), [9]));
    assert_eq!(node.counters().packets(), 1);
}

#[test]
fn reports_are_numbered_and_cut_at_a_word() {
    // report-2.0/group-03, report-2.0/individual-04
    let mut config = config(SinkMetadata::Stack);
    config.report.truncate = 57;
    config.report.hw_id = 5;
    let mut node = Node::new(&config).unwrap();
    for _ in 0..3 {
        through(&mut node, &on_its_way(&tcp_frame(b"payload"))).unwrap();
    }
    for (datagram, sequence) in reports(&mut node).iter().zip(1..) {
        let group = ReportGroup::parse(datagram).unwrap();
        assert_eq!((group.header.sequence(), group.header.hw_id()), (sequence, 5));
        assert_eq!(group.reports().next().unwrap().unwrap().inner().len(), (57 + 4 + 12 + 3 * 8) / 4 * 4);
    }
}

#[test]
fn a_short_packet_is_padded_to_a_word_in_its_report() {
    // report-2.0/individual-04
    let original = tcp_frame(b"p");
    let mut node = Node::new(&config(SinkMetadata::Stack)).unwrap();
    through(&mut node, &on_its_way(&original)).unwrap();
    let points = code_points(EncapsulationKind::Dscp);
    with_report(&mut node, |report| {
        assert_eq!(report.inner().len() % 4, 0);
        let flow = dissect(Link::Ethernet, report.inner(), &points, Strictness::Truncated).flow;
        let (source, destination) = addresses(false);
        let expected =
            FiveTuple { source, destination, protocol: 6, source_port: 40000, destination_port: 80 };
        assert_eq!(flow, Some(expected));
    });
}

#[test]
fn a_sink_that_reports_its_hop_is_told_from_one_that_does_not_even_without_metadata() {
    // report-2.0/modes-03: with node id alone there is no metadata, as the node id is in the group header.
    for (own, expected) in
        [(SinkMetadata::Report, ReportType::Int), (SinkMetadata::None, ReportType::InnerOnly)]
    {
        let mut source = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
        source.source.instructions = [inband_node::config::Instruction::NodeId].into_iter().collect();
        let packet = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"")).unwrap();
        let mut sink = Node::new(&config(own)).unwrap();
        through(&mut sink, &packet).unwrap();
        with_report(&mut sink, |report| assert_eq!(report.first_word.report_type(), expected));
    }
}
