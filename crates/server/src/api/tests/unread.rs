//! Answers that are not read hold a bounded amount of memory.

use std::io::Read;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::System;
use crate::settings::ApiSettings;

#[test]
fn answers_that_are_not_read_leave_no_room_for_further_long_ones_until_their_callers_have_gone() {
    let system = system();
    let body = json!({ "sql": megabytes(12, "'a'") }).to_string();
    let unread: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = system.open("post", "/api/v1/query", &[], &body);
            let mut begun = [0; 15];
            stream.read_exact(&mut begun).unwrap();
            assert_eq!(&begun, b"HTTP/1.1 200 OK");
            stream
        })
        .collect();

    let (status, problem) = system.send("post", "/api/v1/query", &[], &body);
    assert_eq!(status, 503, "{}", &problem[..problem.len().min(200)]);
    let problem: Value = serde_json::from_str(&problem).unwrap();
    assert_eq!((&problem["status"], problem["error"].is_string()), (&json!(503), true), "{problem}");
    assert_eq!((system.get("/api/v1/ledger").0, system.get("/metrics").0), (200, 200));
    assert_eq!(system.send("post", "/api/v1/query", &[], r#"{"sql":"SELECT 1"}"#).0, 200);

    drop(unread);
    let begun = Instant::now();
    loop {
        let last = system.send("post", "/api/v1/query", &[], &body).0;
        if last == 200 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{last}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_text_of_an_answer_takes_no_more_than_query_bytes() {
    let system = system();
    // Six characters for each of one byte.
    let sql = megabytes(4, "char(1)");
    for format in ["json", "columns", "jsonl"] {
        let body = json!({ "sql": sql, "format": format }).to_string();
        let (status, problem) = system.send("post", "/api/v1/query", &[], &body);
        assert_eq!(status, 422, "{format}: {}", &problem[..problem.len().min(200)]);
        assert!(problem.contains("16777216 bytes"), "{format}: {problem}");
    }
}

/// SQL whose answer has that many million letters.
fn megabytes(millions: u32, letter: &str) -> String {
    let rows = 5 * millions;
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows}) \
         SELECT printf('%.*c', 200000, {letter}) FROM n"
    )
}

fn system() -> System {
    System::start_with(ApiSettings { query_bytes: 16 << 20, ..ApiSettings::default() })
}
