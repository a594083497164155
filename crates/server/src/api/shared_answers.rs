//! Answers of now that cost much are given to all who ask the same for a while, so that a page costs as much for ten
//! viewers as for one.

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

/// The answers that are kept.
#[derive(Debug, Default)]
pub(super) struct SharedAnswers {
    slots: Mutex<HashMap<Key, Slot>>,
}

/// What was asked, and how the caller takes the answer.
type Key = (String, Option<HeaderValue>);

/// An answer, or the turn of the one who makes it: the others wait for that.
type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// An answer that is kept.
#[derive(Debug, Clone)]
struct Kept {
    parts: Parts,
    body: Bytes,
    until: Instant,
}

/// Gives an answer of now again where it is fresh: one that took long is used ten times as long, up to three seconds.
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
    /// The place of an answer. Makes room where there are many.
    fn slot(&self, key: Key) -> Slot {
        let mut slots = self.slots();
        if slots.len() >= MAX_SLOTS && !slots.contains_key(&key) {
            let now = Instant::now();
            // Answers that are no longer fresh, and that are not being made.
            slots.retain(|_, slot| {
                slot.try_lock().map_or(true, |kept| kept.as_ref().is_some_and(|kept| now < kept.until))
            });
            if slots.len() >= MAX_SLOTS {
                // Whoever waits for one of them gets it all the same.
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
        // What is kept is whole at any time.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers that are always of now.
const OF_NOW: [&str; 4] = ["/api/v1/flows/search", "/api/v1/flows", "/api/v1/nodes", "/api/v1/queues"];
/// Answers that take less are made for each who asks.
const MIN_COST: Duration = Duration::from_millis(20);
/// How many times as long as it took an answer is used, and how long at most.
const COST_FACTOR: u32 = 10;
const LONGEST: Duration = Duration::from_secs(3);
/// Answers that are kept, and the largest of them, bytes: 32 MiB in all.
const MAX_SLOTS: usize = 64;
const MAX_BYTES: u64 = 512 << 10;
