//! Events, the ledger and changes, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use inband_model::api::StreamQuestion;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::{Stream, StreamExt};

use super::Shared;
use super::asked::Asked;
use super::changes;
use super::places::Place;
use super::problem::Problem;
use crate::live::Message;

/// Headers of a stream.
type Unbuffered = [(&'static str, &'static str); 1];

/// The requested messages.
#[derive(Debug, Clone, Copy)]
struct Topics {
    event: bool,
    ledger: bool,
    map: bool,
    flows: bool,
}

/// Sends `event`, `ledger`, and once a second `map` and `flows` with what has changed, each a JSON object;
/// `missed` with a number if the listener was too slow, or reconnects too late. A stream begins
/// with an id, and events have ids: a listener that reconnects with `Last-Event-ID` receives those that came
/// in between.
pub(super) async fn stream(
    State(state): State<Shared>,
    Extension(place): Extension<Arc<Place>>,
    headers: HeaderMap,
    Asked(question): Asked<StreamQuestion>,
) -> Result<(Unbuffered, Sse<impl Stream<Item = Result<Event, Infallible>>>), Problem> {
    let topics = Topics::of(question.topics.as_deref())?;
    if !state.places.begin_stream(&place) {
        return Err(Problem::unavailable("no stream is allowed: api.max_streams is 0"));
    }
    let header = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let receiver = state.live.listen();
    let missed = state.live.since(header.or(question.last_event_id.as_deref()));
    let last = missed.last;
    // An id without data changes only what the listener sends when it reconnects.
    let place_now = topics.event.then(|| Event::default().id(state.live.id(last)));
    let lost = (missed.lost > 0).then(|| Event::default().event("missed").data(missed.lost.to_string()));
    let again = missed.messages.into_iter().filter(move |_| topics.event);
    let again: Vec<Event> =
        lost.into_iter().chain(again.map(|message| event(&state, message))).chain(place_now).collect();
    let follower = (topics.map || topics.flows).then(|| changes::follow(&state));
    let new = BroadcastStream::new(receiver).filter_map(move |message| {
        // Held as long as the stream lasts.
        let _ = &follower;
        match message {
            Ok(message) => {
                let is_told = message.number.is_some_and(|number| number <= last);
                (topics.wants(message.name) && !is_told).then(|| event(&state, message))
            }
            Err(BroadcastStreamRecvError::Lagged(missed)) => {
                Some(Event::default().event("missed").data(missed.to_string()))
            }
        }
    });
    let messages = tokio_stream::iter(again).chain(new).map(Ok);
    Ok((UNBUFFERED, Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))))
}

fn event(state: &Shared, message: Message) -> Event {
    let event = match message.number {
        Some(number) => Event::default().id(state.live.id(number)),
        None => Event::default(),
    };
    event.event(message.name).data(message.json)
}

impl Topics {
    fn of(list: Option<&str>) -> Result<Self, Problem> {
        let mut topics = Self { event: list.is_none(), ledger: list.is_none(), map: false, flows: false };
        for topic in list.into_iter().flat_map(|list| list.split(',')) {
            match topic.trim() {
                "event" => topics.event = true,
                "ledger" => topics.ledger = true,
                "map" => topics.map = true,
                "flows" => topics.flows = true,
                _ => {
                    let what = "topics names something that is not told";
                    return Err(Problem::parameter(
                        "topics",
                        what,
                        "event, ledger, map, flows, with commas between them",
                    ));
                }
            }
        }
        Ok(topics)
    }

    fn wants(self, name: &str) -> bool {
        match name {
            "event" => self.event,
            "ledger" => self.ledger,
            "map" => self.map,
            _ => self.flows,
        }
    }
}

/// A header for proxies, such as nginx, which would keep messages back until there are many.
const UNBUFFERED: Unbuffered = [("x-accel-buffering", "no")];
const KEEP_ALIVE: Duration = Duration::from_secs(15);
