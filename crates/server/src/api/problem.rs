//! How is a question refused?

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::pipeline::Unanswered;

/// Why there is no answer: `{"error": "..."}` with a status.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    error: String,
}

impl Problem {
    pub(super) fn wrong(error: impl Into<String>) -> Problem {
        Problem { status: StatusCode::BAD_REQUEST, error: error.into() }
    }

    pub(super) fn not_found(error: impl Into<String>) -> Problem {
        Problem { status: StatusCode::NOT_FOUND, error: error.into() }
    }

    pub(super) fn too_costly(error: impl Into<String>) -> Problem {
        Problem { status: StatusCode::UNPROCESSABLE_ENTITY, error: error.into() }
    }

    pub(super) fn unavailable(error: impl Into<String>) -> Problem {
        Problem { status: StatusCode::SERVICE_UNAVAILABLE, error: error.into() }
    }

    pub(super) fn busy() -> Problem {
        Problem::from(Unanswered::Busy)
    }

    pub(super) fn stopped() -> Problem {
        Problem::from(Unanswered::Stopped)
    }

    pub(super) fn slow() -> Problem {
        Problem { status: StatusCode::REQUEST_TIMEOUT, error: "the request took too long".to_owned() }
    }

    pub(super) fn unauthorized() -> Problem {
        let error = "a token is needed, as `Authorization: Bearer TOKEN`".to_owned();
        Problem { status: StatusCode::UNAUTHORIZED, error }
    }

    pub(super) fn misdirected() -> Problem {
        let error = "the name in the Host header is not this machine's loopback address".to_owned();
        Problem { status: StatusCode::MISDIRECTED_REQUEST, error }
    }
}

impl From<Unanswered> for Problem {
    fn from(unanswered: Unanswered) -> Problem {
        Problem::unavailable(unanswered.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.error }))).into_response()
    }
}
