//! Wrong parameters, and wrong keys of bodies, are named with what is allowed.

use serde_json::Value;

use super::System;

#[test]
fn a_wrong_value_is_named_with_what_is_allowed() {
    let system = System::start("");
    for (path, parameter, allowed) in [
        ("/api/v1/events?from=5&to=4", "from", "a time before to"),
        ("/api/v1/paths?source=nope", "source", "an address, a prefix"),
        ("/api/v1/paths?destination=", "destination", "an address, a prefix"),
        ("/api/v1/links/xx/flows", "id", "1.2-11.3"),
        ("/api/v1/talkers?seconds=4294967295", "seconds", "1 to 31622400"),
        ("/api/v1/talkers?seconds=0", "seconds", "1 to 31622400"),
        ("/api/v1/talkers?step=0", "step", "at least 1"),
        ("/api/v1/talkers?seconds=5000&step=1", "step", "at least 5"),
    ] {
        let (status, body) = system.get(path);
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &problem["parameter"]), (400, &parameter.into()), "{path}: {body}");
        assert!(problem["allowed"].as_str().unwrap().contains(allowed), "{path}: {body}");
    }
}

#[test]
fn a_wrong_key_of_a_body_is_named_with_what_is_allowed() {
    let system = System::start("");
    let acknowledge = "/api/v1/events/00000000000000ff/acknowledge";
    for (method, path, body, parameter, allowed) in [
        ("post", "/api/v1/query", r#"{"sql":"SELECT 1","format":"xml"}"#, "format", "`jsonl`"),
        ("post", "/api/v1/query", r#"{"sql":"SELECT 1","integers":"words"}"#, "integers", "`text`"),
        ("post", "/api/v1/query", r#"{"sql":1}"#, "sql", "a string"),
        ("post", "/api/v1/query", "{}", "sql", "once"),
        ("post", "/api/v1/query", r#"{"sql":"SELECT 1","limit":1}"#, "limit", "`integers`"),
        ("post", "/api/v1/query", r#"{"sql":"SELECT count(*) FROM events \u0000 WHERE 0"}"#, "sql", "NUL"),
        ("post", "/api/v1/silences", r#"{"kind":"nothing"}"#, "kind", "`loop`"),
        ("post", acknowledge, r#"{"comment":"x"}"#, "by", "once"),
        ("delete", "/api/v1/silences/x", "", "number", "a number"),
    ] {
        let (status, answer) = system.send(method, path, &[], body);
        let problem: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &problem["parameter"]), (400, &parameter.into()), "{path} {body}: {answer}");
        assert!(problem["allowed"].as_str().unwrap().contains(allowed), "{path} {body}: {answer}");
    }
}
