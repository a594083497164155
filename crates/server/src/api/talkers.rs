//! Top talkers: the flows or hosts with the most reports in a time range, with their rates in each step.

use std::net::IpAddr;

use axum::extract::State;
use axum::response::Response;
use inband_model::api::{Talker, TalkerDestination, TalkerSource, Talkers, TalkersBy, TalkersQuestion};
use inband_model::{Names, Nanos};
use inband_store::Cell;

use super::Shared;
use super::asked::Asked;
use super::problem::Problem;
use super::query;
use super::views::json as answer;

/// The columns that identify a talker.
const fn columns(by: TalkersBy) -> &'static [&'static str] {
    match by {
        TalkersBy::Flow => &["source", "destination", "protocol", "source_port", "destination_port"],
        TalkersBy::Pair => &["source", "destination"],
        TalkersBy::Source => &["source"],
        TalkersBy::Destination => &["destination"],
    }
}

/// The requested time range, in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u64,
    until: u64,
    step_ns: u64,
    steps: usize,
}

/// The talkers with the most reports, most first, with their rates in each step. They come from history,
/// within the limits of an SQL query.
pub(super) async fn talkers(
    State(state): State<Shared>,
    Asked(wanted): Asked<TalkersQuestion>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let span = Span::of(&wanted, now)?;
    let limit = wanted.limit.unwrap_or(10).min(MAX_TALKERS);
    let found = query::ask(&state, sql(wanted.by, span, limit)).await?;
    let mut talkers: Vec<Talker> = Vec::new();
    // The steps of a talker are consecutive.
    let mut of_last = None;
    for row in &found.rows {
        let (key, counts) = row.split_at(columns(wanted.by).len().min(row.len()));
        if of_last != Some(key) {
            talkers.push(begin(&state.names, columns(wanted.by), key, span));
            of_last = Some(key);
        }
        if let (Some(talker), [step, reports]) = (talkers.last_mut(), counts) {
            note(talker, step, reports, span);
        }
    }
    let Span { from, until, step_ns, .. } = span;
    let damage = found.findings.damage.iter().cloned().collect();
    Ok(answer(&Talkers { from: Nanos(from), until: Nanos(until), step_ns, talkers, damage }))
}

/// A talker with its names, without any step.
fn begin(names: &Names, columns: &[&str], key: &[Cell], span: Span) -> Talker {
    let mut talker = Talker { rates: vec![0.0; span.steps], ..Talker::default() };
    for (column, cell) in columns.iter().zip(key) {
        match *column {
            "source" => {
                talker.source = address(cell).map(|address| TalkerSource {
                    source: address,
                    source_name: names.address(address).map(str::to_owned),
                    source_labels: names.address_labels(address),
                });
            }
            "destination" => {
                talker.destination = address(cell).map(|address| TalkerDestination {
                    destination: address,
                    destination_name: names.address(address).map(str::to_owned),
                    destination_labels: names.address_labels(address),
                });
            }
            "protocol" => talker.protocol = integer(cell).and_then(|number| number.try_into().ok()),
            "source_port" => talker.source_port = integer(cell).and_then(|port| port.try_into().ok()),
            _ => talker.destination_port = integer(cell).and_then(|port| port.try_into().ok()),
        }
    }
    talker
}

/// Records the number of reports in one step.
fn note(talker: &mut Talker, step: &Cell, reports: &Cell, span: Span) {
    let (Some(step), Some(reports)) = (integer(step), integer(reports)) else { return };
    talker.reports += reports;
    let place = usize::try_from(step).ok();
    if let Some(rate) = place.and_then(|at| talker.rates.get_mut(at)) {
        #[allow(clippy::cast_precision_loss, reason = "reports and seconds of one step are far below 2^52")]
        let rate_per_s = reports as f64 / (span.step_ns as f64 / 1e9);
        *rate = rate_per_s;
    }
}

fn address(cell: &Cell) -> Option<IpAddr> {
    let Cell::Text(text) = cell else { return None };
    text.parse().ok()
}

fn integer(cell: &Cell) -> Option<u64> {
    let Cell::Integer(number) = cell else { return None };
    u64::try_from(*number).ok()
}

impl Span {
    fn of(wanted: &TalkersQuestion, now: Nanos) -> Result<Self, Problem> {
        let seconds = wanted.seconds.unwrap_or(DEFAULT_SECONDS);
        if seconds == 0 || seconds > MAX_SECONDS {
            let what = format!("`{seconds}` is not allowed for seconds");
            return Err(Problem::parameter("seconds", what, format!("1 to {MAX_SECONDS}")));
        }
        let step = wanted.step.unwrap_or((seconds / DEFAULT_STEPS).max(1));
        let least = seconds.div_ceil(MAX_STEPS);
        if step < least {
            let what = format!("`{step}` is not allowed for step");
            let allowed = format!("at least {least}, so that there are at most {MAX_STEPS} steps");
            return Err(Problem::parameter("step", what, allowed));
        }
        let until = wanted.until.unwrap_or(now.0);
        let steps = usize::try_from(seconds.div_ceil(step)).unwrap_or(usize::MAX);
        let from = until.saturating_sub(seconds * SECOND_NS);
        Ok(Self { from, until, step_ns: step * SECOND_NS, steps })
    }
}

/// The SQL query: for each of the busiest talkers, its reports in each step, in the order of the answer. The
/// first row of a report represents the report.
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
/// Maximum length of the time range: a year.
const MAX_SECONDS: u64 = 366 * 24 * 3600;
/// Maximum number of steps.
const MAX_STEPS: u64 = 1_000;
