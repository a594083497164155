//! INT-MX and INT-XD: metadata goes into reports; packets grow at most once.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Instruction, Mode, NodeConfig, SinkMetadata};
use inband_node::{Node, Outcome};
use inband_wire::int::{Instructions, Mx};

use support::{locate, node_config, path, reports, tcp_frame, through, with_report};

fn config(id: u32, edges: (bool, bool)) -> NodeConfig {
    let mut config = node_config(id, edges, EncapsulationKind::Dscp, Mode::Mx);
    config.source.instructions = Instruction::OF_2_1
        .into_iter()
        .filter(|instruction| *instruction != Instruction::ChecksumComplement)
        .collect();
    config
}

#[test]
fn mx_source_writes_a_header_of_12_bytes_and_reports_its_own_metadata() {
    // int-2.1/mx-31, int-2.1/mx-32, int-2.1/source-01, int-2.1/modes-02
    let mut node = Node::new(&config(1, (true, false))).unwrap();
    let started = through(&mut node, &tcp_frame(b"")).unwrap();
    let location = locate(&started, EncapsulationKind::Dscp);
    assert_eq!(started[location.shim..location.shim + 2], [0x30, 3]);
    assert_eq!(started[location.header..location.end], [0x20, 0, 0, 0, 0xff, 0x80, 0, 0, 0, 0, 0, 0]);
    assert_eq!(reports(&mut node).len(), 1);
}

#[test]
fn mx_transit_reports_what_it_has_and_clears_the_bits_of_the_rest() {
    // int-2.1/transit-03, int-2.1/headers-06, int-2.1/mx-04, int-2.1/mx-18, int-2.1/mx-19, int-2.1/mx-20
    // int-2.1/mx-28, int-2.1/mx-29, int-2.1/mx-30, int-2.1/mx-36
    let mut source = Node::new(&config(1, (true, false))).unwrap();
    let started = through(&mut source, &tcp_frame(b"")).unwrap();
    let mut node = Node::new(&config(2, (false, false))).unwrap();

    let passed = through(&mut node, &started).unwrap();

    // int-2.1/mx-35, int-2.1/modes-03
    assert_eq!(passed, started);
    with_report(&mut node, |report| {
        // Node id, level 2 interfaces and buffer are missing: bits 0, 6 and 8.
        assert_eq!(report.rep_md_bits(), Instructions(0x7d00));
        assert_eq!(report.first_word.md_length().count(), 8);
        assert_eq!(report.metadata().hop_latency, Some(1000));
        assert_eq!(report.metadata().egress_utilization, Some(42));
        assert!(report.tracked_flow());
        let (_, packet, _) = report.packet().unwrap();
        assert_eq!(packet[..started.len()], started);
    });
}

#[test]
fn mx_sink_consumes_a_packet_with_d_after_reporting() {
    // int-2.1/mx-02
    let mut config = config(1, (true, false));
    config.source.discard = true;
    let started = through(&mut Node::new(&config).unwrap(), &tcp_frame(b"")).unwrap();
    let mut sink = Node::new(&self::config(3, (false, true))).unwrap();
    assert_eq!(through(&mut sink, &started), None);
    assert_eq!(reports(&mut sink).len(), 1);
}

#[test]
fn mx_nodes_that_keep_their_metadata_send_no_report() {
    // int-2.1/sink-04
    let mut source = config(1, (true, false));
    source.source.own_metadata = false;
    let mut source = Node::new(&source).unwrap();
    let started = through(&mut source, &tcp_frame(b"")).unwrap();
    let mut sink = config(3, (false, true));
    sink.sink.own_metadata = SinkMetadata::None;
    let mut sink = Node::new(&sink).unwrap();
    assert_eq!(through(&mut sink, &started).unwrap(), tcp_frame(b""));
    assert!(reports(&mut source).is_empty() && reports(&mut sink).is_empty());
}

#[test]
fn mx_asks_for_no_checksum_complement() {
    let mut config = config(1, (true, false));
    config.source.instructions = [Instruction::ChecksumComplement].into_iter().collect();
    assert!(Node::new(&config).is_err());
}

#[test]
fn source_inserted_metadata_travels_unchanged_and_is_reported_in_the_fragment() {
    // int-2.1/mx-05, int-2.1/mx-10, int-2.1/mx-14, int-2.1/mx-16, int-2.1/mx-17, int-2.1/mx-23, int-2.1/mx-25
    // int-2.1/mx-08, report-2.0/modes-02
    let domain = || {
        let mut domain = support::domain(0xabcd, 0, 1, "source-inserted", "sequence-number");
        domain.metadata.extend(support::domain(0xabcd, 1, 1, "source-inserted", "0x12345678").metadata);
        domain.metadata.extend(support::domain(0xabcd, 2, 2, "export", "0x0102030405060708").metadata);
        domain
    };
    let mut source = config(1, (true, false));
    source.domains = vec![domain()];
    source.source.domain = Some(support::source_domain(0xabcd, &[0, 1, 2]));
    let started = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"")).unwrap();
    let location = locate(&started, EncapsulationKind::Dscp);
    let mx = Mx::parse(&started, &location).unwrap();
    assert_eq!(mx.source_inserted, [0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78]);
    assert_eq!(started[location.shim + 1], 5);

    let mut transit = config(2, (false, false));
    transit.domains = vec![domain()];
    let mut transit = Node::new(&transit).unwrap();
    assert_eq!(through(&mut transit, &started).unwrap(), started);
    with_report(&mut transit, |report| {
        // int-2.1/mx-09: the report has what every node exports; the fragment has what the source inserted.
        assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0xabcd, 0x2000));
        assert_eq!(report.domain_metadata(), [1, 2, 3, 4, 5, 6, 7, 8]);
    });

    // int-2.1/mx-21, report-2.0/metadata-08: a node that does not know the domain.
    let mut stranger = Node::new(&config(4, (false, false))).unwrap();
    through(&mut stranger, &started).unwrap();
    with_report(&mut stranger, |report| {
        assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0xabcd, 0));
        assert_eq!(report.domain_metadata(), [0; 0]);
        assert_eq!(report.rep_md_bits(), Instructions(0x7d00));
    });
    let mut strict = config(5, (false, false));
    strict.node.unknown_instructions = inband_node::config::UnknownInstructions::Skip;
    let mut strict = Node::new(&strict).unwrap();
    through(&mut strict, &started).unwrap();
    assert!(reports(&mut strict).is_empty());
    assert_eq!(strict.counters().get(Outcome::UnknownDomain), 1);
}

#[test]
fn xd_reports_watched_packets_and_leaves_them_as_they_are() {
    // sd-fabric-1.0/report-02
    // int-2.1/modes-01, report-2.0/modes-01
    let original = tcp_frame(b"payload");
    let mut packet = original.clone();
    for node in &mut path(3, EncapsulationKind::Dscp, Mode::Xd) {
        packet = through(node, &packet).unwrap();
        assert_eq!(packet, original);
        with_report(node, |report| {
            assert_eq!(report.rep_md_bits(), Instructions::QUEUE);
            assert!(report.tracked_flow());
            assert_eq!(report.packet().unwrap().1[..original.len()], original);
        });
        assert_eq!(node.counters().get(Outcome::NoInt), 1);
    }
}
