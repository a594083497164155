//! Problems have the form of answers, and name their reasons.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;

use serde_json::{Value, json};

use super::System;
use crate::settings::ApiSettings;

#[test]
fn every_problem_is_told_in_json() {
    let system = System::start("");
    let long = format!("{{\"sql\":\"{}\"}}", "a".repeat(3 << 20));
    for (method, path, body, expected) in [
        ("get", "/api/v1/flows?limit=no", "", 400),
        ("get", "/api/v1/flows?limit=-1", "", 400),
        ("get", "/api/v1/flows?bogus=1", "", 400),
        ("get", "/api/v1/events?active=maybe", "", 400),
        ("get", "/api/v1/flows/x", "", 400),
        ("delete", "/api/v1/silences/x", "", 400),
        ("post", "/api/v1/silences", "{\"kind\":\"nothing\"}", 400),
        ("post", "/api/v1/query", "{", 400),
        ("post", "/api/v1/query", long.as_str(), 413),
        ("get", "/api/v1/flows/1", "", 404),
        ("get", "/api/v1/events/x", "", 400),
        ("get", "/api/v1/events/00ff", "", 404),
        ("get", "/nothing", "", 404),
        ("get", "/api/v1/query", "", 405),
        ("post", "/healthz", "", 405),
    ] {
        let (status, body) = system.send(method, path, &[], body);
        let told: Value = serde_json::from_str(&body).unwrap_or_default();
        assert_eq!((status, told["error"].is_string()), (expected, true), "{method} {path}: {body}");
    }
    let head = system.head_of("post", "/api/v1/ledger");
    assert!(head.contains("allow: GET"), "{head}");
}

#[test]
fn integers_past_2_to_the_53_are_texts_where_that_is_asked_for() {
    let system = System::start("");
    let ask = |integers: &str| {
        let sql = "SELECT 9007199254740991, 9007199254740993, -9007199254740993, 1.5, 'a', NULL";
        let (status, body) =
            system.send("post", "/api/v1/query", &[], &format!("{{\"sql\":\"{sql}\"{integers}}}"));
        (status, serde_json::from_str::<Value>(&body).unwrap_or_default()["rows"].to_string())
    };
    let numbers = r#"[[9007199254740991,9007199254740993,-9007199254740993,1.5,"a",null]]"#;
    assert_eq!(ask(""), (200, numbers.to_owned()));
    assert_eq!(ask(",\"integers\":\"number\""), (200, numbers.to_owned()));
    let texts = r#"[[9007199254740991,"9007199254740993","-9007199254740993",1.5,"a",null]]"#;
    assert_eq!(ask(",\"integers\":\"text\""), (200, texts.to_owned()));
    assert_eq!(ask(",\"integers\":\"words\"").0, 400);
}

#[test]
fn columns_of_one_name_have_keys_of_their_own_in_lines() {
    let system = System::start("");
    let ask = |sql: &str| {
        let body = json!({ "sql": sql, "format": "jsonl" }).to_string();
        system.send("post", "/api/v1/query", &[], &body)
    };
    assert_eq!(ask("SELECT 1 AS s, 2 AS s"), (200, "{\"s\":1,\"s_1\":2}\n".to_owned()));
    let further = "{\"s\":1,\"s_2\":2,\"s_1\":3,\"s_3\":4}\n";
    assert_eq!(ask("SELECT 1 AS s, 2 AS s, 3 AS s_1, 4 AS s"), (200, further.to_owned()));
}

#[test]
fn questions_to_history_wait_for_each_other() {
    let system = System::start("");
    let ask = || system.send("post", "/api/v1/query", &[], "{\"sql\":\"SELECT 1\"}").0;
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..24).map(|_| scope.spawn(ask)).collect();
        assert!(asked.into_iter().all(|asked| asked.join().unwrap() == 200));
    });
}

#[test]
fn any_number_of_callers_may_be_set() {
    for max_connections in [0, usize::MAX] {
        let system = System::start_with(ApiSettings { max_connections, ..ApiSettings::default() });
        assert_eq!(system.get("/healthz").0, 200);
    }
}

#[test]
fn malformed_datagrams_are_told_with_their_reasons() {
    let system = System::start("");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for datagram in [&b"no report"[..], b"no report", &[0x20, 0, 0, 1]] {
        socket.send_to(datagram, system.reception.addresses()[0]).unwrap();
    }

    let ledger = system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["malformed"] == 3);

    let reasons = ledger["malformed"].as_array().unwrap();
    let count = |reason: &Value| reason["count"].as_u64().unwrap();
    assert_eq!((reasons.len(), reasons.iter().map(count).sum::<u64>()), (2, 3), "{ledger}");
    let metrics = system.get("/metrics").1;
    for reason in reasons {
        let (header, fault) = (reason["header"].as_str().unwrap(), reason["fault"].as_str().unwrap());
        let labels = format!("{{header=\"{header}\",fault=\"{fault}\"}}");
        let line = format!("inband_datagrams_malformed_by_fault_total{labels} {}", count(reason));
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }
    assert_eq!(ledger["overflows"]["evicted_flows"], 0);
    assert!(metrics.contains("inband_overflows_total{what=\"evicted_flows\"} 0\n"), "{metrics}");
}

#[test]
fn a_listener_hears_events_with_their_ids() {
    let system = System::start("");
    let mut stream = BufReader::new(system.open("get", "/api/v1/stream", &[], ""));
    let mut heard = String::new();
    // The stream has started once something arrived.
    while !heard.contains("event: ledger") {
        assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
    }
    system.report(3);
    while !heard.contains("\"event\":\"new-flow\"") {
        assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
    }

    let told = heard.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let event: Value = serde_json::from_str(told).unwrap();
    let known: Value = serde_json::from_str(&system.get("/api/v1/events").1).unwrap();
    let ids: Vec<&Value> = known.as_array().unwrap().iter().map(|event| &event["id"]).collect();
    assert!(ids.contains(&&event["id"]), "{event} is not among {known}");
}
