//! Whole reports of the versions before 2.0 are read as their builders labelled them, and written back.

use std::net::{IpAddr, Ipv4Addr};

use inband_testkit::hex;
use inband_testkit::report_again::draft_of;
use inband_wire::int::{AnyHeader, CodePoints, HopMetadata, Interfaces, Queue, Version};
use inband_wire::report::earlier::draft::DraftVersion;
use inband_wire::report::earlier::host_int::Gap;
use inband_wire::report::earlier::{DropSummaryDraft, EarlierReport, LatencyDraft, ReportKind, SinkNodeId};
use inband_wire::report::{AnyReport, Drop, ReportReading, ReportVersion};
use inband_wire::{Dissection, ErrorKind, FiveTuple, Header, Strictness};

/// The UDP payload of a vector; all vectors have Ethernet, IPv4 without options and UDP headers.
macro_rules! payload {
    ($name:literal) => {
        hex(include_str!(concat!("../../../testdata/packets/", $name, ".hex"))).split_off(42)
    };
}

fn read(bytes: &[u8]) -> EarlierReport<'_> {
    match AnyReport::parse(bytes).expect("the vector is valid") {
        AnyReport::Single(report) => report,
        AnyReport::Group(group) => panic!("{group:?}"),
    }
}

/// Writes the report back and compares the bytes.
fn assert_writes_back(bytes: &[u8], version: DraftVersion) {
    let draft = draft_of(&read(bytes), version).expect("every vector has a packet");
    let mut out = vec![0xa5; bytes.len() + 1];
    assert_eq!(draft.write(&mut out), Some(bytes.len()));
    assert_eq!((&out[..bytes.len()], out[bytes.len()]), (bytes, 0xa5));
}

fn ports(ingress: u16, egress: u16) -> Option<Interfaces> {
    Some(Interfaces { ingress, egress })
}

fn destination(found: &Dissection) -> (u8, u16) {
    let flow = found.flow.expect("every vector has a flow");
    (flow.protocol, flow.destination_port)
}

#[test]
fn local_reports_of_0_5() {
    // report-0.5/local-03
    let bytes = payload!("report-0.5-local-flow");
    let report = read(&bytes);
    assert_eq!(
        (report.version, report.kind, report.node_id),
        (ReportVersion::V0_5, ReportKind::Local, Some(1))
    );
    assert_eq!(
        (report.hw_id, report.sequence, report.tracked_flow, report.congested_queue),
        (0, 1, true, false)
    );
    let expected = HopMetadata {
        interfaces: ports(1, 2),
        queue: Some(Queue { id: 0, occupancy: 10 }),
        ingress_timestamp: Some(0x3b9a_ca00),
        egress_timestamp: Some(0x3b9a_ce00),
        ..HopMetadata::default()
    };
    assert_eq!((report.metadata, report.drop, report.packet_at), (expected, None, 28));
    assert_eq!(destination(&report.dissect(&CodePoints::DEFAULT)), (6, 80));
    assert_writes_back(&bytes, DraftVersion::V0_5);

    let bytes = payload!("report-0.5-local-queue-flow");
    let report = read(&bytes);
    assert_eq!(
        (report.hw_id, report.sequence, report.tracked_flow, report.congested_queue),
        (1, 2, true, true)
    );
    assert_eq!(report.metadata.interfaces, ports(0x81, 0x82));
    assert_eq!(report.metadata.queue, Some(Queue { id: 2, occupancy: 4000 }));
    assert_writes_back(&bytes, DraftVersion::V0_5);

    let bytes = payload!("report-0.5-switchp416-local-flow");
    assert_eq!((read(&bytes).node_id, read(&bytes).metadata.interfaces), (Some(0x1111_1111), ports(1, 2)));
    assert_writes_back(&bytes, DraftVersion::V0_5);
}

