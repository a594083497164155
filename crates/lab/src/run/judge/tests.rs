//! What expectations are judged by.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use super::Judge;
use crate::lab::Lab;

const TOPOLOGY: &str = r#"
name = "x"
collector = { api = "API" }
switch = [{ name = "s1", int = false }, { name = "s2", int = false }]
link = [{ ends = ["s1", "s2"] }]
expect = [{ event = "loop", absent = true }, { only = [] }]
"#;

#[test]
fn a_poll_that_fails_is_made_up_for_by_a_later_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = TOPOLOGY.replace("API", &listener.local_addr().unwrap().to_string());
    let lab = Lab::new(toml::from_str(&text).unwrap(), &text).unwrap();
    let mut judge = Judge::new(&lab);
    // Each poll is two requests; the first request of each other poll finds the connection closed.
    let collector = std::thread::spawn(move || {
        for is_answered in [false, true, true, false] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            if is_answered {
                stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n[]").unwrap();
            }
        }
    });
    let mut judged = || {
        judge.look(Duration::from_secs(1));
        judge.finish(&lab, |_| (true, String::new()))
    };

    let failed = judged();
    let answered = judged();
    let failed_last = judged();

    collector.join().unwrap();
    for (judgements, passed) in [(failed, false), (answered, true), (failed_last, false)] {
        for judgement in judgements {
            assert_eq!(judgement.passed, passed, "{judgement:?}");
            let is_explained = judgement.seen.starts_with("the collector cannot be asked: ");
            assert_eq!(is_explained, !passed, "{judgement:?}");
        }
    }
}

#[test]
fn an_event_after_its_latest_time_is_told_with_the_time_of_its_first_sight() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = TOPOLOGY.replace("API", &listener.local_addr().unwrap().to_string());
    let text = text.replace(r#"event = "loop", absent = true"#, r#"event = "loop", by = "1s""#);
    let lab = Lab::new(toml::from_str(&text).unwrap(), &text).unwrap();
    let mut judge = Judge::new(&lab);
    let collector = std::thread::spawn(move || {
        for answer in [r#"[{ "id": "1", "event": "loop", "title": "s1 s2" }]"#, "[]"] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{answer}").unwrap();
        }
    });

    judge.look(Duration::from_millis(1_100));

    collector.join().unwrap();
    let judgement = &judge.finish(&lab, |_| (true, String::new()))[0];
    assert_eq!((judgement.passed, judgement.at), (false, Some(1.1)), "{judgement:?}");
    assert_eq!(judgement.seen, "s1 s2, at 1.1 s");
}
