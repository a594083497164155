//! What the collector is asked.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use inband_model::Flow;

use super::{Client, ended};
use crate::trace::stack::{Ended, Hop};

/// Answers each request with one of `rows`, and returns the requests.
fn collector(rows: Vec<&'static str>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answer = move |rows: &&str| {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut request = String::new();
        // A request is a head and one JSON object.
        while !request.ends_with('}') {
            let mut bytes = [0; 4096];
            let length = stream.read(&mut bytes).unwrap();
            assert!(length > 0, "{request}");
            request += std::str::from_utf8(&bytes[..length]).unwrap();
        }
        let body = format!("{{\"rows\":{rows}}}");
        let length = body.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .unwrap();
        request
    };
    (address, std::thread::spawn(move || rows.iter().map(answer).collect()))
}

#[test]
fn only_the_latest_history_is_searched_and_from_the_same_time_on() {
    let flow = Flow {
        source: [10, 0, 1, 1].into(),
        destination: [10, 0, 2, 1].into(),
        protocol: 17,
        source_port: 40_000,
        destination_port: 33_434,
    };
    let (address, asked) = collector(vec!["[[2,7000]]", "[[2,7000]]"]);
    let client = Client::new(address.parse().unwrap(), None, Duration::from_secs(1));

    let mark = client.mark(flow).unwrap();
    let seen = client.look(flow, &mark, 16).unwrap();

    assert_eq!(seen, None, "no report has come");
    let asked = asked.join().unwrap();
    assert!(asked[0].contains("time > (unixepoch() - 61) * 1000000000 "), "{}", asked[0]);
    assert!(asked[1].contains("time > 7000 "), "{}", asked[1]);
}

#[test]
fn the_last_hop_that_was_allowed_is_not_the_sink_that_reports() {
    let hops = |nodes: &[u32]| -> Vec<Hop> {
        nodes.iter().map(|node_id| Hop { node_id: *node_id, ..Hop::default() }).collect()
    };
    for (nodes, remaining_hops, is_dropped, expected) in [
        (&[1, 2][..], 16, false, Ended::Sink),
        (&[1, 2], 2, false, Ended::Sink),
        (&[1], 1, false, Ended::HopsExceeded),
        (&[1], 16, false, Ended::MtuExceeded),
        (&[], 16, false, Ended::Sink),
        (&[], 0, false, Ended::HopsExceeded),
        (&[1], 1, true, Ended::Lost),
    ] {
        assert_eq!(ended(&hops(nodes), Some(2), is_dropped, remaining_hops), expected, "{nodes:?}");
    }
}
