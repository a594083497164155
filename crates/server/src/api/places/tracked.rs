//! A response body that reports its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::place::{Phase, Place};

/// A body whose end returns its caller to the idle phase.
pub(crate) struct Tracked {
    body: Body,
    place: Arc<Place>,
}

impl Tracked {
    pub(crate) fn new(body: Body, place: Arc<Place>) -> Self {
        Self { body, place }
    }
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.place.enter(Phase::Idle);
    }
}
