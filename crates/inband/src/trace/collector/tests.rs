//! What the collector is asked.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use inband_model::Flow;

use super::Client;

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
