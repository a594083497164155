//! Reads Host-INT's reports.

use crate::error::{Header, ParseError};
use crate::int::earlier::hop_by_hop::HopByHop;
use crate::layers::{Link, Strictness};
use crate::report::earlier::header_0_5::HEADER_BYTES;
use crate::report::earlier::host_int::{DropSummary, SinkNodeId};
use crate::report::earlier::host_int_packet::{flow, int};
use crate::report::earlier::report::{EarlierReport, ReportKind};
use crate::view::view;

/// Reads a latency report: optionally the sink's node id, then IPv4, TCP or UDP, and INT with the sink's hop.
// host-int-0.5/report-04
pub(super) fn latency<'a>(
    report: EarlierReport<'a>,
    bytes: &'a [u8],
    strictness: Strictness,
    sink_node_id: SinkNodeId,
) -> Result<EarlierReport<'a>, ParseError> {
    let packet_at = packet_at(bytes, strictness, sink_node_id);
    let packet = bytes.get(packet_at..).unwrap_or_default();
    let shifted = |error: ParseError| error.shifted(packet_at);
    let (_, location) = int(packet, strictness).map_err(shifted)?;
    let hops = HopByHop::parse(packet, &location).map_err(shifted)?;
    let named = (packet_at > HEADER_BYTES).then(|| bytes.get(HEADER_BYTES..)?.first_chunk()).flatten();
    let node_id = match named {
        Some(word) => Some(u32::from_be_bytes(*word)),
        // The sink's hop is on top of the stack.
        None => hops.hops().next().and_then(|hop| hop.metadata().hop.node_id),
    };
    Ok(EarlierReport {
        kind: ReportKind::Latency,
        node_id,
        packet: Some((Link::Ip, packet)),
        packet_at,
        ..report
    })
}

/// Reads a drop summary: 24 bytes, then IPv4 and TCP or UDP headers with only addresses and ports set.
pub(super) fn drop_summary<'a>(
    report: EarlierReport<'a>,
    bytes: &'a [u8],
) -> Result<EarlierReport<'a>, ParseError> {
    let summary: &DropSummary = view(bytes, HEADER_BYTES, Header::DropSummary)?;
    let packet_at = HEADER_BYTES + size_of::<DropSummary>();
    let headers = bytes.get(packet_at..).unwrap_or_default();
    flow(headers).map_err(|error| error.shifted(packet_at))?;
    Ok(EarlierReport {
        kind: ReportKind::DropSummary,
        node_id: Some(summary.sink_node_id()),
        drop_summary: Some(summary),
        packet: Some((Link::Ip, headers)),
        packet_at,
        ..report
    })
}

/// Offset of the packet in a latency report.
fn packet_at(bytes: &[u8], strictness: Strictness, sink_node_id: SinkNodeId) -> usize {
    let (without, with) = (HEADER_BYTES, HEADER_BYTES + 4);
    let reads = |at: usize| bytes.get(at..).is_some_and(|packet| int(packet, strictness).is_ok());
    match sink_node_id {
        SinkNodeId::Present => with,
        SinkNodeId::Absent => without,
        SinkNodeId::Auto if reads(without) => without,
        SinkNodeId::Auto if reads(with) => with,
        // Neither can be read: report the error for the offset that starts like IPv4 without options.
        SinkNodeId::Auto if bytes.get(without) == Some(&IPV4_WITHOUT_OPTIONS) => without,
        SinkNodeId::Auto => with,
    }
}

const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
