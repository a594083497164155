//! The web page: its files, and the paths that show it to browsers.

use axum::extract::{Path, Request, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use super::{Shared, openapi};

/// Shows the page to browsers at `/`; other callers get the API's answer.
pub(super) async fn or_index(State(state): State<Shared>, request: Request, next: Next) -> Response {
    if is_shown(&state, &request) { document(&state, request.headers()) } else { next.run(request).await }
}

/// Shows the page to browsers at all other paths; the page decides whether they name a view.
pub(super) async fn or_nothing(State(state): State<Shared>, request: Request) -> Response {
    let path = request.uri().path();
    let is_view = ["/api/", "/page/", "/metrics"].iter().all(|other| !path.starts_with(other));
    if is_view && is_shown(&state, &request) {
        return document(&state, request.headers());
    }
    openapi::nothing(request.uri().clone()).await.into_response()
}

/// A file of the page; the files contain no data, so no token is needed.
pub(super) async fn file(
    State(state): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    state.access.check_host(&headers)?;
    let missing = || Problem::not_found("the page has no such file");
    let file = inband_page::file(&name).filter(|_| state.settings.page).ok_or_else(missing)?;
    let tag = HeaderValue::from_str(&file.etag).unwrap_or(HeaderValue::from_static(""));
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known.flat_map(|list| list.split(',')).any(|known| is_tag(known, &file.etag));
    let mut answer = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, file.media_type)], file.bytes.into_owned()).into_response(),
    };
    answer.headers_mut().insert(ETAG, tag);
    protect(&mut answer);
    Ok(answer)
}

fn is_shown(state: &Shared, request: &Request) -> bool {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    state.settings.page && is_read && accepts_html(request.headers())
}

/// Whether a browser asks; other programs accept everything and name no type.
fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|list| list.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_html = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("text/html"));
        is_html && !parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)))
    })
}

fn is_tag(known: &str, tag: &str) -> bool {
    let known = known.trim();
    known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag
}

fn document(state: &Shared, headers: &HeaderMap) -> Response {
    if let Err(problem) = state.access.check_host(headers) {
        return problem.into_response();
    }
    let text = inband_page::document(state.base.as_str());
    let mut answer = ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response();
    protect(&mut answer);
    answer
}

/// Only the page's own files may be executed or shown, and no foreign page may embed it.
fn protect(answer: &mut Response) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CACHE_CONTROL, "no-cache"),
        (VARY, "accept"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types inband";

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::http::header::ACCEPT;

    use super::{accepts_html, is_tag};

    #[test]
    fn a_browser_is_known_by_what_it_accepts() {
        let accepts = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, text.parse().unwrap());
            accepts_html(&headers)
        };
        for browser in ["text/html,application/xhtml+xml,*/*;q=0.8", "a/b, Text/HTML;q=0.5"] {
            assert!(accepts(browser), "{browser}");
        }
        for other in ["*/*", "application/json", "text/plain", "text/html;q=0", "text/htmlx"] {
            assert!(!accepts(other), "{other}");
        }
        assert!(!accepts_html(&HeaderMap::new()));
    }

    #[test]
    fn a_tag_is_known_weakly_too() {
        assert!(["\"a\"", " W/\"a\"", "*"].iter().all(|known| is_tag(known, "\"a\"")));
        assert!(!is_tag("\"b\"", "\"a\""));
    }
}
