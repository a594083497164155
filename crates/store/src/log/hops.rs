//! Hops in a payload: columns of the reports, then a column per field of a hop.

use std::net::IpAddr;

use inband_model::{Flow, HopColumns, HopField, Nanos, NodeId, Origin, ReportRecord, ReportVersion, Values};

use super::columns::{get_column, put_column};
use super::cursor::{Cursor, put_number};

/// Appends hops; returns `false` if there are too many.
pub(super) fn put_hops(bytes: &mut Vec<u8>, columns: &HopColumns) -> bool {
    put_number(bytes, columns.reports().len() as u64);
    put_number(bytes, columns.len() as u64);
    if columns.is_empty() {
        return true;
    }
    put_reports(bytes, columns);
    let present = columns.present();
    let any = present.iter().fold(0, |any, present| any | present);
    put_column(bytes, present.iter().map(|present| u64::from(*present)));
    for field in HopField::ALL.iter().filter(|field| field.is_in(any)) {
        match columns.values(*field) {
            Values::Narrow(values) => put_column(bytes, values.iter().map(|value| u64::from(*value))),
            Values::Wide(values) => put_column(bytes, values.iter().copied()),
        }
    }
    columns.len() <= MAX_HOPS
}

/// Reads what `put_hops` writes; `None` if the bytes are something else.
pub(super) fn get_hops(cursor: &mut Cursor<'_>) -> Option<HopColumns> {
    let (reports, hops): (usize, usize) = (cursor.narrow()?, cursor.narrow()?);
    if hops > MAX_HOPS || reports > hops {
        return None;
    }
    if hops == 0 {
        return Some(HopColumns::default());
    }
    let (reports, ends) = get_reports(cursor, reports)?;
    let present: Vec<u16> = get_column(cursor, hops)?;
    let any = present.iter().fold(0, |any, present| any | present);
    let (mut narrow, mut wide) =
        (<[Vec<u32>; HopField::NARROW]>::default(), <[Vec<u64>; HopField::WIDE]>::default());
    let (fields, wide_fields) = HopField::ALL.split_at(HopField::NARROW);
    for (_, column) in fields.iter().zip(&mut narrow).filter(|(field, _)| field.is_in(any)) {
        *column = get_column(cursor, hops)?;
    }
    for (_, column) in wide_fields.iter().zip(&mut wide).filter(|(field, _)| field.is_in(any)) {
        *column = get_column(cursor, hops)?;
    }
    HopColumns::from_parts(reports, ends, present, narrow, wide)
}

fn put_reports(bytes: &mut Vec<u8>, columns: &HopColumns) {
    let reports = columns.reports();
    put_column(bytes, columns.ends().iter().map(|end| u64::from(*end)));
    put_column(bytes, reports.iter().map(|report| bits(report).into()));
    put_column(bytes, reports.iter().map(|report| report.received_at.0));
    put_column(bytes, reports.iter().map(|report| report.sequence.into()));
    put_column(bytes, reports.iter().map(|report| report.reporter.0.into()));
    put_column(bytes, reports.iter().map(|report| report.report_index.into()));
    put_column(bytes, reports.iter().map(|report| report.hw_id.into()));
    put_column(bytes, reports.iter().map(|report| report.hop_count.into()));
    put_column(bytes, reports.iter().map(|report| report.drop_reason.unwrap_or(0).into()));
    let flows = reports.iter().map(|report| report.flow.as_ref());
    put_column(bytes, flows.clone().map(|flow| flow.map_or(0, ports)));
    put_column(bytes, flows.clone().map(|flow| flow.map_or(0, |flow| flow.protocol.into())));
    put_column(bytes, flows.clone().map(|flow| flow.map_or(0, |flow| words(flow.source)[1])));
    put_column(bytes, flows.clone().map(|flow| flow.map_or(0, |flow| words(flow.destination)[1])));
    if reports.iter().any(|report| bits(report) & (SOURCE_V6 | DESTINATION_V6) != 0) {
        put_column(bytes, flows.clone().map(|flow| flow.map_or(0, |flow| words(flow.source)[0])));
        put_column(bytes, flows.map(|flow| flow.map_or(0, |flow| words(flow.destination)[0])));
    }
}

/// Reads reports, and the end of each one's hops.
fn get_reports(cursor: &mut Cursor<'_>, count: usize) -> Option<(Vec<ReportRecord>, Vec<u32>)> {
    let ends = get_column(cursor, count)?;
    let bits: Vec<u16> = get_column(cursor, count)?;
    let times: Vec<u64> = get_column(cursor, count)?;
    let sequences: Vec<u32> = get_column(cursor, count)?;
    let reporters: Vec<u32> = get_column(cursor, count)?;
    let indices: Vec<u16> = get_column(cursor, count)?;
    let hw_ids: Vec<u8> = get_column(cursor, count)?;
    let hop_counts: Vec<u8> = get_column(cursor, count)?;
    let drop_reasons: Vec<u8> = get_column(cursor, count)?;
    let flows = get_flows(cursor, &bits)?;
    let report = |index: usize| {
        let bits = bits[index];
        Some(ReportRecord {
            received_at: Nanos(times[index]),
            sequence: sequences[index],
            reporter: NodeId(reporters[index]),
            report_index: indices[index],
            hw_id: hw_ids[index],
            hop_count: hop_counts[index],
            version: *VERSIONS.get(usize::from(bits >> VERSION_SHIFT & 3))?,
            origin: *ORIGINS.get(usize::from(bits >> ORIGIN_SHIFT & 3))?,
            dropped: bits & DROPPED != 0,
            congested_queue: bits & CONGESTED_QUEUE != 0,
            tracked_flow: bits & TRACKED_FLOW != 0,
            intermediate: bits & INTERMEDIATE != 0,
            drop_reason: (bits & DROP_REASON != 0).then_some(drop_reasons[index]),
            flow: flows[index],
        })
    };
    let reports = (0..count).map(report).collect::<Option<_>>()?;
    Some((reports, ends))
}

