//! Middleware that lets in who may ask, with the whole of the request.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::Shared;
use super::access::Right;
use super::places::{Phase, Place, Reason};
use super::problem::Problem;

/// Lets requests through that may ask.
pub(super) async fn guard_reading(state: State<Shared>, request: Request, next: Next) -> Response {
    guard(&state, Right::Read, request, next).await
}

/// Lets requests through that may change something.
pub(super) async fn guard_changes(state: State<Shared>, request: Request, next: Next) -> Response {
    guard(&state, Right::Change, request, next).await
}

async fn guard(state: &Shared, right: Right, request: Request, next: Next) -> Response {
    if let Err(problem) = state.access.check(request.headers(), right) {
        return problem.into_response();
    }
    let request = match with_whole_body(state, request).await {
        Ok(request) => request,
        Err(problem) => return problem.into_response(),
    };
    // Answers that go on are not cut off.
    let answer = timeout(MAX_REQUEST, next.run(request)).await;
    answer.unwrap_or_else(|_| Problem::slow().into_response())
}

/// Waits for the body, so that whoever sends it slowly is known for it.
async fn with_whole_body(state: &Shared, request: Request) -> Result<Request, Problem> {
    let place = request.extensions().get::<Arc<Place>>().cloned();
    let (Some(place), false) = (place, request.body().is_end_stream()) else { return Ok(request) };
    let (parts, body) = request.into_parts();
    let most = if parts.uri.path() == DECODE { MAX_CAPTURE_BYTES } else { MAX_BODY_BYTES };
    place.enter(Phase::Body);
    let read = timeout(state.places.limits().body, read_whole(body, most)).await;
    place.enter(Phase::Answer);
    match read {
        Ok(Some(bytes)) => Ok(Request::from_parts(parts, bytes.into())),
        Ok(None) => Err(Problem::too_large(most)),
        Err(_) => {
            state.places.count(Reason::Body);
            Err(Problem::slow())
        }
    }
}

/// Reads a body of at most `most` bytes; `None`: it is longer, or broken off. Of one that is longer the rest is read, too,
/// and forgotten: a caller that still sends when the connection is closed may not get to see the answer.
async fn read_whole(mut body: Body, most: usize) -> Option<Bytes> {
    let mut read = Vec::new();
    let mut left = most.saturating_add(MAX_FORGOTTEN_BYTES);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        left = left.checked_sub(data.len())?;
        if left >= MAX_FORGOTTEN_BYTES {
            read.extend_from_slice(&data);
        } else {
            read = Vec::new();
        }
    }
    (left >= MAX_FORGOTTEN_BYTES).then(|| read.into())
}

/// Longest time until an answer begins: longer than any question in SQL by default.
const MAX_REQUEST: Duration = Duration::from_secs(120);
/// Longest body of a request, bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Longest capture, bytes.
const MAX_CAPTURE_BYTES: usize = 4 << 20;
/// Bytes behind the longest body that are read and forgotten.
const MAX_FORGOTTEN_BYTES: usize = 16 << 20;
/// Where captures are sent.
const DECODE: &str = "/api/v1/decode";
