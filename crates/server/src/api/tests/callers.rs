//! Callers without requests keep no one out, and each is counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::System;
use crate::api::{ApiError, Listening};
use crate::settings::ApiSettings;

#[test]
fn the_api_answers_while_slow_callers_hold_every_place() {
    let system = System::start_with(ApiSettings {
        max_connections: 16,
        max_connections_per_peer: 16,
        max_streams: 8,
        // Longer than the test waits for an answer: only evictions make room.
        header_seconds: 600,
        body_seconds: 600,
        idle_seconds: 600,
        unread_seconds: 600,
        ..ApiSettings::default()
    });
    let mut slow: Vec<TcpStream> = Vec::new();
    for _ in 0..40 {
        slow.push(TcpStream::connect(system.address).unwrap());
        slow.push(begin(&system, "GET /healthz HTTP/1.1\r\nHost: loc"));
        slow.push(begin(
            &system,
            "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: 1000\r\n\r\n{",
        ));
        slow.push(begin(&system, "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    }

    for path in ["/healthz", "/readyz", "/metrics"] {
        let (status, body) = system.get(path);
        assert_eq!(status, 200, "{path}: {body}");
    }

    let metrics = system.get("/metrics").1;
    let evicted: u64 = ["full", "peer", "streams"].map(|reason| closed(&metrics, reason)).iter().sum();
    assert!(evicted >= 140, "{metrics}");
    assert!(metrics.contains("inband_api_connections_accepted_total 164\n"), "{metrics}");
    drop(slow);
}

#[test]
fn whoever_takes_too_long_is_ended_and_counted_by_reason() {
    let post = "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{";
    let get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // Only one limit is short at a time: on a busy machine another one might end the connection first.
    let header = || ApiSettings { header_seconds: 1, ..ApiSettings::default() };
    let body = || ApiSettings { body_seconds: 1, ..ApiSettings::default() };
    let idle = || ApiSettings { idle_seconds: 1, ..ApiSettings::default() };
    let cases = [
        ("header", header(), "", ""),
        ("header", header(), "GET /healthz HTTP/1.1\r\nHost: loc", ""),
        ("body", body(), post, "HTTP/1.1 408 Request Timeout"),
        ("idle", idle(), get, "HTTP/1.1 200 OK"),
    ];
    for (reason, settings, call, expected) in cases {
        let system = System::start_with(settings);

        let mut stream = begin(&system, call);
        let mut answer = Vec::new();
        // If bytes were left unread, the connection is reset after the answer.
        let _ = stream.read_to_end(&mut answer);

        let answer = String::from_utf8(answer).unwrap();
        assert_eq!(answer.lines().next().unwrap_or_default(), expected, "{reason}: {call:?}");
        let metrics = system.get("/metrics").1;
        assert_eq!(closed(&metrics, reason), 1, "{call:?}: {metrics}");
    }
}

#[test]
fn an_unfinished_handshake_is_ended_and_keeps_nobody_out() {
    let folder = std::env::temp_dir().join(format!("inband-handshake-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let system = System::start_with(ApiSettings {
        tls_certificate: certificate,
        tls_key: key,
        max_connections: 4,
        header_seconds: 1,
        ..ApiSettings::default()
    });
    let root = ureq::tls::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let tls = ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::from([root])).build();
    let agent = ureq::Agent::config_builder().tls_config(tls).build().new_agent();
    let ask = |path: &str| {
        let url = format!("https://localhost:{}{path}", system.address.port());
        agent.get(&url).call().unwrap().body_mut().read_to_string().unwrap()
    };
    // The beginning of a handshake: a record that announces more bytes.
    let mut slow: Vec<_> = (0..20).map(|_| TcpStream::connect(system.address).unwrap()).collect();
    slow.iter_mut().for_each(|stream| drop(stream.write_all(&[0x16, 3, 1, 2, 0, 1])));

    assert_eq!(ask("/healthz"), "ok\n");
    // Callers that hold their place lose it for their handshake.
    let begun = Instant::now();
    loop {
        let metrics = ask("/metrics");
        if closed(&metrics, "full") >= 16 && closed(&metrics, "handshake") >= 1 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{metrics}");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_readers_token_asks_and_changes_nothing() {
    let system = System::start_with(ApiSettings {
        token: "all".to_owned(),
        read_token: "read".to_owned(),
        ..ApiSettings::default()
    });
    let calls = [
        ("get", "/api/v1/ledger", ""),
        ("get", "/api/v1/silences", ""),
        ("post", "/api/v1/query", r#"{"sql":"SELECT 1"}"#),
        ("post", "/api/v1/silences", r#"{"key":"leaf1"}"#),
        ("delete", "/api/v1/silences/0", ""),
        ("post", "/api/v1/events/00000000000000ff/acknowledge", r#"{"by":"me"}"#),
    ];
    let statuses = |token: &str| {
        calls.map(|(method, path, body)| {
            let bearer = format!("Bearer {token}");
            system.send(method, path, &[("Authorization", &bearer)], body).0
        })
    };

    assert_eq!(statuses("read"), [200, 200, 200, 403, 403, 403]);
    assert_eq!(statuses("all"), [200, 200, 200, 200, 200, 404]);
    assert_eq!(statuses(""), [401; 6]);

    let alone = ApiSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        read_token: "read".to_owned(),
        ..ApiSettings::default()
    };
    assert!(matches!(Listening::open(&alone), Err(ApiError::Readers)));
}

#[test]
fn behind_a_proxy_the_api_answers_with_its_base_path_and_without() {
    let base_path = "/inband".to_owned();
    let system = System::start_with(ApiSettings { base_path, ..ApiSettings::default() });
    for path in ["/healthz", "/inband/healthz", "/inband/api/v1/events?limit=1", "/inband", "/inband/"] {
        assert_eq!(system.get(path).0, 200, "{path}");
    }
    assert_eq!((system.get("/inbandage/healthz").0, system.get("/other/healthz").0), (404, 404));
    assert!(system.get("/inband/api/v1/openapi.json").1.contains(r#""servers":[{"url":"/inband"}]"#));
    assert!(system.get("/").1.contains(" /inband/api/v1/ledger "));

    let wrong = ApiSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        base_path: "inband/".to_owned(),
        ..ApiSettings::default()
    };
    assert!(matches!(Listening::open(&wrong), Err(ApiError::BasePath(_))));
}

/// A connection on which `call` was sent.
fn begin(system: &System, call: &str) -> TcpStream {
    let mut stream = TcpStream::connect(system.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // It may have been evicted for another one.
    let _ = stream.write_all(call.as_bytes());
    stream
}

fn closed(metrics: &str, reason: &str) -> u64 {
    let name = format!("inband_api_connections_closed_total{{reason=\"{reason}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}
