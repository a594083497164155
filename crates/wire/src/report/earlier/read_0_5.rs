//! Reads reports of version 0.5.

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::instruction::Instructions;
use crate::int::metadata::HopMetadata;
use crate::layers::{Link, Strictness};
use crate::report::earlier::drop_header::DropHeader;
use crate::report::earlier::header_0_5::{FixedHeader, HEADER_BYTES, NextProto};
use crate::report::earlier::host_int::SinkNodeId;
use crate::report::earlier::local_header::{LocalHeader, available_time};
use crate::report::earlier::read_host_int;
use crate::report::earlier::report::{EarlierReport, ReportKind};
use crate::report::individual::Drop;
use crate::report::version::ReportVersion;
use crate::view::view;

// report-0.5/local-03
pub(super) fn read(
    bytes: &[u8],
    strictness: Strictness,
    sink_node_id: SinkNodeId,
) -> Result<EarlierReport<'_>, ParseError> {
    let header: &FixedHeader = view(bytes, 0, Header::ReportHeader)?;
    let report = EarlierReport {
        version: ReportVersion::V0_5,
        kind: ReportKind::Packet,
        node_id: None,
        hw_id: header.hw_id(),
        sequence: header.sequence(),
        reported_at_s: None,
        dropped: header.dropped(),
        congested_queue: header.congested_queue(),
        tracked_flow: header.tracked_flow(),
        instructions: Instructions::INGRESS_TIMESTAMP,
        metadata: HopMetadata {
            ingress_timestamp: available_time(header.timestamp()),
            ..HopMetadata::default()
        },
        drop: None,
        drop_summary: None,
        deviation: None,
        packet: None,
        packet_at: HEADER_BYTES,
    };
    match header.next_proto() {
        NextProto::Ethernet => Ok(with_packet(report, bytes)),
        NextProto::Drop => with_drop(report, bytes),
        NextProto::Local => with_local(report, bytes),
        NextProto::DropSummary => read_host_int::drop_summary(of_host_int(report, header), bytes),
        NextProto::Latency => {
            read_host_int::latency(of_host_int(report, header), bytes, strictness, sink_node_id)
        }
        NextProto::Unknown(code) => {
            let kind = ErrorKind::Undefined { field: "NProto", found: code.into() };
            Err(ParseError::new(0, Header::ReportHeader, kind))
        }
    }
}

fn with_drop<'a>(report: EarlierReport<'a>, bytes: &'a [u8]) -> Result<EarlierReport<'a>, ParseError> {
    let header: &DropHeader = view(bytes, HEADER_BYTES, Header::DropHeader)?;
    let report = EarlierReport {
        kind: ReportKind::Drop,
        node_id: Some(header.node_id()),
        instructions: report.instructions | Instructions::INTERFACES,
        metadata: HopMetadata { interfaces: header.interfaces(), ..report.metadata },
        drop: Some(Drop { queue_id: header.queue_id, reason: header.drop_reason }),
        packet_at: HEADER_BYTES + size_of::<DropHeader>(),
        ..report
    };
    Ok(with_packet(report, bytes))
}

fn with_local<'a>(report: EarlierReport<'a>, bytes: &'a [u8]) -> Result<EarlierReport<'a>, ParseError> {
    let header: &LocalHeader = view(bytes, HEADER_BYTES, Header::LocalHeader)?;
    let ingress_timestamp = report.metadata.ingress_timestamp;
    let report = EarlierReport {
        kind: ReportKind::Local,
        node_id: Some(header.node_id()),
        instructions: report.instructions | LOCAL,
        metadata: HopMetadata { ingress_timestamp, ..header.metadata() },
        packet_at: HEADER_BYTES + size_of::<LocalHeader>(),
        ..report
    };
    Ok(with_packet(report, bytes))
}

fn with_packet<'a>(report: EarlierReport<'a>, bytes: &'a [u8]) -> EarlierReport<'a> {
    let packet = bytes.get(report.packet_at..).filter(|packet| !packet.is_empty());
    EarlierReport { packet: packet.map(|packet| (Link::Ethernet, packet)), ..report }
}

/// Moves the header's time, in Host-INT that of the report in seconds, out of the packet's metadata.
fn of_host_int<'a>(report: EarlierReport<'a>, header: &FixedHeader) -> EarlierReport<'a> {
    EarlierReport {
        version: ReportVersion::HostInt,
        reported_at_s: Some(header.timestamp()),
        instructions: Instructions(0),
        metadata: HopMetadata::default(),
        ..report
    }
}

/// The metadata in a switch-local header.
const LOCAL: Instructions =
    Instructions(Instructions::INTERFACES.0 | Instructions::QUEUE.0 | Instructions::EGRESS_TIMESTAMP.0);
