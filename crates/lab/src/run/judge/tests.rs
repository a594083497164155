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
