//! Top talkers: who was reported most in a time, and how often in each step of it.

use axum::extract::State;
use axum::response::Response;
use inband_model::Nanos;
use inband_model::api::{TalkersBy, TalkersQuestion};
use serde_json::{Map, Value, json};

use super::Shared;
use super::asked::Asked;
use super::problem::Problem;
use super::query;
use super::views::json as answer;

/// The columns that name a talker.
const fn columns(by: TalkersBy) -> &'static [&'static str] {
    match by {
        TalkersBy::Flow => &["source", "destination", "protocol", "source_port", "destination_port"],
        TalkersBy::Pair => &["source", "destination"],
        TalkersBy::Source => &["source"],
        TalkersBy::Destination => &["destination"],
    }
}

/// The time that is asked about, in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u64,
    until: u64,
    step_ns: u64,
    steps: usize,
}

/// Those who were reported most, the most first, with their rates from step to step. History is asked, so that it goes as
/// far back as that, and within the limits of a question in SQL.
pub(super) async fn talkers(
    State(state): State<Shared>,
    Asked(wanted): Asked<TalkersQuestion>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let span = Span::of(&wanted, now)?;
    let limit = wanted.limit.unwrap_or(10).min(MAX_TALKERS);
    let found = query::ask(&state, sql(wanted.by, span, limit)).await?;
    let rows = serde_json::to_value(&found.rows).unwrap_or_default();
    let mut talkers: Vec<Map<String, Value>> = Vec::new();
    for row in rows.as_array().into_iter().flatten() {
        let key: Vec<(&str, &Value)> =
            columns(wanted.by).iter().enumerate().map(|(at, name)| (*name, &row[at])).collect();
        let is_next =
            talkers.last().is_none_or(|last| key.iter().any(|(name, value)| last.get(*name) != Some(value)));
        if is_next {
            talkers.push(begin(&state, &key, span));
        }
        let width = key.len();
        if let Some(talker) = talkers.last_mut() {
            note(talker, &row[width], &row[width + 1], span);
        }
    }
    let Span { from, until, step_ns, .. } = span;
    Ok(answer(&json!({
        "from": from,
        "until": until,
        "step_ns": step_ns,
        "talkers": talkers,
        "damage": found.findings.damage,
    })))
}

/// A talker with its names, of which no step is known yet.
fn begin(state: &Shared, key: &[(&str, &Value)], span: Span) -> Map<String, Value> {
    let mut talker = Map::new();
    for (name, value) in key {
        talker.insert((*name).to_owned(), (*value).clone());
        if let Some(address) = value.as_str().and_then(|address| address.parse().ok()) {
            talker.insert(format!("{name}_name"), state.names.address(address).into());
            talker.insert(format!("{name}_labels"), json!(state.names.address_labels(address)));
        }
    }
    talker.insert("reports".to_owned(), 0_u64.into());
    talker.insert("rates".to_owned(), vec![json!(0.0); span.steps].into());
    talker
}

/// Notes how many reports came in one step.
fn note(talker: &mut Map<String, Value>, step: &Value, reports: &Value, span: Span) {
    let (Some(step), Some(reports)) = (step.as_u64(), reports.as_u64()) else { return };
    let total = talker.get("reports").and_then(Value::as_u64).unwrap_or(0);
    talker.insert("reports".to_owned(), (total + reports).into());
    let place = usize::try_from(step).ok();
    if let Some(rate) = place.and_then(|at| talker.get_mut("rates")?.as_array_mut()?.get_mut(at)) {
        #[allow(clippy::cast_precision_loss, reason = "reports and seconds of one step are far below 2^52")]
        let rate_per_s = reports as f64 / (span.step_ns as f64 / 1e9);
        *rate = json!(rate_per_s);
    }
}

impl Span {
    fn of(wanted: &TalkersQuestion, now: Nanos) -> Result<Self, Problem> {
        let seconds = wanted.seconds.unwrap_or(DEFAULT_SECONDS);
        let step = wanted.step.unwrap_or((seconds / DEFAULT_STEPS).max(1));
        if seconds == 0 || seconds > MAX_SECONDS || step == 0 || seconds.div_ceil(step.max(1)) > MAX_STEPS {
            return Err(Problem::wrong(format!(
                "seconds has to be 1 to {MAX_SECONDS}, and step such that there are at most {MAX_STEPS}"
            )));
        }
        let until = wanted.until.unwrap_or(now.0);
        let steps = usize::try_from(seconds.div_ceil(step)).unwrap_or(usize::MAX);
        let from = until.saturating_sub(seconds * SECOND_NS);
        Ok(Self { from, until, step_ns: step * SECOND_NS, steps })
    }
}

/// The question: for each of the busiest, its reports in each step, in the order of the answer. The first row of a report
/// stands for the report.
fn sql(by: TalkersBy, span: Span, limit: usize) -> String {
    let columns = columns(by).join(", ");
    let Span { from, until, step_ns, .. } = span;
    format!(
        "WITH counts AS (SELECT {columns}, (time - {from}) / {step_ns} AS step, count(*) AS reports FROM observations \
         WHERE time >= {from} AND time < {until} AND hop_index = 0 AND source IS NOT NULL GROUP BY {columns}, step), \
         top AS (SELECT {columns}, sum(reports) AS total FROM counts GROUP BY {columns} \
         ORDER BY total DESC, {columns} LIMIT {limit}) \
         SELECT {columns}, step, reports FROM counts JOIN top USING ({columns}) ORDER BY total DESC, {columns}, step"
    )
}

const SECOND_NS: u64 = 1_000_000_000;
const DEFAULT_SECONDS: u64 = 300;
const DEFAULT_STEPS: u64 = 60;
/// Maximum number of talkers in one answer.
const MAX_TALKERS: usize = 100;
/// Maximum time that is asked about: a year.
const MAX_SECONDS: u64 = 366 * 24 * 3600;
/// Maximum number of steps.
const MAX_STEPS: u64 = 1_000;
