//! A hop in a version 1 payload: presence bits, then the present values, as differences from the previous
//! hop.

use std::net::IpAddr;

use inband_model::{Flow, HopRecord, Nanos, NodeId, Origin, ReportVersion};

use crate::log::cursor::Cursor;

/// Reads a hop; `None` if the bytes are something else.
pub(super) fn get_hop(cursor: &mut Cursor<'_>, previous: &HopRecord) -> Option<HopRecord> {
    let bits: u32 = cursor.narrow()?;
    let has = |bit: u32| bits & bit != 0;
    let mut hop = *previous;
    if !has(SAME_REPORT) {
        hop.received_at = Nanos(cursor.difference(previous.received_at.0)?);
        hop.reporter = NodeId(cursor.narrow()?);
        [hop.hw_id] = *cursor.bytes()?;
        hop.sequence = u32::try_from(cursor.difference(previous.sequence.into())?).ok()?;
        hop.report_index = cursor.narrow()?;
        [hop.hop_count] = *cursor.bytes()?;
    }
    hop.flow = match (has(FLOW), has(SAME_FLOW)) {
        (false, _) => None,
        (true, true) => previous.flow,
        (true, false) => Some(get_flow(cursor)?),
    };
    (hop.dropped, hop.congested_queue) = (has(DROPPED), has(CONGESTED_QUEUE));
    (hop.tracked_flow, hop.intermediate) = (has(TRACKED_FLOW), has(INTERMEDIATE));
    hop.origin = *ORIGINS.get((bits >> ORIGIN_SHIFT & 3) as usize)?;
    hop.version = *VERSIONS.get((bits >> VERSION_SHIFT & 3) as usize)?;
    [hop.hop_index] = *cursor.bytes()?;
    hop.node_id = NodeId(cursor.narrow()?);
    let mut place = 0;
    let mut next = |cursor: &mut Cursor<'_>| {
        place += 1;
        if has(1 << (OPTIONAL_SHIFT + place - 1)) { Some(Some(cursor.number()?)) } else { Some(None) }
    };
    hop.drop_reason = narrow(next(cursor)?)?;
    hop.ingress_interface = narrow(next(cursor)?)?;
    hop.egress_interface = narrow(next(cursor)?)?;
    hop.ingress_interface_level2 = narrow(next(cursor)?)?;
    hop.egress_interface_level2 = narrow(next(cursor)?)?;
    hop.latency = next(cursor)?.map(Nanos);
    hop.queue_id = narrow(next(cursor)?)?;
    hop.queue_occupancy = narrow(next(cursor)?)?;
    hop.egress_utilization = narrow(next(cursor)?)?;
    hop.buffer_id = narrow(next(cursor)?)?;
    hop.buffer_occupancy = narrow(next(cursor)?)?;
    hop.ingress_timestamp = match has(INGRESS_TIMESTAMP) {
        true => Some(cursor.difference(previous.ingress_timestamp.unwrap_or_default())?),
        false => None,
    };
    hop.egress_timestamp = match has(EGRESS_TIMESTAMP) {
        true => Some(cursor.difference(hop.ingress_timestamp.unwrap_or_default())?),
        false => None,
    };
    Some(hop)
}

fn get_flow(cursor: &mut Cursor<'_>) -> Option<Flow> {
    let (source, destination) = (get_address(cursor)?, get_address(cursor)?);
    let [protocol] = *cursor.bytes()?;
    let source_port = u16::from_le_bytes(*cursor.bytes()?);
    let destination_port = u16::from_le_bytes(*cursor.bytes()?);
    Some(Flow { source, destination, protocol, source_port, destination_port })
}

fn get_address(cursor: &mut Cursor<'_>) -> Option<IpAddr> {
    match cursor.bytes()? {
        [4] => Some(IpAddr::from(*cursor.bytes::<4>()?)),
        [6] => Some(IpAddr::from(*cursor.bytes::<16>()?)),
        _ => None,
    }
}

/// The outer `None` is a number that does not fit.
#[allow(clippy::option_option)]
fn narrow<T: TryFrom<u64>>(number: Option<u64>) -> Option<Option<T>> {
    number.map_or(Some(None), |number| T::try_from(number).ok().map(Some))
}

const ORIGINS: [Origin; 3] = [Origin::MdStack, Origin::MxReport, Origin::XdReport];
const VERSIONS: [ReportVersion; 4] =
    [ReportVersion::V0_5, ReportVersion::V1_0, ReportVersion::V2_0, ReportVersion::HostInt];

// The most frequent bits are the lowest, so that they fit few bytes.
/// Time, reporter, sequence and number of hops equal those of the previous hop.
const SAME_REPORT: u32 = 1;
const FLOW: u32 = 1 << 1;
/// The flow equals that of the previous hop.
const SAME_FLOW: u32 = 1 << 2;
const DROPPED: u32 = 1 << 3;
const CONGESTED_QUEUE: u32 = 1 << 4;
const TRACKED_FLOW: u32 = 1 << 5;
const INTERMEDIATE: u32 = 1 << 6;
const ORIGIN_SHIFT: u32 = 7;
const VERSION_SHIFT: u32 = 9;
const INGRESS_TIMESTAMP: u32 = 1 << 11;
const EGRESS_TIMESTAMP: u32 = 1 << 12;
/// One bit for each of the other optional values, in order.
const OPTIONAL_SHIFT: u32 = 13;
