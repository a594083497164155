//! The base path of the API behind a reverse proxy.

use std::sync::Arc;

use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// `api.base_path`: empty, or a path that begins with a slash and does not end with one.
///
/// Requests come with or without it, because some proxies strip it and others do not.
#[derive(Debug, Clone, Default)]
pub(super) struct BasePath(Arc<str>);

impl BasePath {
    /// Parses the setting; `None` if it is invalid.
    pub(super) fn new(path: &str) -> Option<Self> {
        let parts = path.strip_prefix('/').map(|rest| rest.split('/'));
        let is_part = |part: &str| {
            let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-._~".contains(&letter);
            !part.is_empty() && part.bytes().all(is_plain) && part != "." && part != ".."
        };
        let is_path = path.is_empty() || parts.is_some_and(|mut parts| parts.all(is_part));
        is_path.then(|| Self(path.into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Strips the base path from the path of a request.
    pub(super) fn take_off(&self, uri: &mut Uri) {
        if self.0.is_empty() {
            return;
        }
        let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let Some(rest) = path.strip_prefix(&*self.0) else { return };
        let rest = match rest.as_bytes().first() {
            Some(b'/') => rest.to_owned(),
            None | Some(b'?') => format!("/{rest}"),
            // A different path with the same prefix.
            Some(_) => return,
        };
        // The rest of a valid path is valid.
        if let Ok(rest) = rest.parse() {
            let mut parts = uri.clone().into_parts();
            parts.path_and_query = Some(rest);
            if let Ok(without) = Uri::from_parts(parts) {
                *uri = without;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;

    use super::BasePath;

    #[test]
    fn a_base_path_is_empty_or_begins_with_a_slash_and_does_not_end_with_one() {
        for right in ["", "/inband", "/a/b-c_d.e~f/1"] {
            assert!(BasePath::new(right).is_some(), "{right}");
        }
        for wrong in ["/", "inband", "/inband/", "//a", "/a//b", "/a b", "/a?b", "/ä", "/..", "/a/.", "/<b>"]
        {
            assert!(BasePath::new(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_base_path_is_taken_off_where_it_is_there() {
        let base = BasePath::new("/inband").unwrap();
        for (path, expected) in [
            ("/inband/api/v1/ledger?a=b", "/api/v1/ledger?a=b"),
            ("/inband", "/"),
            ("/inband?a=b", "/?a=b"),
            ("/inband/", "/"),
            ("/inbandage/x", "/inbandage/x"),
            ("/api/v1/ledger", "/api/v1/ledger"),
            ("/inband/inband/x", "/inband/x"),
        ] {
            let mut uri: Uri = path.parse().unwrap();
            base.take_off(&mut uri);
            assert_eq!(uri.to_string(), expected, "{path}");
        }
    }
}
