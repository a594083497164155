//! Sharing of costly answers about the present: equal requests get one answer for a while, so that ten
//! viewers of a page cost as much as one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, HeaderValue};
use axum::http::response::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

/// The answers kept.
#[derive(Debug, Default)]
pub(super) struct SharedAnswers {
    slots: Mutex<HashMap<Key, Slot>>,
}

/// The URI of a request, and the encodings that the caller accepts.
type Key = (String, Option<HeaderValue>);

/// An answer, or the lock of the request that computes it, on which the others wait.
type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// An answer that is kept.
#[derive(Debug, Clone)]
struct Kept {
    parts: Parts,
    body: Bytes,
    until: Instant,
}

/// Returns a fresh answer about the present again: one is used for ten times as long as it took, up to three
/// seconds.
pub(super) async fn shared(
    State(answers): State<Arc<SharedAnswers>>,
    request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().unwrap_or("");
    let is_of_now =
        query.split('&').any(|part| part.starts_with("live=")) || OF_NOW.contains(&request.uri().path());
    if !is_of_now || request.method() != Method::GET {
        return next.run(request).await;
    }
    let key = (request.uri().to_string(), request.headers().get(ACCEPT_ENCODING).cloned());
    let slot = answers.slot(key.clone());
    let mut turn = slot.lock().await;
    if let Some(kept) = turn.as_ref().filter(|kept| Instant::now() < kept.until) {
        return kept.answer();
    }
    *turn = None;
    let begun = Instant::now();
    let answer = next.run(request).await;
    let cost = begun.elapsed();
    let is_small = answer.body().size_hint().exact().is_some_and(|bytes| bytes <= MAX_BYTES);
    if cost < MIN_COST || answer.status() != StatusCode::OK || !is_small {
        drop(turn);
        answers.forget(&key, &slot);
        return answer;
    }
    let (parts, body) = answer.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let kept = Kept { parts, body, until: Instant::now() + (cost * COST_FACTOR).min(LONGEST) };
    let answer = kept.answer();
    *turn = Some(kept);
    answer
}

impl Kept {
    fn answer(&self) -> Response {
        Response::from_parts(self.parts.clone(), self.body.clone().into())
    }
}

impl SharedAnswers {
    /// The slot of an answer; makes room if there are many.
    fn slot(&self, key: Key) -> Slot {
        let mut slots = self.slots();
        if slots.len() >= MAX_SLOTS && !slots.contains_key(&key) {
            let now = Instant::now();
            // Remove answers that have expired and are not being computed.
            slots.retain(|_, slot| {
                slot.try_lock().map_or(true, |kept| kept.as_ref().is_some_and(|kept| now < kept.until))
            });
            if slots.len() >= MAX_SLOTS {
                // Requests waiting on one of them still get it.
                slots.clear();
            }
        }
        Arc::clone(slots.entry(key).or_default())
    }

    fn forget(&self, key: &Key, slot: &Slot) {
        let mut slots = self.slots();
        if slots.get(key).is_some_and(|there| Arc::ptr_eq(there, slot)) {
            slots.remove(key);
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        // The map is consistent at any time.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Paths whose answers are always about the present.
const OF_NOW: [&str; 4] = ["/api/v1/flows/search", "/api/v1/flows", "/api/v1/nodes", "/api/v1/queues"];
/// Cheaper answers are not shared.
const MIN_COST: Duration = Duration::from_millis(20);
/// An answer is used for this many times its cost, at most for `LONGEST`.
const COST_FACTOR: u32 = 10;
const LONGEST: Duration = Duration::from_secs(3);
/// Maximum number of answers kept, and maximum size of one, bytes: 32 MiB in all.
const MAX_SLOTS: usize = 64;
const MAX_BYTES: u64 = 512 << 10;
