//! One queue over a short time, out of history.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use inband_model::api::{
    Exact, QueueClock, QueueEpisode, QueueFlow, QueueFlowRole, QueueSampleColumns, QueueTimeline,
    QueueTimelineQuestion, TimeRange,
};
use inband_model::{EventDetail, EventKind, EventView};
use inband_store::QueryError;

use super::Shared;
use super::asked::Asked;
use super::history::{self, Past, Row, count, number, small, text, within};
use super::past::{self, Filter};
use super::problem::Problem;
use super::views::json;

pub(super) async fn timeline(
    State(state): State<Shared>,
    Asked(question): Asked<QueueTimelineQuestion>,
) -> Result<Response, Problem> {
    let range = question.time.resolve(state.read.now().await?)?;
    let find = move |past: &mut Past| find(past, range, &question);
    Ok(json(&history::ask(&state, find).await?))
}

fn find(
    past: &mut Past,
    range: TimeRange,
    question: &QueueTimelineQuestion,
) -> Result<QueueTimeline, QueryError> {
    let QueueTimelineQuestion { node, interface, queue, .. } = *question;
    let of_queue = queue.map_or(String::new(), |queue| format!(" AND queue_id = {queue}"));
    let place =
        format!("node_id = {node} AND egress_interface = {interface}{of_queue} AND {}", within(range));
    let sql = format!(
        "SELECT time, egress_timestamp, queue_occupancy, hop_latency, flow_id FROM observations WHERE {place}"
    );
    let rows = past.rows(&sql)?;
    let reports = rows.len() as u64;
    let max_occupancy = rows.iter().filter_map(|row| small(&row[2])).max();
    let clock = match !rows.is_empty() && rows.iter().all(|row| number(&row[1]).is_some()) {
        true => QueueClock::Node,
        false => QueueClock::Arrival,
    };
    let (flows, places) = flows(past, &place, &rows, max_occupancy)?;
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let (base, samples) = samples(rows, clock, limit, &places);
    Ok(QueueTimeline {
        from: range.from.into(),
        to: range.to.into(),
        base: Exact(base),
        clock,
        samples,
        reports,
        max_occupancy,
        flows,
        episodes: episodes(past, range, question)?,
        damage: past.damage(),
    })
}

/// The samples in the order of time, the deepest of each of `limit` steps where there are more.
fn samples(
    mut rows: Vec<Row>,
    clock: QueueClock,
    limit: usize,
    places: &HashMap<u64, u32>,
) -> (u64, QueueSampleColumns) {
    let column = if clock == QueueClock::Node { 1 } else { 0 };
    let time = |row: &Row| count(&row[column]);
    rows.sort_by_key(|row| time(row));
    let (base, last) = (rows.first().map_or(0, time), rows.last().map_or(0, time));
    if rows.len() > limit {
        let step = (last - base) / limit as u64 + 1;
        let depth = |row: &Row| (number(&row[2]), number(&row[3]));
        let mut deepest: Vec<Row> = Vec::with_capacity(limit);
        for row in rows {
            match deepest.last_mut().filter(|last| (time(last) - base) / step == (time(&row) - base) / step) {
                Some(last) if depth(&row) > depth(last) => *last = row,
                Some(_) => {}
                None => deepest.push(row),
            }
        }
        rows = deepest;
    }
    let mut samples = QueueSampleColumns::default();
    for row in &rows {
        samples.offset.push(time(row) - base);
        samples.occupancy.push(small(&row[2]));
        samples.latency.push(number(&row[3]));
        samples.flow.push(number(&row[4]).and_then(|flow| places.get(&flow).copied()));
    }
    (base, samples)
}

