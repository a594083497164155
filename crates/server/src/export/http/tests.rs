use std::path::Path;
use std::time::Duration;

use ureq::http::{HeaderMap, StatusCode};

use super::{Answer, Poster, Target, judge};

#[test]
fn an_answer_is_taken_refused_or_a_reason_to_come_again() {
    let judged = |status: u16| judge(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), "so\nit is");
    for status in [200, 202, 204] {
        assert_eq!(judged(status), Answer::Taken, "{status}");
    }
    for status in [301, 308, 400, 401, 404, 413] {
        assert!(matches!(judged(status), Answer::Refused(_)), "{status}");
    }
    for status in [408, 425, 429, 500, 502, 503, 599] {
        assert!(matches!(judged(status), Answer::Away { .. }), "{status}");
    }
    assert_eq!(judged(400), Answer::Refused("it answers 400 Bad Request: so".to_owned()));
}

#[test]
fn it_may_say_when_to_come_again() {
    for (text, again) in [("7", Some(7)), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)] {
        let headers = [("retry-after".parse().unwrap(), text.parse().unwrap())].into_iter().collect();
        let Answer::Away { again: asked, .. } = judge(StatusCode::SERVICE_UNAVAILABLE, &headers, "") else {
            panic!("{text}");
        };
        assert_eq!(asked, again.map(Duration::from_secs), "{text}");
    }
}

#[test]
fn an_address_that_is_none_is_told_at_once() {
    for url in ["", "127.0.0.1:9093", "ftp://127.0.0.1/", "http://", "http:// /", "/hook"] {
        let error = poster(url, Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("hook: url = \""), "{url}: {error}");
    }
    assert!(poster("https://example.org/hook", Path::new("")).is_ok());
    let error = poster("https://example.org/", Path::new("/nowhere.pem")).unwrap_err().to_string();
    assert_eq!(error, "hook: cannot read /nowhere.pem");
}

fn poster(url: &str, authorities: &Path) -> Result<Poster, super::ExportError> {
    let timeout = Duration::from_secs(1);
    Poster::new("hook", &Target { url, content_type: "text/plain", token: "", authorities, timeout })
}
