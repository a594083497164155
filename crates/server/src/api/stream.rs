//! How are events and counts followed as they come? As server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::{Stream, StreamExt};

use super::Shared;
use super::places::Place;
use super::problem::Problem;
use crate::live::Message;

/// `event` and `ledger`, each a JSON object; `missed` with their number where the listener was too slow.
pub(super) async fn stream(
    State(state): State<Shared>,
    Extension(place): Extension<Arc<Place>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    if !state.places.begin_stream(&place) {
        return Err(Problem::unavailable("no stream is allowed: api.max_streams is 0"));
    }
    let messages = BroadcastStream::new(state.live.listen()).map(|message| {
        Ok(match message {
            Ok(Message { name, json }) => Event::default().event(name).data(json),
            Err(BroadcastStreamRecvError::Lagged(missed)) => {
                Event::default().event("missed").data(missed.to_string())
            }
        })
    });
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

const KEEP_ALIVE: Duration = Duration::from_secs(15);
