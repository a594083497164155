//! Who may ask?

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::Shared;
use super::places::{Phase, Place, Reason};
use super::problem::Problem;
use crate::settings::ApiSettings;

/// What a caller has to show.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// A bearer token.
    Token {
        /// The one that may do everything.
        full: String,
        /// The one that may only ask; empty: there is none.
        read: String,
    },
    /// Nothing, but the name by which this machine knows itself: a web page of somebody else's cannot ask in the name of
    /// its visitor.
    Loopback,
}

/// What a request is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    /// Ask something.
    Read,
    /// Acknowledge or silence events.
    Change,
}

impl Access {
    pub(super) fn new(settings: &ApiSettings) -> Access {
        let (full, read) = (settings.token.clone(), settings.read_token.clone());
        if full.is_empty() { Access::Loopback } else { Access::Token { full, read } }
    }

    fn check(&self, headers: &HeaderMap, right: Right) -> Result<(), Problem> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        match self {
            Access::Token { full, read } => {
                let shown = text(AUTHORIZATION).and_then(|value| value.split_once(' '));
                let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"));
                let shown = shown.map_or("", |(_, shown)| shown.trim()).as_bytes();
                let is_full = is_same(shown, full.as_bytes());
                let is_reader = !read.is_empty() && is_same(shown, read.as_bytes());
                match right {
                    _ if is_full => Ok(()),
                    Right::Read if is_reader => Ok(()),
                    Right::Change if is_reader => Err(Problem::forbidden()),
                    _ => Err(Problem::unauthorized()),
                }
            }
            Access::Loopback => self.check_host(headers),
        }
    }

    /// Whether the caller may acknowledge and silence events.
    pub(super) fn may_change(&self, headers: &HeaderMap) -> bool {
        self.check(headers, Right::Change).is_ok()
    }

    /// Whether the caller asks this machine by a name it may have; all may be had where a token is asked for.
    pub(super) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let host = headers.get(HOST).map(|value| value.to_str().unwrap_or(""));
        let is_right = matches!(self, Access::Token { .. }) || host.is_none_or(is_loopback);
        is_right.then_some(()).ok_or_else(Problem::misdirected)
    }
}

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
    let answer = timeout(LONGEST_REQUEST, next.run(request)).await;
    answer.unwrap_or_else(|_| Problem::slow().into_response())
}

/// Waits for the body, so that whoever sends it slowly is known for it.
async fn with_whole_body(state: &Shared, request: Request) -> Result<Request, Problem> {
    let place = request.extensions().get::<Arc<Place>>().cloned();
    let (Some(place), false) = (place, request.body().is_end_stream()) else { return Ok(request) };
    let (parts, body) = request.into_parts();
    place.enter(Phase::Body);
    let read = timeout(state.places.limits().body, to_bytes(body, MAX_BODY_BYTES)).await;
    place.enter(Phase::Answer);
    match read {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, bytes.into())),
        Ok(Err(_)) => Err(Problem::too_large(MAX_BODY_BYTES)),
        Err(_) => {
            state.places.count(Reason::Body);
            Err(Problem::slow())
        }
    }
}

/// Longest time until an answer begins: longer than any question in SQL by default.
const LONGEST_REQUEST: Duration = Duration::from_secs(120);
/// Longest body of a request, bytes.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Compares in a time that does not tell how much is right.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b));
    difference == 0 && a.len() == b.len()
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{is_loopback, is_same};

    #[test]
    fn a_host_is_loopback_by_name_or_address() {
        for host in ["localhost", "LocalHost:8080", "127.0.0.1", "127.8.0.1:80", "[::1]", "[::1]:8080"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "example.org", "localhost.example.org", "10.0.0.1:8080", "[2001:db8::1]:80", "::1:80"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(is_same(b"secret", b"secret"));
        for other in [&b""[..], b"secre", b"secrets", b"Secret"] {
            assert!(!is_same(other, b"secret"));
        }
    }
}