fn get_flows(cursor: &mut Cursor<'_>, bits: &[u16]) -> Option<Vec<Option<Flow>>> {
    let ports: Vec<u32> = get_column(cursor, bits.len())?;
    let protocols: Vec<u8> = get_column(cursor, bits.len())?;
    let low: [Vec<u64>; 2] = [get_column(cursor, bits.len())?, get_column(cursor, bits.len())?];
    let high: [Vec<u64>; 2] = match bits.iter().any(|bits| bits & (SOURCE_V6 | DESTINATION_V6) != 0) {
        true => [get_column(cursor, bits.len())?, get_column(cursor, bits.len())?],
        false => [vec![0; bits.len()], vec![0; bits.len()]],
    };
    let flow = |index: usize| {
        if bits[index] & FLOW == 0 {
            return Some(None);
        }
        let end = |end: usize, v6: u16| address(bits[index] & v6 != 0, [high[end][index], low[end][index]]);
        let [source_port, destination_port] = [ports[index] >> 16, ports[index] & 0xffff];
        Some(Some(Flow {
            source: end(0, SOURCE_V6)?,
            destination: end(1, DESTINATION_V6)?,
            protocol: protocols[index],
            source_port: u16::try_from(source_port).ok()?,
            destination_port: u16::try_from(destination_port).ok()?,
        }))
    };
    (0..bits.len()).map(flow).collect()
}

fn ports(flow: &Flow) -> u64 {
    u64::from(flow.source_port) << 16 | u64::from(flow.destination_port)
}

/// The high and the low half of an address; an IPv4 address is entirely in the low one.
fn words(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(address) => [0, address.to_bits().into()],
        IpAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h] = address.segments().map(u64::from);
            [a << 48 | b << 32 | c << 16 | d, e << 48 | f << 32 | g << 16 | h]
        }
    }
}

fn address(is_v6: bool, [high, low]: [u64; 2]) -> Option<IpAddr> {
    match is_v6 {
        true => Some(IpAddr::V6((u128::from(high) << 64 | u128::from(low)).into())),
        false => u32::try_from(low).ok().filter(|_| high == 0).map(|bits| IpAddr::V4(bits.into())),
    }
}

/// Enumerated and Boolean properties of a report, as bits.
fn bits(report: &ReportRecord) -> u16 {
    let bit = |there: bool, bit: u16| if there { bit } else { 0 };
    let origin: u16 = match report.origin {
        Origin::MdStack => 0,
        Origin::MxReport => 1,
        Origin::XdReport => 2,
    };
    let version: u16 = match report.version {
        ReportVersion::V0_5 => 0,
        ReportVersion::V1_0 => 1,
        ReportVersion::V2_0 => 2,
        ReportVersion::HostInt => 3,
    };
    bit(report.dropped, DROPPED)
        | bit(report.congested_queue, CONGESTED_QUEUE)
        | bit(report.tracked_flow, TRACKED_FLOW)
        | bit(report.intermediate, INTERMEDIATE)
        | bit(report.drop_reason.is_some(), DROP_REASON)
        | bit(report.flow.is_some(), FLOW)
        | bit(report.flow.is_some_and(|flow| flow.source.is_ipv6()), SOURCE_V6)
        | bit(report.flow.is_some_and(|flow| flow.destination.is_ipv6()), DESTINATION_V6)
        | origin << ORIGIN_SHIFT
        | version << VERSION_SHIFT
}

/// Maximum hops per frame: constant columns take no bytes, so the payload does not bound them.
const MAX_HOPS: usize = 1 << 22;
const ORIGINS: [Origin; 3] = [Origin::MdStack, Origin::MxReport, Origin::XdReport];
const VERSIONS: [ReportVersion; 4] =
    [ReportVersion::V0_5, ReportVersion::V1_0, ReportVersion::V2_0, ReportVersion::HostInt];
const ORIGIN_SHIFT: u32 = 0;
const VERSION_SHIFT: u32 = 2;
const DROPPED: u16 = 1 << 4;
const CONGESTED_QUEUE: u16 = 1 << 5;
const TRACKED_FLOW: u16 = 1 << 6;
const INTERMEDIATE: u16 = 1 << 7;
const DROP_REASON: u16 = 1 << 8;
const FLOW: u16 = 1 << 9;
const SOURCE_V6: u16 = 1 << 10;
const DESTINATION_V6: u16 = 1 << 11;
