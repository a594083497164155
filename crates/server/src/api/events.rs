//! What happened, who knows of it, and of what is nobody to be told?

use std::collections::HashSet;
use std::time::UNIX_EPOCH;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use inband_model::{Acknowledgement, EventId, EventKind, EventView, Nanos, Severity, Silence};
use serde::Deserialize;
use serde_json::json;

use super::Shared;
use super::asked::Asked;
use super::past::Filter;
use super::problem::Problem;
use super::views::{json as answer, list};

/// Which events are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    /// Only those that go on, or only those that are past.
    active: Option<bool>,
    /// Most past ones; 100 where nothing is said.
    limit: Option<usize>,
    /// A time, which brings in those of history.
    from: Option<String>,
    /// A time, which brings in those of history.
    to: Option<String>,
    kind: Option<EventKind>,
    severity: Option<Severity>,
    node: Option<u32>,
    key: Option<String>,
}

impl Wanted {
    fn filter(&self) -> Result<Filter, Problem> {
        let time = |text: &Option<String>| text.as_deref().map(time).transpose();
        Ok(Filter {
            from: time(&self.from)?,
            to: time(&self.to)?,
            kind: self.kind,
            severity: self.severity,
            node: self.node,
            key: self.key.clone(),
        })
    }

    /// Whether those of before this start, and those the collector has forgotten, are wanted.
    fn reaches_back(&self) -> bool {
        (self.from.is_some() || self.to.is_some()) && self.active != Some(true)
    }
}

/// A time as nanoseconds since 1970, or as `2026-01-31T12:00:00Z`.
fn time(text: &str) -> Result<Nanos, Problem> {
    if let Ok(nanos) = text.parse() {
        return Ok(Nanos(nanos));
    }
    let since_1970 = humantime::parse_rfc3339_weak(text)
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_nanos()).ok());
    let wrong = || {
        Problem::wrong(format!(
            "`{text}` is not a time: nanoseconds since 1970, or such as 2026-01-31T12:00:00Z"
        ))
    };
    since_1970.map(Nanos).ok_or_else(wrong)
}

/// Those that go on, then those that are past, the latest first.
pub(super) async fn events(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let filter = wanted.filter()?;
    let limit = wanted.limit.unwrap_or(100).min(MOST);
    let (is_active_wanted, is_past_wanted) = (wanted.active != Some(false), wanted.active != Some(true));
    let known = filter.clone();
    let look = state.look(move |sight| {
        let collector = &*sight.collector;
        let wants = |view: &&EventView| known.wants(&view.event);
        let active = collector.active_events().filter(|_| is_active_wanted).filter(wants);
        let past = collector.past_events().filter(|_| is_past_wanted).filter(wants);
        (active.take(MOST).cloned().collect::<Vec<_>>(), past.take(limit).cloned().collect::<Vec<_>>())
    });
    let (mut events, mut past) = look.await?;
    events.sort_by_key(|view| std::cmp::Reverse(view.event.first));
    if is_past_wanted && past.len() < limit {
        let earlier = match wanted.reaches_back() {
            true => state.past_events(filter, limit + events.len() + past.len()).await?,
            false => state
                .earlier
                .get()
                .into_iter()
                .flatten()
                .filter(|view| filter.wants(&view.event))
                .cloned()
                .collect(),
        };
        let known: HashSet<_> = events.iter().chain(&past).map(|view| view.id).collect();
        past.extend(earlier.into_iter().filter(|view| !known.contains(&view.id)));
        past.sort_by_key(|view| std::cmp::Reverse(view.event.last));
        past.truncate(limit);
    }
    events.append(&mut past);
    state.said.note(&mut events);
    Ok(list(&events, |view| state.names.of_event(view)))
}

/// One event; of those of history, the latest.
pub(super) async fn event(State(state): State<Shared>, Path(id): Path<String>) -> Result<Response, Problem> {
    let id: EventId = id.parse().map_err(|_| Problem::wrong(format!("`{id}` is not the id of an event")))?;
    let known = state.look(move |sight| {
        let collector = &*sight.collector;
        let mut known = collector.active_events().chain(collector.past_events());
        known.find(|view| view.id == id).cloned()
    });
    let mut found: Vec<EventView> = known.await?.into_iter().collect();
    if found.is_empty() {
        let earlier = state.earlier.get().into_iter().flatten();
        found.extend(earlier.filter(|view| view.id == id).cloned());
    }
    if found.is_empty() {
        let past = state.past_events(Filter::default(), usize::MAX).await?;
        found.extend(past.into_iter().filter(|view| view.id == id));
    }
    state.said.note(&mut found);
    let event = found.first().ok_or_else(|| Problem::not_found("no event has this id"))?;
    Ok(answer(&state.names.of_event(event)))
}

/// Notes that somebody knows of an event.
pub(super) async fn acknowledge(
    State(state): State<Shared>,
    Path(id): Path<String>,
    body: Result<Json<Acknowledgement>, JsonRejection>,
) -> Result<Response, Problem> {
    let id = id.parse().map_err(|_| Problem::wrong(format!("`{id}` is not the id of an event")))?;
    let Json(given) = body.map_err(|error| Problem::unreadable(&error))?;
    let noted = state.look(move |sight| {
        let acknowledgement = Acknowledgement { at: sight.now, ..given };
        (sight.collector.acknowledge(id, acknowledgement.clone()), acknowledgement)
    });
    let (is_known, acknowledgement) = noted.await?;
    let is_known = is_known
        || state.earlier.get().is_some_and(|earlier| earlier.iter().any(|view| view.id == id))
        || state
            .past_events(Filter::default(), usize::MAX)
            .await
            .is_ok_and(|past| past.iter().any(|view| view.id == id));
    if !is_known {
        return Err(Problem::not_found("no event has this id"));
    }
    state.said.acknowledge(id, acknowledgement);
    state.keep_what_was_said().await?;
    Ok(answer(&json!({})))
}

/// The silences in force, by their numbers.
pub(super) async fn silences(State(state): State<Shared>) -> Result<Response, Problem> {
    let list = state.look(|sight| {
        let silences = sight.collector.silences();
        silences.map(|(number, silence)| json!({ "number": number, "silence": silence })).collect::<Vec<_>>()
    });
    Ok(answer(&list.await?))
}

/// Adds a silence.
pub(super) async fn silence(
    State(state): State<Shared>,
    body: Result<Json<Silence>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(silence) = body.map_err(|error| Problem::unreadable(&error))?;
    let given = silence.clone();
    let added = state.look(move |sight| (sight.now, sight.collector.silence(given)));
    match added.await? {
        (now, Some(number)) => {
            state.said.add_silence(now, number, silence);
            state.keep_what_was_said().await?;
            Ok(answer(&json!({ "number": number })))
        }
        (_, None) => Err(Problem::unavailable("there are as many silences as there may be")),
    }
}

/// Lifts a silence.
pub(super) async fn lift(
    State(state): State<Shared>,
    Path(number): Path<String>,
) -> Result<Response, Problem> {
    let wrong = |_| Problem::wrong(format!("`{number}` is not the number of a silence"));
    let number = number.parse().map_err(wrong)?;
    match state.look(move |sight| sight.collector.lift_silence(number)).await? {
        true => {
            state.said.lift_silence(number);
            state.keep_what_was_said().await?;
            Ok(answer(&json!({})))
        }
        false => Err(Problem::not_found("no silence has this number")),
    }
}

/// Most events in one answer.
const MOST: usize = 4_096;
