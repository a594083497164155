use std::path::Path;
use std::time::{Duration, SystemTime};

use ureq::http::{HeaderMap, StatusCode};

use super::{ALL_TAKEN, Answer, Poster, Target, judge};

#[test]
fn an_answer_is_taken_refused_or_a_reason_to_come_again() {
    let poster = poster("http://127.0.0.1/", Path::new("")).unwrap();
    let judged =
        |status: u16| poster.judge(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), b"so\nit is");
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
fn retry_after_is_a_number_of_seconds_or_a_date_by_the_clock_of_the_server() {
    let asked = |headers: &[(&'static str, String)]| {
        let headers = headers.iter().map(|(name, text)| (name.parse().unwrap(), text.parse().unwrap()));
        match judge(StatusCode::SERVICE_UNAVAILABLE, &headers.collect(), "") {
            Answer::Away { again, .. } => again,
            other => panic!("{other:?}"),
        }
    };
    let date = ("date", "Wed, 21 Oct 2026 07:27:00 GMT".to_owned());
    for (text, again) in [
        ("7", Some(7)),
        ("0", Some(0)),
        ("Wed, 21 Oct 2026 07:28:00 GMT", Some(60)),
        // The two obsolete date formats.
        ("Wednesday, 21-Oct-26 07:27:09 GMT", Some(9)),
        ("Wed Oct 21 07:27:01 2026", Some(1)),
        // A date in the past.
        ("Wed, 21 Oct 2026 07:26:00 GMT", Some(0)),
        ("-1", None),
        ("soon", None),
        ("", None),
    ] {
        let again = again.map(Duration::from_secs);
        assert_eq!(asked(&[("retry-after", text.to_owned()), date.clone()]), again, "{text}");
    }
    // Without a `Date` of the server, our clock.
    let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(40));
    let again = asked(&[("retry-after", soon)]).unwrap();
    assert!(again > Duration::from_secs(30) && again <= Duration::from_secs(40), "{again:?}");
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

#[test]
fn a_token_that_no_header_may_have_is_refused_and_not_shown() {
    let error = poster_with("http://a", "a\nb", Path::new("")).unwrap_err().to_string();
    assert_eq!(error, "hook: token has a character that no HTTP header may have");
}

fn poster(url: &str, authorities: &Path) -> Result<Poster, crate::error::ExportError> {
    poster_with(url, "", authorities)
}

fn poster_with(url: &str, token: &str, authorities: &Path) -> Result<Poster, crate::error::ExportError> {
    let timeout = Duration::from_secs(1);
    let hear = ALL_TAKEN;
    let setting = ("url", url);
    let content_type = "text/plain";
    Poster::new("hook", &Target { url, setting, content_type, token, authorities, timeout, hear })
}
