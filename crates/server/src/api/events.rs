//! Events, acknowledgements and silences.

use std::cmp::Reverse;
use std::collections::HashSet;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use inband_export::named_event;
use inband_model::api::{EventsQuestion, Nothing, Number, NumberedSilence, TimeRange, TimeSelection};
use inband_model::{Acknowledgement, EndReason, EventId, EventView, Nanos, Phase, Silence};

use super::Shared;
use super::asked::Asked;
use super::history::flow_of;
use super::incidents;
use super::past::Filter;
use super::problem::{Problem, shown};
use super::views::{json as answer, list};

/// The filter of a request's parameters.
async fn filter(state: &Shared, wanted: &EventsQuestion) -> Result<Filter, Problem> {
    let (from, to) = match wanted.time() {
        // Only a start or only an end leaves the other side open.
        Some(TimeSelection { live: None, at: None, span: None, from, to })
            if from.is_none() || to.is_none() =>
        {
            (from.map(|time| time.0), to.map(|time| time.0))
        }
        Some(time) => {
            let range = time.resolve(state.read.now().await?)?;
            (Some(range.from), Some(range.to))
        }
        None => (None, None),
    };
    Ok(Filter {
        from,
        to,
        behind: None,
        kind: wanted.kind,
        severity: wanted.severity,
        node: wanted.node,
        key: wanted.key.clone(),
        flow: wanted.flow.as_deref().map(|flow| flow_of("flow", flow)).transpose()?,
    })
}

/// The active events, then past ones, latest first.
pub(super) async fn events(
    State(state): State<Shared>,
    Asked(wanted): Asked<EventsQuestion>,
) -> Result<Response, Problem> {
    let mut filter = filter(&state, &wanted).await?;
    let limit = wanted.limit.unwrap_or(100).min(MOST);
    let after = match &wanted.after {
        Some(after) => match find(&state, id("after", after)?).await? {
            Some(after) => Some(after),
            None => return Ok(list(&[], |view| named_event(&state.names, view))),
        },
        None => None,
    };
    // Behind a past event, only past ones follow, in the order of their ends.
    let place = after.as_ref().filter(|after| after.event.phase != Phase::Begin);
    let behind = place.map(|after| (after.event.last, after.id)).filter(|_| wanted.related.is_none());
    filter.behind = behind;
    let mut events = match wanted.related.as_deref() {
        Some(id) => {
            let mut events = related(&state, id).await?;
            events.retain(|view| match view.event.phase {
                Phase::Begin => filter.wants_active(&view.event),
                Phase::Once | Phase::End => filter.wants(&view.event),
            });
            events
        }
        None => {
            let (mut events, mut past) = gather(&state, filter, wanted.active, limit).await?;
            events.append(&mut past);
            events
        }
    };
    if behind.is_none()
        && let Some(after) = after
        && let Some(place) = events.iter().position(|view| view.id == after.id)
    {
        events.drain(..=place);
    }
    if wanted.after.is_some() {
        events.truncate(limit);
    }
    state.said.note(&mut events);
    Ok(list(&events, |view| named_event(&state.names, view)))
}

/// The events active in a time range, those still active first.
pub(super) async fn within(state: &Shared, range: TimeRange, most: usize) -> Result<Vec<EventView>, Problem> {
    let filter = Filter { from: Some(range.from), to: Some(range.to), ..Filter::default() };
    let (mut events, mut past) = gather(state, filter, None, most).await?;
    events.append(&mut past);
    Ok(events)
}

/// The events on the same subject as an event that came together with it.
async fn related(state: &Shared, text: &str) -> Result<Vec<EventView>, Problem> {
    let of = event_of(state, "related", text).await?;
    let range = TimeRange {
        from: Nanos(of.event.first.0.saturating_sub(AROUND_NS)),
        to: Nanos(of.event.last.0.saturating_add(AROUND_NS)),
    };
    let events = within(state, range, MOST).await?;
    let together =
        incidents::together(&events).into_iter().find(|all| all.iter().any(|view| view.id == of.id));
    Ok(together.map_or_else(|| vec![of], |all| all.into_iter().cloned().collect()))
}

