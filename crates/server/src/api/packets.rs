//! The packets of a flow with their hops, from history.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use axum::extract::{Path, State};
use axum::response::Response;
use inband_model::api::{Exact, HopColumn, PacketColumns, PacketOrder, Packets, PacketsQuestion, TimeRange};
use inband_model::{FlowId, Nanos, Origin};
use inband_store::{Cell, QueryError};

use super::Shared;
use super::asked::Asked;
use super::history::{self, Past, Row, count, flow_id, number, small, text, within};
use super::links::{LinkEnds, Uncertainties};
use super::problem::Problem;
use super::views::json;

/// The key of a packet is its report: time, reporter, HW ID, sequence number, index in the datagram.
type Key = [u64; 5];

pub(super) async fn packets(
    State(state): State<Shared>,
    Path(id): Path<String>,
    Asked(question): Asked<PacketsQuestion>,
) -> Result<Response, Problem> {
    let id = flow_id(&id)?;
    let range = question.time.resolve(state.read.now().await?)?;
    let offset = match question.after.as_deref().map(str::parse) {
        None => 0,
        Some(Ok(offset)) => offset,
        Some(Err(_)) => {
            let what = "after does not name a page".to_owned();
            return Err(Problem::parameter("after", what, "the `next` of the page before"));
        }
    };
    let uncertainties = Uncertainties::of(&state).await?;
    let find = move |past: &mut Past| find(past, id, range, &question, offset, &uncertainties);
    Ok(json(&history::ask(&state, find).await?))
}

fn find(
    past: &mut Past,
    id: FlowId,
    range: TimeRange,
    question: &PacketsQuestion,
    offset: u64,
    uncertainties: &Uncertainties,
) -> Result<Packets, QueryError> {
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT);
    let mut wanted = format!("flow_id = {id} AND {}", within(range));
    // Writing to a string does not fail.
    let _ = question.node.map(|node| write!(wanted, " AND node_id = {node}"));
    let _ = question.at_least.map(|least| write!(wanted, " AND hop_latency >= {}", least.min(MAX_LATENCY)));
    let order = match question.order {
        PacketOrder::Time => KEY.to_owned(),
        PacketOrder::Slowest => format!("total DESC, {KEY}"),
    };
    let grouped = |wanted: &str, limit: u64, offset: u64| {
        format!(
            "SELECT {KEY}, sum(hop_latency) AS total FROM observations WHERE {wanted} GROUP BY {KEY} \
             ORDER BY {order} LIMIT {limit} OFFSET {offset}"
        )
    };
    let is_of_all = question.node.is_none() && question.at_least.is_none();
    let wanted_packets = offset + u64::from(limit) + 1;
    let minutes = match question.order == PacketOrder::Slowest && is_of_all && past.has("flow_minutes", range)
    {
        true => slowest_first(past, id, range)?,
        false => Vec::new(),
    };
    let mut chosen: Vec<Key> = match minutes.len() as u64 > wanted_packets {
        false => {
            let sql = grouped(&wanted, u64::from(limit) + 1, offset);
            past.rows(&sql)?.iter().map(|row| key(row)).collect()
        }
        true => {
            let most = usize::try_from(wanted_packets).unwrap_or(usize::MAX);
            let mut slowest: Vec<(Reverse<Option<u64>>, Key)> = Vec::new();
            for minutes in minutes.chunks(MINUTES_AT_ONCE) {
                // The last wanted packet is slower than all packets of these and of the remaining minutes.
                let least = slowest.get(most - 1).map(|(Reverse(total), _)| *total);
                if least.is_some_and(|least| least > minutes[0].longest) {
                    break;
                }
                let wanted = |minute: &Minute| format!("flow_id = {id} AND {}", within(minute.part));
                let queries: Vec<String> =
                    minutes.iter().map(|minute| grouped(&wanted(minute), wanted_packets, 0)).collect();
                let found = past.rows_of_each(&queries)?.into_iter().flatten();
                slowest.extend(found.map(|row| (Reverse(number(&row[5])), key(&row))));
                slowest.sort_unstable();
                slowest.truncate(most);
            }
            let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
            slowest.into_iter().map(|(_, key)| key).skip(skipped).collect()
        }
    };
    let next = (chosen.len() > limit as usize).then(|| (offset + u64::from(limit)).to_string());
    chosen.truncate(limit as usize);
    let base = chosen.iter().map(|key| key[0]).min().unwrap_or(range.from.0);
    let mut found = Packets {
        flow: id.into(),
        from: range.from.into(),
        to: range.to.into(),
        base: Exact(base),
        next,
        ..Packets::default()
    };
    if !chosen.is_empty() {
        let rows = hops_of(past, id, &chosen)?;
        fill(&mut found, &chosen, rows, uncertainties);
    }
    found.damage = past.damage();
    Ok(found)
}

/// The part of a time range in one minute, and the longest sum of hop latencies of a packet in that minute.
#[derive(Debug, Clone, Copy)]
struct Minute {
    part: TimeRange,
    longest: Option<u64>,
}

/// The minutes of a time range with reports on a flow, slowest packet first.
fn slowest_first(past: &mut Past, id: FlowId, range: TimeRange) -> Result<Vec<Minute>, QueryError> {
    let whole = TimeRange { from: Nanos(range.from.0 - range.from.0 % MINUTE_NS), to: range.to };
    let sql = format!(
        "SELECT time, max(latency_max) AS longest FROM flow_minutes WHERE flow_id = {id} AND {} GROUP BY time",
        within(whole)
    );
    let minute = |row: &Row| {
        let minute = count(&row[0]);
        let from = Nanos(minute.max(range.from.0));
        Minute {
            part: TimeRange { from, to: Nanos((minute + MINUTE_NS).min(range.to.0)) },
            longest: number(&row[1]),
        }
    };
    let mut minutes: Vec<Minute> = past.rows(&sql)?.iter().map(minute).collect();
    minutes.sort_by_key(|minute| Reverse(minute.longest));
    Ok(minutes)
}

