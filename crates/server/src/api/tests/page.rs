//! Browsers get the page, and other callers the API's answers.

use std::io::Read;

use super::System;
use crate::settings::ApiSettings;

const BROWSER: (&str, &str) = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");

/// The status, the headers in lower case and the body.
fn whole(system: &System, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
    let mut answer = Vec::new();
    system.open("get", path, headers, "").read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
}

#[test]
fn browsers_get_the_page_at_every_address_and_others_what_they_asked_for() {
    let system = System::start("");
    for path in ["/", "/map", "/flow/12", "/event/00ff", "/report/1/0/5?at=1", "/no-such-view"] {
        let (status, head, body) = whole(&system, path, &[BROWSER]);
        assert!(status == 200 && head.contains("content-type: text/html"), "{path}: {head}");
        assert!(body.contains("\"/page/main.js\""), "{body}");
    }
    for (path, status) in [("/api/v1/nothing", 404), ("/page/nothing", 404), ("/healthz", 200)] {
        let (answered, head, _) = whole(&system, path, &[BROWSER]);
        assert!(answered == status && !head.contains("text/html"), "{path}: {head}");
    }

    let (status, head, body) = whole(&system, "/", &[("Accept", "*/*")]);
    assert!(status == 200 && head.contains("text/plain") && body.contains("/api/v1/ledger"), "{head}");
    assert_eq!(whole(&system, "/map", &[("Accept", "*/*")]).0, 404);
}

#[test]
fn nothing_but_its_own_files_runs_in_the_page() {
    let system = System::start("");
    for path in ["/", "/page/main.js", "/page/main.css"] {
        let (_, head, _) = whole(&system, path, &[BROWSER]);
        for header in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
        ] {
            assert!(head.contains(header), "{path} lacks {header}: {head}");
        }
        assert!(!head.contains("unsafe"), "{head}");
    }
}

#[test]
fn the_pages_files_need_no_token_and_are_sent_once() {
    let system = System::start("secret");
    assert_eq!(whole(&system, "/", &[BROWSER]).0, 200);
    assert_eq!(whole(&system, "/", &[]).0, 401);

    let (status, head, body) = whole(&system, "/page/main.js", &[]);
    assert!(status == 200 && head.contains("content-type: text/javascript") && !body.is_empty(), "{head}");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let (status, _, body) = whole(&system, "/page/main.js", &[("If-None-Match", &tag)]);
    assert_eq!((status, body.as_str()), (304, ""));
    assert_eq!(whole(&system, "/page/main.js", &[("If-None-Match", "\"other\"")]).0, 200);
}

#[test]
fn a_foreign_name_for_this_machine_is_refused_where_no_token_is_asked_for() {
    let system = System::start("");
    let foreign = ("Host", "attacker.example");
    assert_eq!(whole(&system, "/", &[BROWSER, foreign]).0, 421);
    assert_eq!(whole(&system, "/map", &[BROWSER, foreign]).0, 421);
    assert_eq!(whole(&system, "/page/main.js", &[foreign]).0, 421);
}

#[test]
fn the_page_stands_below_the_base_path_or_is_not_shown() {
    let below = ApiSettings { base_path: "/inband".to_owned(), ..ApiSettings::default() };
    let system = System::start_with(below);
    let (_, _, body) = whole(&system, "/inband/map", &[BROWSER]);
    assert!(body.contains("\"/inband/page/main.js\""), "{body}");
    assert_eq!(whole(&system, "/inband/page/main.js", &[]).0, 200);

    let none = System::start_with(ApiSettings { page: false, ..ApiSettings::default() });
    assert!(whole(&none, "/", &[BROWSER]).1.contains("text/plain"));
    assert_eq!(whole(&none, "/page/main.js", &[BROWSER]).0, 404);
}
