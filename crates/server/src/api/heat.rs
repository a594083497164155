//! Distribution of a value over time, from history.

use std::collections::HashMap;
use std::fmt::Write;

use axum::extract::State;
use axum::response::Response;
use inband_model::api::{Heat, HeatColumns, HeatOf, HeatQuestion, TimeRange};
use inband_model::{FlowId, Nanos};
use inband_store::{LinkQuestion, QueryError, Sizes, SizesOf, SizesQuestion, Sketch, Spread, SpreadQuestion};

use super::Shared;
use super::asked::Asked;
use super::history::{self, Past, count, flow_of, in_whole, number, step, text, within};
use super::problem::Problem;
use super::views::json;

pub(super) async fn heat(
    State(state): State<Shared>,
    Asked(question): Asked<HeatQuestion>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let range = question.time.resolve(now)?;
    let step_ns = step(range, question.step, USUAL_STEPS)?;
    let flow = question.flow.as_deref().map(|flow| flow_of("flow", flow)).transpose()?;
    if question.of == HeatOf::Link && (question.node.is_none() || question.interface.is_none()) {
        let what = "of=link needs the node and interface that packets leave".to_owned();
        return Err(Problem::parameter("of", what, "of=link with node and interface"));
    }
    let find = move |past: &mut Past| find(past, range, step_ns, now, flow, &question);
    Ok(json(&history::ask(&state, find).await?))
}

fn find(
    past: &mut Past,
    range: TimeRange,
    step_ns: u64,
    now: Nanos,
    flow: Option<FlowId>,
    question: &HeatQuestion,
) -> Result<Heat, QueryError> {
    let seconds = in_whole(SECOND_NS, range, now);
    let is_long = range.length() >= LONG_NS && flow.is_none();
    let is_of_all = flow.is_none() && place(question).is_empty();
    let (range, spread, source) = match question.of {
        HeatOf::Link => (range, of_link(past, range, step_ns, flow, question)?, "observations"),
        of if is_of_all && step_ns >= SECOND_NS && past.has_totals(range) => {
            (seconds, of_totals(past, seconds, step_ns, of)?, "totals")
        }
        _ if is_long && step_ns >= MINUTE_NS => {
            (range, of_minutes(past, range, step_ns, now, question)?, "minutes")
        }
        HeatOf::Latency if is_long && step_ns >= SECOND_NS => {
            (seconds, of_seconds(past, seconds, step_ns, now, question)?, "seconds")
        }
        HeatOf::Latency => {
            (range, of_hops(past, "hop_latency", range, step_ns, flow, question)?, "observations")
        }
        HeatOf::Occupancy => {
            (range, of_hops(past, "queue_occupancy", range, step_ns, flow, question)?, "observations")
        }
    };
    let mut columns = HeatColumns::default();
    for (step, size, count) in spread.counts() {
        columns.step.push(step);
        columns.size.push(size.into());
        columns.count.push(count);
    }
    Ok(Heat {
        from: range.from.into(),
        to: range.to.into(),
        step_ns,
        edges: (0..Spread::SIZES).map(Spread::edge).collect(),
        count: columns.count.iter().sum(),
        columns,
        source: source.to_owned(),
        damage: past.damage(),
    })
}

fn of_hops(
    past: &Past,
    column: &'static str,
    range: TimeRange,
    step_ns: u64,
    flow: Option<FlowId>,
    question: &HeatQuestion,
) -> Result<Spread, QueryError> {
    let HeatQuestion { node, interface, queue, .. } = *question;
    let to = Nanos(range.to.0.saturating_sub(1));
    let range = inband_store::TimeRange { from: range.from, to };
    past.history()
        .spread(&SpreadQuestion { column, range, step_ns, node, interface, queue, flow }, past.left()?)
}

/// From the sketches of `totals`.
fn of_totals(past: &Past, range: TimeRange, step_ns: u64, of: HeatOf) -> Result<Spread, QueryError> {
    let of = if of == HeatOf::Occupancy { SizesOf::Occupancies } else { SizesOf::Latencies };
    let mut spread = Spread::default();
    for (second, counts) in sizes(past, of, range)? {
        let step = u32::try_from((second.0 - range.from.0) / step_ns).unwrap_or(u32::MAX);
        for (size, count) in (0..).zip(counts).filter(|(_, count)| *count > 0) {
            spread.add(step, Spread::edge(size), count);
        }
    }
    Ok(spread)
}

