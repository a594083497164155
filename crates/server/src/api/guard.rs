//! Middleware that authorizes requests and reads their bodies.

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

/// Passes requests that are allowed to read.
pub(super) async fn guard_reading(state: State<Shared>, request: Request, next: Next) -> Response {
    guard(&state, Right::Read, request, next).await
}

/// Passes requests that are allowed to make changes.
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
    // The timeout ends with the start of the answer: streams are not cut off.
    let answer = timeout(MAX_REQUEST, next.run(request)).await;
    answer.unwrap_or_else(|_| Problem::slow().into_response())
}

/// Waits for the body, so that a slow sender is recognised as such.
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

/// Reads a body of at most `most` bytes; `None` if it is longer or incomplete. The rest of a longer body is
/// read and discarded: a caller that is still sending when the connection closes may never see the answer.
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

/// Maximum time until an answer begins: longer than any SQL query by default.
const MAX_REQUEST: Duration = Duration::from_secs(120);
/// Maximum length of a request body, bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Maximum length of a capture, bytes.
const MAX_CAPTURE_BYTES: usize = 4 << 20;
/// Maximum number of bytes behind the longest body that are read and discarded.
const MAX_FORGOTTEN_BYTES: usize = 16 << 20;
/// The path that captures are sent to.
const DECODE: &str = "/api/v1/decode";