#[test]
fn drop_reports_of_0_5() {
    let bytes = payload!("report-0.5-drop-acl-ingress");
    let report = read(&bytes);
    assert_eq!((report.kind, report.node_id, report.dropped), (ReportKind::Drop, Some(1), true));
    assert_eq!(
        (report.drop, report.metadata.interfaces),
        (Some(Drop { queue_id: 0, reason: 80 }), ports(1, 0))
    );
    assert_eq!(destination(&report.dissect(&CodePoints::DEFAULT)), (6, 80));
    assert_writes_back(&bytes, DraftVersion::V0_5);

    let bytes = payload!("report-0.5-drop-tail-deflected");
    let report = read(&bytes);
    assert_eq!(
        (report.drop, report.metadata.interfaces),
        (Some(Drop { queue_id: 5, reason: 71 }), ports(1, 2))
    );
    assert_writes_back(&bytes, DraftVersion::V0_5);
}

#[test]
fn a_report_of_0_5_with_int_in_its_packet() {
    let bytes = payload!("report-0.5-ethernet-embedded-int");
    let report = read(&bytes);
    assert_eq!((report.kind, report.node_id, report.sequence), (ReportKind::Packet, None, 5));
    let found = report.dissect(&CodePoints::DEFAULT);
    let (_, location) = found.int().next().unwrap();
    let header = AnyHeader::parse(&bytes[report.packet_at..], location, &[]).unwrap();
    assert_eq!((location.version, header.hops().count()), (Version::V0_5, 2));
    assert_eq!(destination(&found), (6, 22));
    assert_writes_back(&bytes, DraftVersion::V0_5);
}

#[test]
fn reports_of_1_0() {
    let bytes = payload!("report-1.0-sink-ethernet-embedded");
    let report = read(&bytes);
    assert_eq!((report.version, report.node_id, report.sequence), (ReportVersion::V1_0, Some(3), 100));
    assert_eq!((report.tracked_flow, report.packet_at), (true, 16));
    let found = report.dissect(&CodePoints::DEFAULT);
    assert_eq!(found.int().map(|(_, location)| location.version).collect::<Vec<_>>(), [Version::V1_0]);
    assert_writes_back(&bytes, DraftVersion::V1_0);

    let bytes = payload!("report-1.0-xd-all-metadata");
    let report = read(&bytes);
    let expected = HopMetadata {
        interfaces: ports(7, 8),
        hop_latency: Some(900),
        queue: Some(Queue { id: 1, occupancy: 77 }),
        ingress_timestamp: Some(0x3b9a_ca00),
        egress_timestamp: Some(0x3b9a_cd84),
        egress_utilization: Some(0x2134),
        ..HopMetadata::default()
    };
    assert_eq!((report.metadata, report.drop), (expected, Some(Drop { queue_id: 1, reason: 71 })));
    assert_eq!((report.hw_id, report.sequence, report.packet_at), (5, 101, 40));
    assert!(report.dropped && report.congested_queue && report.tracked_flow);
    assert_eq!(destination(&report.dissect(&CodePoints::DEFAULT)), (17, 5001));
    assert_writes_back(&bytes, DraftVersion::V1_0);
}

#[test]
fn a_report_of_a_switch_in_production() {
    let bytes = payload!("report-1.0-amlight-noviflow");
    let report = read(&bytes);
    assert_eq!((report.node_id, report.tracked_flow), (Some(0xfb65_d675), false));
    let found = report.dissect(&CodePoints::DEFAULT);
    let (_, location) = found.int().next().unwrap();
    let header = AnyHeader::parse(&bytes[report.packet_at..], location, &[]).unwrap();
    let hop = header.hops().next().unwrap().metadata();
    assert_eq!((hop.node_id, hop.interfaces, hop.hop_latency), (Some(0xfb65_d675), ports(23, 11), None));
    assert_eq!((hop.ingress_timestamp, hop.egress_timestamp), (Some(0x3a6e_94e4), Some(0x3a6e_9a94)));
    assert_eq!(destination(&found), (17, 50001));
    assert_writes_back(&bytes, DraftVersion::V1_0);
}

