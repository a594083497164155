//! Who may ask?

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Shared;
use super::problem::Problem;

/// What a caller has to show.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// A bearer token.
    Token(String),
    /// Nothing, but the name by which this machine knows itself: a web page of somebody else's cannot ask in the name of
    /// its visitor.
    Loopback,
}

impl Access {
    pub(super) fn new(token: &str) -> Access {
        if token.is_empty() { Access::Loopback } else { Access::Token(token.to_owned()) }
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        match self {
            Access::Token(token) => {
                let shown = text(AUTHORIZATION).and_then(|value| value.split_once(' '));
                let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"));
                let is_right =
                    shown.is_some_and(|(_, shown)| is_same(shown.trim().as_bytes(), token.as_bytes()));
                is_right.then_some(()).ok_or_else(Problem::unauthorized)
            }
            Access::Loopback => {
                let is_own = text(HOST).is_none_or(is_loopback);
                is_own.then_some(()).ok_or_else(Problem::misdirected)
            }
        }
    }
}

/// Lets requests through that may ask.
pub(super) async fn guard(State(state): State<Shared>, request: Request, next: Next) -> Response {
    if let Err(problem) = state.access.check(request.headers()) {
        return problem.into_response();
    }
    // Whoever sends a body byte by byte is not waited for; answers that go on are not cut off.
    let answer = tokio::time::timeout(LONGEST_REQUEST, next.run(request)).await;
    answer.unwrap_or_else(|_| Problem::slow().into_response())
}

/// Longest time until an answer begins: longer than any question in SQL by default.
const LONGEST_REQUEST: Duration = Duration::from_secs(120);

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