/// From minutes: of latencies their sketches, of occupancy only the maximum of each minute is stored.
fn of_minutes(
    past: &mut Past,
    range: TimeRange,
    step_ns: u64,
    now: Nanos,
    question: &HeatQuestion,
) -> Result<Spread, QueryError> {
    let whole = in_whole(MINUTE_NS, range, Nanos(u64::MAX));
    let step_of =
        |minute: u64| u32::try_from(minute.saturating_sub(range.from.0) / step_ns).unwrap_or(u32::MAX);
    let mut spread = Spread::default();
    if question.of == HeatOf::Latency {
        let HeatQuestion { node, interface, queue, .. } = *question;
        let of = SizesOf::LatenciesOfQueues { node, interface, queue };
        for (minute, counts) in sizes(past, of, whole)? {
            for (size, count) in (0..).zip(counts) {
                let count = part_of_minute(range, now, minute.0, count);
                if count > 0 {
                    spread.add(step_of(minute.0), Spread::edge(size), count);
                }
            }
        }
        return Ok(spread);
    }
    let place = place(question);
    let sql = format!("SELECT time, queue_occupancy_max FROM minutes WHERE {}{place}", within(whole));
    for row in past.rows(&sql)? {
        number(&row[1]).into_iter().for_each(|value| spread.add(step_of(count(&row[0])), value, 1));
    }
    Ok(spread)
}

/// Counts by size from the sketches in a time range.
fn sizes(past: &Past, of: SizesOf, range: TimeRange) -> Result<Sizes, QueryError> {
    let to = Nanos(range.to.0.saturating_sub(1));
    let range = inband_store::TimeRange { from: range.from, to };
    past.history().sizes(&SizesQuestion { of, range }, past.left()?)
}

/// From the sketches of seconds that differ from their minutes; the rest of each minute is spread evenly over
/// it. The time range has whole seconds.
fn of_seconds(
    past: &mut Past,
    range: TimeRange,
    step_ns: u64,
    now: Nanos,
    question: &HeatQuestion,
) -> Result<Spread, QueryError> {
    let place = place(question);
    let whole = in_whole(MINUTE_NS, range, Nanos(u64::MAX));
    let mut spread = Spread::default();
    let step_of = |time: u64| u32::try_from((time - range.from.0) / step_ns).unwrap_or(u32::MAX);
    // Counts by minute and size that seconds already contain.
    let mut told: HashMap<(u64, u64), u64> = HashMap::new();
    let sql = format!("SELECT time, latency_sketch FROM seconds WHERE {}{place}", within(whole));
    for row in past.rows(&sql)? {
        let time = count(&row[0]);
        for (value, count) in text(&row[1]).and_then(Sketch::parse).unwrap_or_default().values() {
            if range.contains(Nanos(time)) {
                spread.add(step_of(time), value, count);
            }
            *told.entry((time - time % MINUTE_NS, value)).or_default() += count;
        }
    }
    let sql = format!("SELECT time, latency_sketch FROM minutes WHERE {}{place}", within(whole));
    for row in past.rows(&sql)? {
        let minute = count(&row[0]);
        let (start, end) = (minute.max(range.from.0), (minute + MINUTE_NS).min(range.to.0));
        let steps = u64::from(step_of(end - 1) - step_of(start)) + 1;
        for (value, mut count) in text(&row[1]).and_then(Sketch::parse).unwrap_or_default().values() {
            if let Some(told) = told.get_mut(&(minute, value)) {
                let less = count.min(*told);
                *told -= less;
                count -= less;
            }
            count = part_of_minute(range, now, minute, count);
            for step in 0..steps {
                let part = count * (step + 1) / steps - count * step / steps;
                if part > 0 {
                    spread.add(step_of(start) + u32::try_from(step).unwrap_or(0), value, part);
                }
            }
        }
    }
    Ok(spread)
}

/// The part of a minute's count in the time range, as if spread evenly over the minute up to `now`.
fn part_of_minute(range: TimeRange, now: Nanos, minute: u64, count: u64) -> u64 {
    let end = (minute + MINUTE_NS).min(now.0).max(minute + 1);
    let (from, to) = (range.from.0.clamp(minute, end), range.to.0.clamp(minute, end));
    let (part, whole) = (u128::from(count) * u128::from(to.saturating_sub(from)), u128::from(end - minute));
    u64::try_from((part + whole / 2) / whole).unwrap_or(count)
}

/// From hops whose reports also contain the next hop.
fn of_link(
    past: &Past,
    range: TimeRange,
    step_ns: u64,
    flow: Option<FlowId>,
    question: &HeatQuestion,
) -> Result<Spread, QueryError> {
    let (Some(node), Some(interface)) = (question.node, question.interface) else {
        return Ok(Spread::default());
    };
    let to = Nanos(range.to.0.saturating_sub(1));
    let range = inband_store::TimeRange { from: range.from, to };
    let queue = question.queue;
    past.history().link_spread(&LinkQuestion { range, step_ns, node, interface, queue, flow }, past.left()?)
}

/// The SQL conditions for node, interface and queue.
fn place(question: &HeatQuestion) -> String {
    let mut tests = String::new();
    let columns =
        [("node_id", question.node), ("egress_interface", question.interface), ("queue_id", question.queue)];
    for (column, value) in columns {
        // Writing to a string does not fail.
        let _ = value.map(|value| write!(tests, " AND {column} = {value}"));
    }
    tests
}

const USUAL_STEPS: u64 = 100;
const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;
/// From this length, minutes are read.
const LONG_NS: u64 = 10 * MINUTE_NS;