#[test]
fn latency_reports_of_host_int_with_and_without_the_word_of_the_sink() {
    // host-int-0.5/report-03, host-int-0.5/report-04
    let with = payload!("host-int-latency-report-nodeid");
    let without = payload!("host-int-latency-report-no-nodeid");
    for (bytes, packet_at, sequence) in [(&with, 16, 1), (&without, 12, 2)] {
        let report = read(bytes);
        assert_eq!((report.version, report.kind), (ReportVersion::HostInt, ReportKind::Latency));
        assert_eq!((report.node_id, report.packet_at, report.sequence), (Some(3), packet_at, sequence));
        assert_eq!((report.reported_at_s, report.metadata), (Some(0x6553_f100), HopMetadata::default()));
        let found = report.dissect(&CodePoints::DEFAULT);
        assert_eq!(destination(&found), (17, 5001));
        let (_, location) = found.int().next().unwrap();
        let header = AnyHeader::parse(&bytes[packet_at..], location, &[]).unwrap();
        let nodes: Vec<_> = header.hops().map(|hop| hop.metadata().node_id).collect();
        assert_eq!(nodes, [Some(3), Some(2)]);
        assert!(matches!(header, AnyHeader::HopByHop(int) if int.sequence == Some(1) && int.tail.is_none()));
    }
}

#[test]
fn latency_reports_are_written_back() {
    for (bytes, named) in [
        (payload!("host-int-latency-report-nodeid"), true),
        (payload!("host-int-latency-report-no-nodeid"), false),
    ] {
        let report = read(&bytes);
        let found = report.dissect(&CodePoints::DEFAULT);
        let (_, location) = found.int().next().unwrap();
        let packet = &bytes[report.packet_at..];
        let header = AnyHeader::parse(packet, location, &[]).unwrap();
        let hops: Vec<_> = header.hops().map(|hop| hop.metadata()).collect();
        let draft = LatencyDraft {
            sequence: report.sequence,
            reported_at_s: report.reported_at_s.unwrap(),
            sink_node_id: report.node_id.filter(|_| named),
            headers: &packet[..location.shim],
            sink: hops[0],
            source: hops[1],
            flow_sequence: 1,
        };
        let mut out = vec![0xa5; bytes.len() + 1];
        assert_eq!(draft.write(&mut out), Some(bytes.len()));
        assert_eq!(out[..bytes.len()], bytes);
        assert_eq!(draft.write(&mut out[..bytes.len() - 1]), None);
    }
}

#[test]
fn what_is_said_of_the_word_of_the_sink_wins_over_the_guess() {
    let with = payload!("host-int-latency-report-nodeid");
    let without = payload!("host-int-latency-report-no-nodeid");
    let said = |bytes: &[u8], sink_node_id| {
        AnyReport::parse_with(bytes, ReportReading { sink_node_id, ..ReportReading::default() }).map(|_| ())
    };
    assert_eq!((said(&with, SinkNodeId::Present), said(&without, SinkNodeId::Absent)), (Ok(()), Ok(())));
    let error = said(&with, SinkNodeId::Absent).unwrap_err();
    assert_eq!((error.at, error.header), (12, Header::Ipv4));
    let error = said(&without, SinkNodeId::Present).unwrap_err();
    assert_eq!((error.at, error.header), (16, Header::Ipv4));

    // A node id that looks like the start of an IPv4 header.
    let mut like_ipv4 = with.clone();
    like_ipv4[12..16].copy_from_slice(&[0x45, 0, 0, 9]);
    assert_eq!((read(&like_ipv4).node_id, read(&like_ipv4).packet_at), (Some(0x4500_0009), 16));
}

#[test]
fn a_latency_report_may_be_longer_than_its_packet_was() {
    // The IP length excludes the sink's hop: here it is that of a packet without payload.
    let mut bytes = payload!("host-int-latency-report-no-nodeid");
    bytes[12 + 2..12 + 4].copy_from_slice(&64_u16.to_be_bytes());
    let report = read(&bytes);
    assert_eq!(report.dissect(&CodePoints::DEFAULT).int().count(), 1);
}

