//! Timeline of one queue, from history.

use std::collections::{HashMap, HashSet};

use axum::extract::State;
use axum::response::Response;
use inband_collector::CongestionSettings;
use inband_model::api::{
    Exact, QueueClock, QueueEpisode, QueueFlow, QueueFlowRole, QueueSampleColumns, QueueThresholds,
    QueueTimeline, QueueTimelineQuestion, TimeRange,
};
use inband_model::{EventDetail, EventKind, EventView, Nanos, NodeId, NodeUnits, QueueUnit};
use inband_store::{Cell, QueryError};
use serde_json::Value;

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
    let settings = state.look(|sight| sight.collector.congestion_settings().clone()).await?;
    let thresholds = thresholds(&settings, state.names.units().of(NodeId(question.node)));
    let now = state.read.now().await?;
    let known = state.read.events().await?;
    let goes_on = known.active.iter().filter(|view| view.event.first <= range.to);
    let goes_on: Vec<QueueEpisode> = goes_on
        .filter_map(|view| {
            let last = view.event.last.max(now).into();
            Some(QueueEpisode { last, ..episode(view, &question)? })
        })
        .collect();
    let find = move |past: &mut Past| {
        let mut found = find(past, range, &question)?;
        add_active(&mut found.episodes, goes_on);
        Ok(QueueTimeline { thresholds, ..found })
    };
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
    let mut rows = past.rows(&sql)?;
    let mut reports = rows.len() as u64;
    let mut kept = None;
    if rows.is_empty() {
        let found = of_bursts(past, range, question)?;
        (rows, reports, kept) = (found.rows, found.reports, Some(found.flows));
    }
    let source = if reports > 0 && kept.is_some() { "bursts" } else { "observations" }.to_owned();
    let max_occupancy = rows.iter().filter_map(|row| small(&row[2])).max();
    let clock = match !rows.is_empty() && rows.iter().all(|row| number(&row[1]).is_some()) {
        true => QueueClock::Node,
        false => QueueClock::Arrival,
    };
    let named = |flows: &[u64]| match kept {
        Some(kept) => Ok(kept),
        None => five_tuples(past, &place, flows),
    };
    let (flows, places) = flows(&rows, max_occupancy, named)?;
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
        thresholds: QueueThresholds::default(),
        episodes: episodes(past, range, question)?,
        source,
        damage: past.damage(),
    })
}

/// Samples of a queue's congestion from `bursts`.
struct OfBursts {
    rows: Vec<Row>,
    reports: u64,
    flows: HashMap<u64, Row>,
}

/// The samples taken while the queue was congested, for a range whose hops have expired.
fn of_bursts(
    past: &mut Past,
    range: TimeRange,
    question: &QueueTimelineQuestion,
) -> Result<OfBursts, QueryError> {
    let QueueTimelineQuestion { node, interface, queue, .. } = *question;
    let of_queue = queue.map_or(String::new(), |queue| format!(" AND queue_id = {queue}"));
    let clip = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT time, base, node_clock, samples, flows FROM bursts WHERE node_id = {node} \
         AND egress_interface = {interface}{of_queue} AND last >= {} AND time < {}",
        clip(range.from.0),
        clip(range.to.0)
    );
    let mut found = OfBursts { rows: Vec::new(), reports: 0, flows: HashMap::new() };
    // A microburst may be part of a congestion episode.
    let mut known = HashSet::new();
    for burst in past.rows(&sql)? {
        let (first, base) = (count(&burst[0]), count(&burst[1]));
        let is_node_clock = count(&burst[2]) == 1;
        let ids = flows_of_burst(text(&burst[4]).unwrap_or(""), &mut found.flows);
        for sample in text(&burst[3]).unwrap_or("").split(' ') {
            let mut parts = sample.split(':').map(|part| part.parse::<u64>().ok());
            let Some(Some(offset)) = parts.next() else { continue };
            let mut next = || parts.next().flatten();
            let (occupancy, latency) = (next(), next());
            let flow = next().and_then(|place| ids.get(usize::try_from(place).ok()?).copied());
            // The arrival time, as precisely as it is stored.
            let arrived = first.saturating_add(offset);
            if range.contains(Nanos(arrived)) && known.insert((base + offset, occupancy, latency, flow)) {
                let cell = |value: Option<u64>| value.map_or(Cell::Null, |value| Cell::Integer(clip(value)));
                let egress = is_node_clock.then_some(base + offset);
                found.rows.push(vec![
                    cell(Some(arrived)),
                    cell(egress),
                    cell(occupancy),
                    cell(latency),
                    cell(flow),
                ]);
            }
        }
    }
    found.reports = found.rows.len() as u64;
    Ok(found)
}

/// The ids of the flows of a burst, in order; adds their five-tuples to `into`.
fn flows_of_burst(json: &str, into: &mut HashMap<u64, Row>) -> Vec<u64> {
    let flows: Vec<Value> = serde_json::from_str(json).unwrap_or_default();
    let id_of = |flow: &Value| -> Option<u64> {
        let id = flow["id"].as_str()?.parse().ok()?;
        let number = |name: &str| flow[name].as_i64().map_or(Cell::Null, Cell::Integer);
        let address = |name: &str| flow[name].as_str().map_or(Cell::Null, |text| Cell::Text(text.to_owned()));
        let row = vec![
            Cell::Integer(i64::try_from(id).ok()?),
            address("source"),
            address("destination"),
            number("protocol"),
            number("source_port"),
            number("destination_port"),
        ];
        into.insert(id, row);
        Some(id)
    };
    // An invalid flow keeps its index.
    flows.iter().map(id_of).map(|id| id.unwrap_or(0)).collect()
}

/// The thresholds for a queue of a node with these units.
fn thresholds(settings: &CongestionSettings, units: NodeUnits) -> QueueThresholds {
    // Thresholds in bytes apply to nodes whose unit is known.
    let of_bytes = |bytes: u64| match units.queue? {
        QueueUnit::Bytes => Some(bytes),
        QueueUnit::Cells => bytes.checked_div(units.cell_bytes?.into()),
        QueueUnit::Packets => None,
    };
    let least = |occupancy: Option<u32>, bytes: Option<u64>| {
        occupancy.map(u64::from).into_iter().chain(bytes.and_then(of_bytes)).min()
    };
    QueueThresholds {
        trigger_latency: settings.trigger_ns,
        reset_latency: settings.reset_latency().0,
        trigger_occupancy: least(settings.trigger_occupancy, settings.trigger_bytes),
        reset_occupancy: least(settings.calm_occupancy(), settings.calm_bytes()),
    }
}

/// The samples in time order; if there are more than `limit`, the deepest of each of `limit` steps.
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

/// The flows with the most reports, and the index of each.
fn flows(
    rows: &[Row],
    max_occupancy: Option<u32>,
    named: impl FnOnce(&[u64]) -> Result<HashMap<u64, Row>, QueryError>,
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
    let names = named(&known.iter().map(|(flow, _)| *flow).collect::<Vec<_>>())?;
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

/// Congestion episodes and microbursts of the queue.
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

/// Adds the episodes that go on; history knows at most their beginning.
fn add_active(episodes: &mut Vec<QueueEpisode>, goes_on: Vec<QueueEpisode>) {
    episodes.retain(|known| goes_on.iter().all(|active| active.event != known.event));
    episodes.extend(goes_on);
    episodes.sort_by_key(|episode| episode.first);
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
/// A flow with this share of the reports while a queue is deep is a culprit.
const CULPRIT_SHARE: f64 = 0.1;
