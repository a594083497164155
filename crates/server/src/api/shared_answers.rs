//! Sharing of costly answers about the present: equal requests get one answer for a while, so that ten
//! viewers of a page cost as much as one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, HeaderValue};
use axum::http::response::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::cost::measured;

/// The answers kept.
#[derive(Debug, Default)]
pub(super) struct SharedAnswers {
    slots: Mutex<HashMap<Key, Slot>>,
    /// Size of all answers kept, bytes.
    bytes: Arc<AtomicU64>,
}

/// The URI of a request, and the encodings that the caller accepts.
type Key = (String, Option<HeaderValue>);

/// An answer, or the lock of the request that computes it, on which the others wait.
type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// An answer that is kept.
#[derive(Debug)]
struct Kept {
    parts: Parts,
    body: Bytes,
    until: Instant,
    _room: Room,
}

/// Bytes that an answer takes of those for all, until it is dropped.
#[derive(Debug)]
struct Room {
    bytes: u64,
    all: Arc<AtomicU64>,
}

/// Returns a fresh answer about the present again: one is used for fifty times as long as it took, at least
/// as long as the snapshots that answers are made from, and at most three seconds.
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
    let (answer, cost) = measured(next.run(request)).await;
    // The rest is work of this thread, or waiting.
    let cost = cost + begun.elapsed().min(MAX_OWN_COST);
    let is_wanted = cost >= MIN_COST && answer.status() == StatusCode::OK;
    let bytes = answer.body().size_hint().exact().filter(|_| is_wanted);
    let Some(room) = bytes.and_then(|bytes| answers.room(bytes)) else {
        drop(turn);
        answers.forget(&key, &slot);
        return answer;
    };
    let (parts, body) = answer.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let until = Instant::now() + (cost * COST_FACTOR).clamp(SHORTEST, LONGEST);
    let kept = Kept { parts, body, until, _room: room };
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
            remove_expired(&mut slots);
            if slots.len() >= MAX_SLOTS {
                // Requests waiting on one of them still get it.
                slots.clear();
            }
        }
        Arc::clone(slots.entry(key).or_default())
    }

    /// Room for an answer of this size; `None` if it is too large, or if other answers take all of it.
    fn room(&self, bytes: u64) -> Option<Room> {
        if bytes > MAX_BYTES {
            return None;
        }
        let take = |taken: u64| taken.checked_add(bytes).filter(|all| *all <= MAX_ALL_BYTES);
        let try_take = || self.bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).is_ok();
        let is_taken = try_take() || {
            remove_expired(&mut self.slots());
            try_take()
        };
        is_taken.then(|| Room { bytes, all: Arc::clone(&self.bytes) })
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

impl Drop for Room {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// Removes answers that have expired and are not being computed.
fn remove_expired(slots: &mut HashMap<Key, Slot>) {
    let now = Instant::now();
    slots.retain(|_, slot| {
        slot.try_lock().map_or(true, |kept| kept.as_ref().is_some_and(|kept| now < kept.until))
    });
}

/// Paths whose answers are always about the present.
const OF_NOW: [&str; 7] = [
    "/api/v1/flows/search",
    "/api/v1/flows",
    "/api/v1/nodes",
    "/api/v1/links",
    "/api/v1/interfaces",
    "/api/v1/queues",
    "/api/v1/ledger",
];
/// Cheaper answers are not shared.
const MIN_COST: Duration = Duration::from_millis(1);
/// The most that an answer costs the thread of the API: others are computed on other threads.
const MAX_OWN_COST: Duration = Duration::from_millis(2);
/// An answer is used for this many times its cost, at least for `SHORTEST` and at most for `LONGEST`.
const COST_FACTOR: u32 = 50;
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3);
/// Maximum number of answers kept.
const MAX_SLOTS: usize = 64;
/// Maximum size of one answer and of all, bytes.
const MAX_BYTES: u64 = 8 << 20;
const MAX_ALL_BYTES: u64 = 32 << 20;

#[cfg(test)]
mod tests {
    use super::{MAX_ALL_BYTES, MAX_BYTES, SharedAnswers};

    #[test]
    fn answers_take_no_more_than_the_room_for_all_and_give_it_back() {
        let answers = SharedAnswers::default();
        assert!(answers.room(MAX_BYTES + 1).is_none());

        let mut rooms: Vec<_> = (0..MAX_ALL_BYTES / MAX_BYTES).map(|_| answers.room(MAX_BYTES)).collect();
        assert!(rooms.iter().all(Option::is_some));
        assert!(answers.room(1).is_none());

        rooms.pop();
        assert!(answers.room(MAX_BYTES).is_some_and(|room| room.bytes == MAX_BYTES));
        assert!(answers.room(1).is_some());
    }
}
