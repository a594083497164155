//! How does a hop stand in a payload? What is there as bits, then what is there, as differences from the hop before.

use std::net::IpAddr;

use inband_model::{Flow, HopRecord, Nanos, NodeId, Origin, ReportVersion};

use super::cursor::{Cursor, put_difference, put_number};

pub(super) fn put_hop(bytes: &mut Vec<u8>, hop: &HopRecord, previous: &HopRecord) {
    let bits = bits(hop, previous);
    put_number(bytes, bits.into());
    if bits & SAME_REPORT == 0 {
        put_difference(bytes, hop.received_at.0, previous.received_at.0);
        put_number(bytes, hop.reporter.0.into());
        bytes.push(hop.hw_id);
        put_difference(bytes, hop.sequence.into(), previous.sequence.into());
        put_number(bytes, hop.report_index.into());
        bytes.push(hop.hop_count);
    }
    if bits & (FLOW | SAME_FLOW) == FLOW {
        put_flow(bytes, &hop.flow.unwrap_or_default());
    }
    bytes.push(hop.hop_index);
    put_number(bytes, hop.node_id.0.into());
    for number in [
        hop.drop_reason.map(u64::from),
        hop.ingress_interface.map(u64::from),
        hop.egress_interface.map(u64::from),
        hop.ingress_interface_level2.map(u64::from),
        hop.egress_interface_level2.map(u64::from),
        hop.latency.map(|latency| latency.0),
        hop.queue_id.map(u64::from),
        hop.queue_occupancy.map(u64::from),
        hop.egress_utilization.map(u64::from),
        hop.buffer_id.map(u64::from),
        hop.buffer_occupancy.map(u64::from),
    ]
    .into_iter()
    .flatten()
    {
        put_number(bytes, number);
    }
    if let Some(time) = hop.ingress_timestamp {
        put_difference(bytes, time, previous.ingress_timestamp.unwrap_or_default());
    }
    if let Some(time) = hop.egress_timestamp {
        put_difference(bytes, time, hop.ingress_timestamp.unwrap_or_default());
    }
}

/// Reads what `put_hop` writes; `None` when the bytes are something else.
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

fn bits(hop: &HopRecord, previous: &HopRecord) -> u32 {
    let bit = |there: bool, bit: u32| if there { bit } else { 0 };
    let report = |hop: &HopRecord| {
        (hop.received_at, hop.reporter, hop.hw_id, hop.sequence, hop.report_index, hop.hop_count)
    };
    let optional = [
        hop.drop_reason.is_some(),
        hop.ingress_interface.is_some(),
        hop.egress_interface.is_some(),
        hop.ingress_interface_level2.is_some(),
        hop.egress_interface_level2.is_some(),
        hop.latency.is_some(),
        hop.queue_id.is_some(),
        hop.queue_occupancy.is_some(),
        hop.egress_utilization.is_some(),
        hop.buffer_id.is_some(),
        hop.buffer_occupancy.is_some(),
    ];
    let optional = optional.iter().rev().fold(0, |bits, there| bits << 1 | u32::from(*there));
    let origin: u32 = match hop.origin {
        Origin::MdStack => 0,
        Origin::MxReport => 1,
        Origin::XdReport => 2,
    };
    let version: u32 = match hop.version {
        ReportVersion::V0_5 => 0,
        ReportVersion::V1_0 => 1,
        ReportVersion::V2_0 => 2,
        ReportVersion::HostInt => 3,
    };
    bit(report(hop) == report(previous), SAME_REPORT)
        | bit(hop.flow.is_some(), FLOW)
        | bit(hop.flow.is_some() && hop.flow == previous.flow, SAME_FLOW)
        | bit(hop.dropped, DROPPED)
        | bit(hop.congested_queue, CONGESTED_QUEUE)
        | bit(hop.tracked_flow, TRACKED_FLOW)
        | bit(hop.intermediate, INTERMEDIATE)
        | bit(hop.ingress_timestamp.is_some(), INGRESS_TIMESTAMP)
        | bit(hop.egress_timestamp.is_some(), EGRESS_TIMESTAMP)
        | optional << OPTIONAL_SHIFT
        | origin << ORIGIN_SHIFT
        | version << VERSION_SHIFT
}

fn put_flow(bytes: &mut Vec<u8>, flow: &Flow) {
    for address in [flow.source, flow.destination] {
        match address {
            IpAddr::V4(address) => {
                bytes.push(4);
                bytes.extend_from_slice(&address.octets());
            }
            IpAddr::V6(address) => {
                bytes.push(6);
                bytes.extend_from_slice(&address.octets());
            }
        }
    }
    bytes.push(flow.protocol);
    bytes.extend_from_slice(&flow.source_port.to_le_bytes());
    bytes.extend_from_slice(&flow.destination_port.to_le_bytes());
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

// The bits that come most are the lowest, so that they fit few bytes.
/// Time, reporter, sequence and number of hops are those of the hop before.
const SAME_REPORT: u32 = 1;
const FLOW: u32 = 1 << 1;
/// The flow is that of the hop before.
const SAME_FLOW: u32 = 1 << 2;
const DROPPED: u32 = 1 << 3;
const CONGESTED_QUEUE: u32 = 1 << 4;
const TRACKED_FLOW: u32 = 1 << 5;
const INTERMEDIATE: u32 = 1 << 6;
const ORIGIN_SHIFT: u32 = 7;
const VERSION_SHIFT: u32 = 9;
const INGRESS_TIMESTAMP: u32 = 1 << 11;
const EGRESS_TIMESTAMP: u32 = 1 << 12;
/// One bit for each of the other things that may be missing, in their order.
const OPTIONAL_SHIFT: u32 = 13;
