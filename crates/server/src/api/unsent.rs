//! The memory of answers that callers have not read yet, bounded over all of them.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;

/// The memory that remains for long answers, in kibibytes.
#[derive(Debug)]
pub(super) struct Unsent {
    left: Arc<Semaphore>,
    most: u32,
}

/// An answer in memory; its last copy returns the permit.
struct Held {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

/// Holds a long answer until it is sent; refuses it if unread ones leave no room for it.
pub(super) async fn answers(State(unsent): State<Arc<Unsent>>, request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    let length = answer.body().size_hint().exact();
    let Some(bytes) = length.filter(|bytes| *bytes > UNCOUNTED_BYTES) else { return answer };
    let Some(permit) = unsent.take(bytes) else {
        let error = "earlier answers that are not read yet leave no memory for this one";
        return Problem::unavailable(error).into_response();
    };
    let (parts, body) = answer.into_parts();
    // A body of known length is in memory already.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    Response::from_parts(parts, Bytes::from_owner(Held { bytes, _permit: permit }).into())
}

impl Unsent {
    /// Memory for as many of the longest answers to SQL queries as queries run at a time.
    pub(super) fn new(query_bytes: usize) -> Self {
        let kib = query_bytes.saturating_mul(LONGEST_ANSWERS).max(MIN_BYTES) / 1_024;
        let most = u32::try_from(kib).unwrap_or(u32::MAX).min(MAX_KIB);
        Self { left: Arc::new(Semaphore::new(most as usize)), most }
    }

    /// The permit for an answer; `None` if there is no room. An answer that is longer than all the memory
    /// needs all of it.
    fn take(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX).min(self.most);
        Arc::clone(&self.left).try_acquire_many_owned(kib).ok()
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Permits that any semaphore can hold, 256 GiB.
const MAX_KIB: u32 = 1 << 28;
/// Shorter answers are bounded by the number of connections; among them are those of the page.
const UNCOUNTED_BYTES: u64 = 512 << 10;
/// Number of answers of `query_bytes` that may be unread at a time.
const LONGEST_ANSWERS: usize = 2;
/// The least memory: answers about the collector's state are not limited by `query_bytes`.
const MIN_BYTES: usize = 16 << 20;
