//! Authorization of callers.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST};

use super::problem::Problem;
use crate::settings::ApiSettings;

/// The credentials a caller must present.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// A bearer token.
    Token {
        /// The token that grants everything.
        full: String,
        /// The token that grants reading only; empty: there is none.
        read: String,
    },
    /// None, but the request must name this machine by one of its own names: a foreign web page cannot make
    /// requests in the name of its visitor.
    Loopback,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    /// Read.
    Read,
    /// Acknowledge or silence events.
    Change,
}

impl Access {
    pub(super) fn new(settings: &ApiSettings) -> Access {
        let (full, read) = (settings.token.clone(), settings.read_token.clone());
        if full.is_empty() { Access::Loopback } else { Access::Token { full, read } }
    }

    /// Checks that the caller's credentials grant `right`.
    pub(super) fn check(&self, headers: &HeaderMap, right: Right) -> Result<(), Problem> {
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

    /// Checks that the caller addresses this machine by an allowed name; with tokens, every name is allowed.
    pub(super) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let host = headers.get(HOST).map(|value| value.to_str().unwrap_or(""));
        let is_right = matches!(self, Access::Token { .. }) || host.is_none_or(is_loopback);
        is_right.then_some(()).ok_or_else(Problem::misdirected)
    }
}

/// Compares in a time that does not depend on how much of them is equal.
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
