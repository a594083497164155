//! What happened, who knows of it, and of what is nobody to be told?

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use inband_model::{Acknowledgement, EventView, Silence};
use serde::Deserialize;
use serde_json::json;

use super::Shared;
use super::asked::Asked;
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
}

/// Those that go on, then those that are past, the latest first.
pub(super) async fn events(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let limit = wanted.limit.unwrap_or(100).min(MOST);
    let events = state.look(move |sight| {
        let collector = &*sight.collector;
        let mut active: Vec<EventView> = collector.active_events().take(MOST).cloned().collect();
        active.sort_by_key(|view| std::cmp::Reverse(view.event.first));
        active.truncate(if wanted.active == Some(false) { 0 } else { MOST });
        let past = if wanted.active == Some(true) { 0 } else { limit };
        active.extend(collector.past_events().take(past).cloned());
        active
    });
    Ok(list(&events.await?, |view| state.names.of_event(view)))
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
        sight.collector.acknowledge(id, acknowledgement)
    });
    match noted.await? {
        true => Ok(answer(&json!({}))),
        false => Err(Problem::not_found("no event has this id")),
    }
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
    match state.look(move |sight| sight.collector.silence(sight.now, silence)).await? {
        Some(number) => Ok(answer(&json!({ "number": number }))),
        None => Err(Problem::unavailable("there are as many silences as there may be")),
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
        true => Ok(answer(&json!({}))),
        false => Err(Problem::not_found("no silence has this number")),
    }
}

/// Most events in one answer.
const MOST: usize = 4_096;
