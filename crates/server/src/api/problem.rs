//! How is a question refused?

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::http::header::WWW_AUTHENTICATE;
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

    /// What was sent cannot be read: too long, of another type, or not what is wanted.
    pub(super) fn unreadable(error: &JsonRejection) -> Problem {
        let status = match error.status() {
            // It says of questions that they cost too much.
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            status => status,
        };
        Problem { status, error: error.body_text() }
    }

    pub(super) fn no_such_method() -> Problem {
        let error = "this method is not for this path; / lists what can be asked".to_owned();
        Problem { status: StatusCode::METHOD_NOT_ALLOWED, error }
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

    pub(super) fn forbidden() -> Problem {
        let error = "this token may ask, and neither acknowledge nor silence events".to_owned();
        Problem { status: StatusCode::FORBIDDEN, error }
    }

    pub(super) fn too_large(most_bytes: usize) -> Problem {
        let error = format!("the body is broken off, or longer than {most_bytes} bytes");
        Problem { status: StatusCode::PAYLOAD_TOO_LARGE, error }
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
        let body = Json(json!({ "error": self.error }));
        match self.status {
            StatusCode::UNAUTHORIZED => (self.status, [(WWW_AUTHENTICATE, "Bearer")], body).into_response(),
            status => (status, body).into_response(),
        }
    }
}
