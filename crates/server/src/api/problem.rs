//! Failed requests, as `application/problem+json`.

use std::error::Error;

use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use inband_model::api;

use crate::pipeline::Unanswered;

/// Why a request failed: a status, and `{"error": "..."}` with further keys.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    error: String,
    parameter: Option<String>,
    allowed: Option<String>,
}

impl Problem {
    fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), parameter: None, allowed: None }
    }

    pub(super) fn wrong(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// A parameter is invalid; `allowed` describes the allowed values.
    pub(super) fn parameter(name: &str, error: impl Into<String>, allowed: impl Into<String>) -> Self {
        let (parameter, allowed) = (shown(name), allowed.into());
        let error = format!("{}; allowed: {allowed}", error.into());
        Self { parameter: Some(parameter), allowed: Some(allowed), ..Self::wrong(error) }
    }

    /// The body cannot be read: it is too long, of another media type, or not of the expected type.
    pub(super) fn unreadable(error: &JsonRejection) -> Self {
        let status = match error.status() {
            // That status is for queries that cost too much.
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            status => status,
        };
        let text = error.source().map_or_else(String::new, ToString::to_string);
        match wrong_key(&text) {
            Some((name, what, allowed)) if status == StatusCode::BAD_REQUEST => {
                Self::parameter(name, what, allowed)
            }
            _ => Self::new(status, error.body_text()),
        }
    }

    pub(super) fn no_such_method() -> Self {
        let error = "this method is not for this path; / lists what can be asked";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, error)
    }

    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    pub(super) fn too_costly(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }

    pub(super) fn unavailable(error: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    pub(super) fn busy() -> Self {
        Self::from(Unanswered::Busy)
    }

    pub(super) fn stopped() -> Self {
        Self::from(Unanswered::Stopped)
    }

    pub(super) fn slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "a token is needed, as `Authorization: Bearer TOKEN`")
    }

    pub(super) fn forbidden() -> Self {
        let error = "this token may ask, and neither acknowledge nor silence events";
        Self::new(StatusCode::FORBIDDEN, error)
    }

    pub(super) fn too_large(most_bytes: usize) -> Self {
        let error = format!("the body is broken off, or longer than {most_bytes} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, error)
    }

    /// A body that is neither JSON nor a capture.
    pub(super) fn other_media(what: String) -> Self {
        let allowed = "application/json with hex, or a capture in pcap or pcapng format";
        let problem = Self::parameter("body", what, allowed);
        Self { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..problem }
    }

    pub(super) fn misdirected() -> Self {
        let error = "the name in the Host header is not this machine's loopback address";
        Self::new(StatusCode::MISDIRECTED_REQUEST, error)
    }
}

/// The key at fault in a body of JSON, what is wrong, and what is allowed there, from the error of its
/// deserializer: one of `KEY: WHAT, expected ALLOWED`, ``unknown field `KEY`, expected ALLOWED`` and
/// ``missing field `KEY` ``.
fn wrong_key(error: &str) -> Option<(&str, &str, &str)> {
    let error = error.rsplit_once(" at line ").map_or(error, |(error, _)| error);
    if let Some(rest) = error.strip_prefix("missing field `") {
        return Some((rest.split_once('`')?.0, error, "once"));
    }
    let (what, allowed) = error.split_once(", expected ")?;
    let unknown = what.rsplit_once("unknown field `").and_then(|(_, rest)| rest.split_once('`'));
    let (name, _) = unknown.or_else(|| what.split_once(": "))?;
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "_.[]".contains(letter));
    is_name.then_some((name, what, allowed))
}

/// A text from the caller, short enough to be returned.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

impl From<Unanswered> for Problem {
    fn from(unanswered: Unanswered) -> Self {
        Self::unavailable(unanswered.to_string())
    }
}

impl From<api::TimeSelectionError> for Problem {
    fn from(error: api::TimeSelectionError) -> Self {
        let api::TimeSelectionError { parameter, allowed } = error;
        Self::parameter(parameter, format!("{parameter} does not say a time with the others"), allowed)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, error, parameter, allowed } = self;
        let title = status.canonical_reason().unwrap_or("").to_owned();
        let problem = api::Problem { title, status: status.as_u16(), error, parameter, allowed };
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let content = [(CONTENT_TYPE, "application/problem+json")];
        match status {
            StatusCode::UNAUTHORIZED => {
                (status, [(WWW_AUTHENTICATE, "Bearer")], content, body).into_response()
            }
            status => (status, content, body).into_response(),
        }
    }
}