/// The matching events: active ones, the latest beginnings first, and at most `limit` past ones, the latest
/// ends first.
async fn gather(
    state: &Shared,
    filter: Filter,
    active: Option<bool>,
    limit: usize,
) -> Result<(Vec<EventView>, Vec<EventView>), Problem> {
    let (is_active_wanted, is_past_wanted) = (active != Some(false), active != Some(true));
    let known = state.read.events().await?;
    let mut events: Vec<EventView> = Vec::new();
    if is_active_wanted && filter.behind.is_none() {
        let wants = |view: &&EventView| filter.wants_active(&view.event);
        events.extend(known.active.iter().filter(wants).take(MOST).cloned());
        events.sort_by_key(|view| Reverse((view.event.first, view.id)));
    }
    if !is_past_wanted {
        return Ok((events, Vec::new()));
    }
    let order = |view: &EventView| Reverse((view.event.last, view.id));
    let mut past: Vec<&EventView> = known.past.iter().filter(|view| filter.wants(&view.event)).collect();
    past.sort_by_key(|view| order(view));
    past.truncate(limit);
    let mut past: Vec<EventView> = past.into_iter().cloned().collect();
    if past.len() < limit {
        // A time range includes events of earlier runs, and those the collector has evicted.
        let earlier = match filter.from.is_some() || filter.to.is_some() {
            true => state.past_events(filter, limit + known.active.len() + known.past.len()).await?,
            false => {
                let earlier = state.earlier.get().into_iter().flatten();
                earlier.filter(|view| filter.wants(&view.event)).cloned().collect()
            }
        };
        // What the collector knows is later than what it has written.
        let ids: HashSet<_> = known.active.iter().chain(&known.past).map(|view| view.id).collect();
        let now = state.read.now().await?;
        let earlier = earlier.into_iter().filter(|view| !ids.contains(&view.id));
        past.extend(earlier.map(|view| of_earlier_run(now, view)));
        past.sort_by_key(order);
        past.truncate(limit);
    }
    Ok((events, past))
}

/// An event of history that the collector does not know, at `now`. Where no end is written, the event's run
/// has ended without it.
fn of_earlier_run(now: Nanos, mut view: EventView) -> EventView {
    // What the collector knows was read before history.
    let may_be_new = now.since(view.event.last) < MAY_BE_NEW;
    if view.event.phase == Phase::Begin && !may_be_new {
        view.event.phase = Phase::End;
        view.event.end_reason = Some(EndReason::RunEnded);
    }
    view
}

/// One event; from history, its latest row.
pub(super) async fn event(
    State(state): State<Shared>,
    Path(id): Path<String>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let found = find(&state, self::id("id", &id)?).await?;
    let mut found = vec![found.ok_or_else(|| Problem::not_found("no event has this id"))?];
    state.said.note(&mut found);
    Ok(answer(&named_event(&state.names, &found[0])))
}

/// The event that a parameter refers to by its id.
pub(super) async fn event_of(state: &Shared, parameter: &str, text: &str) -> Result<EventView, Problem> {
    let found = find(state, id(parameter, text)?).await?;
    found.ok_or_else(|| Problem::not_found("no event has this id"))
}

/// The event with an id.
async fn find(state: &Shared, id: EventId) -> Result<Option<EventView>, Problem> {
    let known = state.read.events().await?;
    let is_it = |view: &&EventView| view.id == id;
    let mut found: Vec<EventView> =
        known.active.iter().chain(&known.past).find(is_it).cloned().into_iter().collect();
    if let Some(found) = found.pop() {
        return Ok(Some(found));
    }
    let earlier = state.earlier.get().into_iter().flatten();
    let found = match earlier.into_iter().find(|view| view.id == id) {
        Some(view) => Some(view.clone()),
        None => state.past_event(id).await?,
    };
    let now = state.read.now().await?;
    Ok(found.map(|view| of_earlier_run(now, view)))
}