/// The flows with the most reports, and where each stands.
fn flows(
    past: &mut Past,
    place: &str,
    rows: &[Row],
    max_occupancy: Option<u32>,
) -> Result<(Vec<QueueFlow>, HashMap<u64, u32>), QueryError> {
    let is_deep = |row: &Row| {
        let (depth, most) = (small(&row[2]), max_occupancy);
        depth.zip(most).is_some_and(|(depth, most)| most > 0 && u64::from(depth) * 2 >= u64::from(most))
    };
    let mut known: HashMap<u64, (u64, u64, Option<u64>)> = HashMap::new();
    let mut deep = 0;
    for row in rows {
        let is_deep = is_deep(row);
        deep += u64::from(is_deep);
        let Some(flow) = number(&row[4]) else { continue };
        let (reports, at_peak, longest) = known.entry(flow).or_default();
        *reports += 1;
        *at_peak += u64::from(is_deep);
        *longest = (*longest).max(number(&row[3]));
    }
    let mut known: Vec<_> = known.into_iter().collect();
    known.sort_by_key(|(flow, (reports, ..))| (std::cmp::Reverse(*reports), *flow));
    known.truncate(MAX_FLOWS);
    let names = five_tuples(past, place, &known.iter().map(|(flow, _)| *flow).collect::<Vec<_>>())?;
    let share = |part: u64, of: usize| if of == 0 { 0.0 } else { ratio(part, of as u64) };
    let flow = |(id, (reports, at_peak, max_latency)): &(u64, (u64, u64, Option<u64>))| {
        let peak_share = share(*at_peak, usize::try_from(deep).unwrap_or(0));
        let role = match () {
            () if peak_share >= CULPRIT_SHARE => QueueFlowRole::Culprit,
            () if *at_peak > 0 => QueueFlowRole::Victim,
            () => QueueFlowRole::Other,
        };
        let named = names.get(id);
        QueueFlow {
            id: Exact(*id),
            source: named.and_then(|row| text(&row[1]).map(str::to_owned)),
            destination: named.and_then(|row| text(&row[2]).map(str::to_owned)),
            protocol: named.and_then(|row| small(&row[3])),
            source_port: named.and_then(|row| small(&row[4])),
            destination_port: named.and_then(|row| small(&row[5])),
            reports: *reports,
            share: share(*reports, rows.len()),
            peak_share,
            max_latency: *max_latency,
            role,
        }
    };
    let flows: Vec<QueueFlow> = known.iter().map(flow).collect();
    let places = known.iter().zip(0..).map(|((flow, _), at)| (*flow, at)).collect();
    Ok((flows, places))
}

fn five_tuples(past: &mut Past, place: &str, flows: &[u64]) -> Result<HashMap<u64, Row>, QueryError> {
    if flows.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<String> = flows.iter().map(u64::to_string).collect();
    let columns = "flow_id, source, destination, protocol, source_port, destination_port";
    let sql = format!(
        "SELECT {columns}, count(*) AS n FROM observations WHERE {place} AND flow_id IN ({}) GROUP BY {columns}",
        ids.join(", ")
    );
    Ok(past.rows(&sql)?.into_iter().map(|row| (count(&row[0]), row)).collect())
}

/// Congestion and microbursts of the queue.
fn episodes(
    past: &Past,
    range: TimeRange,
    question: &QueueTimelineQuestion,
) -> Result<Vec<QueueEpisode>, QueryError> {
    let mut episodes = Vec::new();
    for kind in [EventKind::QueueCongestion, EventKind::Microburst] {
        let filter =
            Filter { from: Some(range.from), to: Some(range.to), kind: Some(kind), ..Filter::default() };
        let events = past::of_snapshot(past.history(), &filter, MAX_EPISODES, past.left()?)?;
        episodes.extend(events.iter().filter_map(|view| episode(view, question)));
    }
    episodes.sort_by_key(|episode| episode.first);
    Ok(episodes)
}

fn episode(view: &EventView, question: &QueueTimelineQuestion) -> Option<QueueEpisode> {
    let (node, interface, queue, truncated) = match &view.event.detail {
        EventDetail::QueueCongestion(of) => (of.node_id, of.egress_interface, of.queue_id, of.truncated),
        EventDetail::Microburst(of) => (of.node_id, of.egress_interface, of.queue_id, false),
        _ => return None,
    };
    let is_it = node.0 == question.node
        && interface.map(u32::from) == Some(question.interface)
        && (question.queue.is_none() || queue.map(u32::from) == question.queue);
    is_it.then(|| QueueEpisode {
        event: view.id.to_string(),
        kind: view.event.kind().to_string(),
        first: view.event.first.into(),
        last: view.event.last.into(),
        truncated,
    })
}

#[allow(clippy::cast_precision_loss, reason = "counts of one answer are far below 2^52")]
fn ratio(part: u64, of: u64) -> f64 {
    part as f64 / of as f64
}

const DEFAULT_LIMIT: u32 = 4_096;
const MAX_FLOWS: usize = 200;
const MAX_EPISODES: usize = 1_000;
/// A flow with this part of the reports while a queue is deep fills it.
const CULPRIT_SHARE: f64 = 0.1;