/// The hops of packets, grouped by packet.
fn hops_of(past: &mut Past, id: FlowId, chosen: &[Key]) -> Result<Vec<Vec<Row>>, QueryError> {
    let places: HashMap<Key, usize> = chosen.iter().enumerate().map(|(at, key)| (*key, at)).collect();
    let list = |place: usize| {
        let mut numbers: Vec<u64> = chosen.iter().map(|key| key[place]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    };
    let sql = format!(
        "SELECT {KEY}, hop_index, node_id, ingress_interface, egress_interface, hop_latency, queue_id, \
         queue_occupancy, egress_utilization, ingress_timestamp, egress_timestamp, dropped, congested_queue, \
         drop_reason, origin FROM observations WHERE flow_id = {id} AND time IN ({}) \
         AND sequence IN ({})",
        list(0),
        list(3)
    );
    let mut hops = vec![Vec::new(); chosen.len()];
    for row in past.rows(&sql)? {
        if let Some(place) = places.get(&key(&row)) {
            hops[*place].push(row);
        }
    }
    hops.iter_mut().for_each(|hops| hops.sort_by_key(|row: &Row| count(&row[5])));
    Ok(hops)
}

fn fill(found: &mut Packets, chosen: &[Key], hops: Vec<Vec<Row>>, uncertainties: &Uncertainties) {
    for (at, (key, rows)) in chosen.iter().zip(hops).enumerate() {
        let latencies = rows.iter().filter_map(|row| number(&row[9]));
        let total = latencies.clone().next().map(|_| latencies.sum());
        let is_dropped = rows.iter().any(|row| count(&row[15]) == 1);
        let origin = rows.first().and_then(|row| origin(text(&row[18])?));
        push_packet(&mut found.packets, found.base, key, rows.len(), total, is_dropped, origin);
        let mut before: Option<&Row> = None;
        for row in &rows {
            push_hop(&mut found.hops, at, row);
            let (latency, uncertainty) =
                before.map_or((None, None), |before| link(before, row, uncertainties));
            found.hops.link_latency.push(latency);
            found.hops.link_uncertainty.push(uncertainty);
            before = Some(row);
        }
    }
}

fn push_packet(
    packets: &mut PacketColumns,
    base: Exact,
    key: &Key,
    hops: usize,
    latency: Option<u64>,
    is_dropped: bool,
    origin: Option<Origin>,
) {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    packets.time.push(key[0].saturating_sub(base.0));
    packets.node.push(narrow(key[1]));
    packets.hw_id.push(u8::try_from(key[2]).unwrap_or(u8::MAX));
    packets.sequence.push(narrow(key[3]));
    packets.report.push(narrow(key[4]));
    packets.origin.push(origin);
    packets.latency.push(latency);
    packets.hops.push(narrow(hops as u64));
    packets.dropped.push(is_dropped);
}

fn push_hop(hops: &mut HopColumn, packet: usize, row: &Row) {
    hops.packet.push(u32::try_from(packet).unwrap_or(u32::MAX));
    hops.hop.push(small(&row[5]).unwrap_or(0));
    hops.node.push(small(&row[6]).unwrap_or(u32::MAX));
    hops.ingress_interface.push(small(&row[7]));
    hops.egress_interface.push(small(&row[8]));
    hops.latency.push(number(&row[9]));
    hops.queue.push(small(&row[10]));
    hops.occupancy.push(small(&row[11]));
    hops.utilization.push(small(&row[12]));
    hops.ingress_timestamp.push(number(&row[13]).map(Exact));
    hops.egress_timestamp.push(number(&row[14]).map(Exact));
    hops.congested.push(count(&row[16]) == 1);
    hops.drop_reason.push(small(&row[17]));
}

/// The link latency between two hops, and its error bound.
fn link(before: &Row, row: &Row, uncertainties: &Uncertainties) -> (Option<i64>, Option<u64>) {
    let is_next = count(&before[5]) + 1 == count(&row[5]);
    // A 32-bit clock wraps within seconds and cannot be compared with another clock.
    let wide = |cell: &Cell| number(cell).filter(|time| *time > u32::MAX.into());
    let (Some(left), Some(came), true) = (wide(&before[14]), wide(&row[13]), is_next) else {
        return (None, None);
    };
    let ends = LinkEnds {
        from: small(&before[6]).unwrap_or(u32::MAX),
        egress: small(&before[8]),
        to: small(&row[6]).unwrap_or(u32::MAX),
        ingress: small(&row[7]),
    };
    (came.cast_signed().checked_sub(left.cast_signed()), uncertainties.of_link(ends))
}

fn key(row: &[Cell]) -> Key {
    std::array::from_fn(|at| row.get(at).map_or(0, count))
}

fn origin(name: &str) -> Option<Origin> {
    [Origin::MdStack, Origin::MxReport, Origin::XdReport].into_iter().find(|origin| origin.name() == name)
}

const KEY: &str = "time, reporter, hw_id, sequence, report_index";
const MINUTE_NS: u64 = 60_000_000_000;
/// Minutes of the slowest packets that are read at once.
const MINUTES_AT_ONCE: usize = 2;
const DEFAULT_LIMIT: u32 = 200;
/// Hop latencies have 63 bits in history.
const MAX_LATENCY: u64 = i64::MAX as u64;
