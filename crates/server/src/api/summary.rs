//! Ledger, incidents and key figures over time, in one answer.

use std::cmp::Reverse;
use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use inband_model::api::{Incident, Summary, SummaryColumns, SummaryQuestion, TimeRange};
use inband_model::{EventView, Names, Nanos, Phase};
use inband_store::QueryError;

use super::Shared;
use super::asked::Asked;
use super::events::within as events_within;
use super::history::{self, Past, count, in_whole, number, small, step, within};
use super::incidents;
use super::problem::Problem;
use super::views::json;
use crate::read_model::Figures;

pub(super) async fn summary(
    State(state): State<Shared>,
    Asked(question): Asked<SummaryQuestion>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let Figures { ledger, nodes, flows, active_events } = state.read.figures().await?;
    let range = question.time.resolve(now)?;
    let step_ns = step(range, question.step, USUAL_STEPS)?;
    let events = events_within(&state, range, MAX_EVENTS).await?;
    let (range, steps, damage) = match state.archive.is_some() {
        true => history::ask(&state, move |past| steps(past, range, step_ns, now)).await?,
        false => (range, SummaryColumns::default(), 0),
    };
    Ok(json(&Summary {
        now: now.into(),
        from: range.from.into(),
        to: range.to.into(),
        step_ns,
        ledger,
        nodes: nodes as u64,
        flows: flows as u64,
        active_events: active_events as u64,
        incidents: list(&state.names, &events),
        steps,
        damage,
    }))
}

/// Key figures by step: from hops for short steps, from `totals` for others, from minutes for long ranges;
/// the time range that they are of, which has whole seconds or minutes, and the number of damaged parts.
fn steps(
    past: &mut Past,
    range: TimeRange,
    step_ns: u64,
    now: Nanos,
) -> Result<(TimeRange, SummaryColumns, u32), QueryError> {
    let is_long = range.length() > LONG_NS && step_ns >= MINUTE_NS;
    let has_totals = step_ns >= SECOND_NS && past.has_totals(range);
    let (table, columns) = match (has_totals, is_long) {
        (true, _) => (
            "totals",
            "sum(hops) AS n, max(latency_max) AS l, max(queue_occupancy_max) AS q, sum(dropped) AS d",
        ),
        (false, true) => (
            "minutes",
            "sum(count) AS n, max(latency_max) AS l, max(queue_occupancy_max) AS q, sum(dropped) AS d",
        ),
        (false, false) => {
            ("observations", "count(*) AS n, max(hop_latency) AS l, max(queue_occupancy) AS q, hop_count")
        }
    };
    let is_rolled_up = has_totals || is_long;
    let range = match (has_totals, is_long) {
        (true, _) => in_whole(SECOND_NS, range, now),
        (false, true) => in_whole(MINUTE_NS, range, now),
        (false, false) => range,
    };
    let group = if is_rolled_up { "step" } else { "step, hop_count" };
    let sql = format!(
        "SELECT (time - {}) / {step_ns} AS step, {columns} FROM {table} WHERE {} \
         GROUP BY {group} ORDER BY step",
        range.from.0,
        within(range)
    );
    let dropped = match is_rolled_up {
        true => HashMap::new(),
        false => dropped(past, range, step_ns)?,
    };
    let mut steps = SummaryColumns::default();
    for row in past.rows(&sql)? {
        let step = small(&row[0]).unwrap_or(0);
        if steps.step.last() != Some(&step) {
            steps.step.push(step);
            steps.hops.push(0);
            steps.max_latency.push(None);
            steps.max_occupancy.push(None);
            steps.drops.push(match is_rolled_up {
                true => row.get(4).and_then(number),
                false => Some(dropped.get(&step.into()).copied().unwrap_or(0)),
            });
        }
        // The row of a report without hops is no hop.
        if is_rolled_up || row.get(4).is_some_and(|hops| count(hops) > 0) {
            let at = steps.step.len() - 1;
            steps.hops[at] += count(&row[1]);
            steps.max_latency[at] = steps.max_latency[at].max(number(&row[2]));
            steps.max_occupancy[at] = steps.max_occupancy[at].max(number(&row[3]));
        }
    }
    Ok((range, steps, past.damage()))
}

/// Reports of drops by step, from hops.
fn dropped(past: &mut Past, range: TimeRange, step_ns: u64) -> Result<HashMap<u64, u64>, QueryError> {
    // The first row of a report represents the report.
    let sql = format!(
        "SELECT (time - {}) / {step_ns} AS step, count(*) AS n FROM observations \
         WHERE dropped = 1 AND hop_index = 0 AND {} GROUP BY step",
        range.from.0,
        within(range)
    );
    Ok(past.rows(&sql)?.iter().map(|row| (count(&row[0]), count(&row[1]))).collect())
}

/// Incidents, active first, then latest first.
fn list(names: &Names, events: &[EventView]) -> Vec<Incident> {
    let together = incidents::together(events);
    let mut list: Vec<Incident> = together.iter().map(|views| incident(names, views)).collect();
    list.sort_by_key(|incident| (Reverse(incident.active), Reverse(incident.last)));
    list.truncate(MAX_INCIDENTS);
    list
}

fn incident(names: &Names, views: &[&EventView]) -> Incident {
    let mut worst_first = views.to_vec();
    worst_first.sort_by_key(|view| (Reverse(view.event.severity), view.event.first));
    let mut kinds: Vec<String> = Vec::new();
    for kind in worst_first.iter().map(|view| view.event.kind().to_string()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let first = views.iter().map(|view| view.event.first).min().unwrap_or_default();
    let last = views.iter().map(|view| view.event.last).max().unwrap_or_default();
    Incident {
        title: views.first().map_or(String::new(), |view| names.key(&incidents::subject(&view.event.key))),
        first: first.into(),
        last: last.into(),
        severity: worst_first.first().map_or(inband_model::Severity::Info, |view| view.event.severity),
        active: views.iter().any(|view| view.event.phase == Phase::Begin),
        kinds,
        events: worst_first.iter().take(MAX_NAMED).map(|view| view.id.to_string()).collect(),
        count: views.len() as u64,
    }
}

const USUAL_STEPS: u64 = 60;
const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60 * SECOND_NS;
/// Longer ranges are read from minutes.
const LONG_NS: u64 = 60 * MINUTE_NS;
const MAX_EVENTS: usize = 2_000;
const MAX_INCIDENTS: usize = 50;
const MAX_NAMED: usize = 20;