/// Parses the id of an event in a path or parameter.
fn id(parameter: &str, text: &str) -> Result<EventId, Problem> {
    let shown = shown(text);
    let wrong = |_| {
        let what = format!("`{shown}` is not the id of an event");
        Problem::parameter(parameter, what, "an id as /api/v1/events has it")
    };
    text.parse().map_err(wrong)
}

/// Acknowledges an event.
pub(super) async fn acknowledge(
    State(state): State<Shared>,
    Path(id): Path<String>,
    body: Result<Json<Acknowledgement>, JsonRejection>,
) -> Result<Response, Problem> {
    let id = self::id("id", &id)?;
    let Json(given) = body.map_err(|error| Problem::unreadable(&error))?;
    let noted = state.look(move |sight| {
        let acknowledgement = Acknowledgement { at: sight.now, ..given };
        (sight.collector.acknowledge(id, acknowledgement.clone()), acknowledgement)
    });
    let (is_known, acknowledgement) = noted.await?;
    let is_known = is_known
        || state.earlier.get().is_some_and(|earlier| earlier.iter().any(|view| view.id == id))
        || state.past_event(id).await.is_ok_and(|past| past.is_some());
    if !is_known {
        return Err(Problem::not_found("no event has this id"));
    }
    state.said.acknowledge(id, acknowledgement);
    state.keep_what_was_said().await?;
    Ok(answer(&Nothing {}))
}

/// The silences in force, with their numbers.
pub(super) async fn silences(
    State(state): State<Shared>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let list = state.look(|sight| {
        let silences = sight.collector.silences();
        silences
            .map(|(number, silence)| NumberedSilence { number, silence: silence.clone() })
            .collect::<Vec<_>>()
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
            Ok(answer(&Number { number }))
        }
        (_, None) => Err(Problem::unavailable("there are as many silences as there may be")),
    }
}

/// Lifts a silence.
pub(super) async fn lift(
    State(state): State<Shared>,
    Path(number): Path<String>,
) -> Result<Response, Problem> {
    let shown = shown(&number);
    let wrong = |_| {
        let what = format!("`{shown}` is not the number of a silence");
        Problem::parameter("number", what, "a number, as /api/v1/silences has it")
    };
    let number = number.parse().map_err(wrong)?;
    match state.look(move |sight| sight.collector.lift_silence(number)).await? {
        true => {
            state.said.lift_silence(number);
            state.keep_what_was_said().await?;
            Ok(answer(&Nothing {}))
        }
        false => Err(Problem::not_found("no silence has this number")),
    }
}

/// Maximum number of events in one answer.
const MOST: usize = 4_096;
/// How old the beginning of an event is that no collector knows.
const MAY_BE_NEW: Nanos = Nanos::from_secs(10);
/// How far before and after an event related events are searched.
const AROUND_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use inband_model::{Confidence, EndReason, Event, EventDetail, EventView, NodeId, Phase, Severity};
    use inband_model::{Nanos, ReportReference, UnknownNode};

    use super::of_earlier_run;

    #[test]
    fn an_event_without_an_end_ended_with_its_run() {
        let report =
            ReportReference { node_id: NodeId(7), hw_id: 0, sequence: 1, received_at: Nanos::from_secs(100) };
        let detail = EventDetail::UnknownNode(UnknownNode { node_id: NodeId(7), address: None });
        let event = Event::of_report(detail, Severity::Warning, "7".to_owned(), Confidence::Certain, report);
        let event = Event { phase: Phase::Begin, ..event };
        let view = EventView { id: event.id(), event, acknowledged: None };

        let earlier = of_earlier_run(Nanos::from_secs(110), view.clone());
        assert_eq!((earlier.event.phase, earlier.event.end_reason), (Phase::End, Some(EndReason::RunEnded)));
        assert_eq!(of_earlier_run(Nanos::from_secs(109), view.clone()), view);
    }
}