#[test]
fn a_drop_summary_of_host_int() {
    let bytes = payload!("host-int-drop-summary-report");
    let report = read(&bytes);
    assert_eq!((report.version, report.kind), (ReportVersion::HostInt, ReportKind::DropSummary));
    assert_eq!((report.node_id, report.sequence, report.dropped), (Some(3), 3, true));
    assert!(report.tracked_flow);
    let summary = report.drop_summary.unwrap();
    assert_eq!((summary.source_node_id(), summary.sink_node_id()), (2, 3));
    assert_eq!((summary.ingress_port(), summary.egress_port()), (4, 5));
    assert_eq!(summary.gap(), Gap { seen_at_s: 0x6553_f0ff, sequence: 41, count: 7 });
    let flow = report.dissect(&CodePoints::DEFAULT).flow.unwrap();
    let expected = FiveTuple {
        source: IpAddr::V4(Ipv4Addr::new(192, 168, 10, 1)),
        destination: IpAddr::V4(Ipv4Addr::new(192, 168, 20, 2)),
        protocol: 17,
        source_port: 40001,
        destination_port: 5001,
    };
    assert_eq!(flow, expected);

    let (sequence, reported_at_s) = (3, report.reported_at_s.unwrap());
    let draft = DropSummaryDraft { sequence, reported_at_s, summary: *summary, flow };
    let mut out = vec![0xa5; bytes.len() + 1];
    assert_eq!(draft.write(&mut out), Some(bytes.len()));
    // host-int-0.5/report-06: the program writes UDP length 8, the text has 0; both are accepted.
    let length_at = bytes.len() - 4;
    assert_eq!(bytes[length_at..], [0, 8, 0, 0]);
    assert_eq!((&out[..length_at], &out[length_at..bytes.len()]), (&bytes[..length_at], &[0; 4][..]));
    assert_eq!(read(&out[..bytes.len()]).dissect(&CodePoints::DEFAULT).flow, Some(flow));
}

#[test]
fn an_ingress_timestamp_of_all_ones_is_not_available() {
    // report-0.5/header-06
    for (mut bytes, at) in [
        (payload!("report-0.5-local-flow"), 8),
        (payload!("report-0.5-drop-acl-ingress"), 8),
        (payload!("report-1.0-xd-all-metadata"), 12),
    ] {
        for (word, expected) in [(u32::MAX, None), (u32::MAX - 1, Some(u64::from(u32::MAX - 1)))] {
            bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
            assert_eq!(read(&bytes).metadata.ingress_timestamp, expected);
        }
    }
}

#[test]
fn every_cut_of_every_report_is_an_error_or_a_shorter_packet() {
    for bytes in [
        payload!("report-0.5-local-flow"),
        payload!("report-0.5-drop-acl-ingress"),
        payload!("report-0.5-ethernet-embedded-int"),
        payload!("report-1.0-xd-all-metadata"),
        payload!("report-1.0-amlight-noviflow"),
        payload!("host-int-latency-report-nodeid"),
        payload!("host-int-latency-report-no-nodeid"),
        payload!("host-int-drop-summary-report"),
    ] {
        let whole = read(&bytes);
        for cut in 0..bytes.len() {
            let reading = ReportReading { strictness: Strictness::Truncated, ..ReportReading::default() };
            match AnyReport::parse_with(&bytes[..cut], reading) {
                Ok(AnyReport::Single(report)) => {
                    // A sink without the extra word is identified by its hop, which may be truncated.
                    assert!(report.node_id == whole.node_id || report.node_id.is_none(), "{cut}");
                    assert_eq!(report.packet_at, whole.packet_at, "{cut}");
                }
                Ok(AnyReport::Group(group)) => panic!("{group:?}"),
                Err(error) => assert!(matches!(error.kind, ErrorKind::Short { .. }), "{cut}: {error}"),
            }
        }
    }
}
