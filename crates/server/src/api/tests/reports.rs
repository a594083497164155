//! Report datagrams: in lists, with their fields, after a restart, and from captures.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use inband_capture::{ByteOrder, Format, Interface, LinkType, Record, Resolution, Writer};
use inband_testkit::{inner_only, md_frame, packet, report_group};
use serde_json::{Value, json};

use super::System;

#[test]
fn the_newest_datagrams_are_listed_and_shown_beside_their_fields() {
    let system = System::start("");
    system.report(5);
    let no_report = UdpSocket::bind("127.0.0.1:0").unwrap();
    no_report.send_to(&[0x50, 1, 2], system.reception.addresses()[0]).unwrap();
    let all = system.wait_for("/api/v1/reports", |list| len(&list["reports"]["time"]) == 6);
    assert_eq!(all["reports"]["hex"].as_array().unwrap().iter().filter(|hex| **hex == "500102").count(), 1);

    let of_node = ask(&system, "/api/v1/reports?node=7");
    assert_eq!(of_node["reports"]["sequence"], json!([4, 3, 2, 1, 0]), "{of_node}");
    assert_eq!(
        (&of_node["reports"]["version"][0], &of_node["reports"]["hex"][0]),
        (&json!("2.0"), &Value::Null)
    );
    assert_eq!(len(&ask(&system, "/api/v1/reports?node=8")["reports"]["time"]), 0);
    assert_eq!(len(&ask(&system, "/api/v1/reports?from=0&to=1")["reports"]["time"]), 0);

    let first = ask(&system, "/api/v1/reports?node=7&limit=2");
    let next = first["next"].as_str().unwrap();
    // Reports that arrive in between do not shift pages.
    system.report(1);
    system.wait_for("/api/v1/reports?node=7", |list| len(&list["reports"]["time"]) == 6);
    let second = ask(&system, &format!("/api/v1/reports?node=7&limit=3&after={next}"));
    assert_eq!(
        (&first["reports"]["sequence"], &second["reports"]["sequence"], &second["next"]),
        (&json!([4, 3]), &json!([2, 1, 0]), &Value::Null)
    );

    let at = time_of(&of_node, 2);
    let one = ask(&system, &format!("/api/v1/reports/7/0/2?at={at}"));
    assert_eq!((&one["received_at"], &one["recent"]), (&json!(at.to_string()), &json!(true)), "{one}");
    let hex = one["decoded"]["hex"].as_str().unwrap();
    assert_eq!(hex.len() as u64 / 2, one["length"].as_u64().unwrap());
    let body = json!({ "hex": hex }).to_string();
    let decoded: Value = serde_json::from_str(&system.send("post", "/api/v1/decode", &[], &body).1).unwrap();
    assert_eq!(decoded, one["decoded"]);
    assert_eq!(ask(&system, "/api/v1/reports/7/0/2")["received_at"], one["received_at"]);
    for path in ["/api/v1/reports/7/0/9", "/api/v1/reports/7/0/2?at=1000", "/api/v1/reports/8/0/2"] {
        assert_eq!(system.get(path).0, 404, "{path}");
    }
    for (path, parameter) in [
        ("/api/v1/reports/x/0/2", "node"),
        ("/api/v1/reports/7/256/2", "hw_id"),
        ("/api/v1/reports/7/0/-1", "sequence"),
        ("/api/v1/reports/7/0/2?at=now", "at"),
        ("/api/v1/reports?node=x", "node"),
        ("/api/v1/reports?limit=1001", "limit"),
        ("/api/v1/reports?after=1.2", "after"),
        ("/api/v1/reports?event=x", "event"),
        ("/api/v1/reports?live=1h&at=1", "live"),
    ] {
        let (status, problem) = system.get(path);
        let problem: Value = serde_json::from_str(&problem).unwrap();
        assert_eq!((status, problem["parameter"].as_str()), (400, Some(parameter)), "{path}: {problem}");
        assert!(problem["allowed"].is_string(), "{problem}");
    }
}

#[test]
fn what_an_event_rests_on_is_there_behind_a_restart() {
    let system = System::start("");
    system.report(3);
    system.sent.fetch_add(20, std::sync::atomic::Ordering::Relaxed);
    system.report(3);
    let events = system.wait_for("/api/v1/events?kind=report-loss", |events| !events[0].is_null());
    let (id, report) = (events[0]["id"].as_str().unwrap().to_owned(), events[0]["evidence"][0].clone());
    let path = format!("/api/v1/reports?event={id}");
    let before = system.wait_for(&path, |list| list["reports"]["events"][0] == json!([id]));
    assert_eq!(before["reports"]["sequence"][0], report["sequence"], "{before}");
    let address = format!(
        "/api/v1/reports/{}/{}/{}?at={}",
        report["node_id"], report["hw_id"], report["sequence"], report["received_at"]
    );
    let shown = ask(&system, &address);
    assert!(shown["events"].as_array().unwrap().contains(&json!(id)), "{shown}");
    assert_eq!(shown["recent"], true);

    let system = system.restart();

    let after = ask(&system, &path);
    assert_eq!(after["reports"], before["reports"]);
    assert_eq!(after["recent_from"], Value::Null);
    let again = ask(&system, &address);
    assert_eq!((&again["decoded"], &again["recent"]), (&shown["decoded"], &json!(false)));
    assert_eq!(again["length"], shown["length"]);
    assert_eq!(system.get("/api/v1/reports?event=00000000000000ff").0, 404);
}

#[test]
fn one_who_reads_the_newest_datagrams_holds_up_no_report() {
    let system = System::start("");
    system.report(1);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["accepted"] == 1);
    let reading = system._pipeline.asker().ask(|sight| sight.recent()).unwrap();
    assert_eq!(reading.iter().flat_map(|block| block.datagrams()).count(), 1);
    system.report(500);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["accepted"] == 501);
    assert_eq!(reading.iter().flat_map(|block| block.datagrams()).count(), 1);
}

#[test]
fn the_reports_of_a_capture_are_decoded() {
    let system = System::start("");
    for format in [
        Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 1 },
        Format::Pcapng { order: ByteOrder::Big },
    ] {
        let file = capture(format, 5);
        let (status, found) = post(&system, "/api/v1/decode?limit=3", &file);
        assert_eq!((status, &found["packets"], &found["datagrams"]), (200, &json!(10), &json!(5)), "{found}");
        let [first, last] = [&found["reports"][0], &found["reports"][2]];
        assert_eq!(
            (&first["packet"], &first["node_id"], &first["sequence"]),
            (&json!(2), &json!(7), &json!(0))
        );
        assert_eq!(
            (&first["time"], &last["packet"], &last["sequence"]),
            (&json!("1002"), &json!(6), &json!(2))
        );
        assert_eq!(first["decoded"]["error"], Value::Null);
        assert!(first["decoded"]["fields"]["name"].as_array().unwrap().contains(&json!("Sequence Number")));
        let rest = post(&system, &format!("/api/v1/decode?packet={}", found["next"]), &file).1;
        assert_eq!((len(&rest["reports"]), &rest["next"], &rest["error"]), (2, &Value::Null, &Value::Null));

        let cut = post(&system, "/api/v1/decode", &file[..file.len() - 7]).1;
        assert_eq!((len(&cut["reports"]), cut["error"].is_string()), (4, true), "{cut}");
        let other = post(&system, "/api/v1/decode?port=6343", &file).1;
        assert_eq!((&other["datagrams"], len(&other["reports"])), (&json!(0), 0));
    }
    let (status, problem) = post(&system, "/api/v1/decode", b"no capture");
    assert_eq!((status, &problem["parameter"]), (415, &json!("body")), "{problem}");
    assert_eq!(post(&system, "/api/v1/decode?limit=0", &capture(PCAPNG, 1)).1["parameter"], "limit");
    assert_eq!(post(&system, "/api/v1/decode", &vec![0; (4 << 20) + 1]).0, 413);
}

#[test]
fn a_capture_of_an_unknown_link_type_is_named_beside_its_number_of_packets() {
    let system = System::start("");
    let mut file =
        capture(Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 1 }, 2);
    // The link type of a pcap file.
    file[20..24].copy_from_slice(&147_u32.to_le_bytes());

    let (status, found) = post(&system, "/api/v1/decode", &file);

    assert_eq!((status, &found["packets"], &found["datagrams"]), (200, &json!(4), &json!(0)), "{found}");
    assert_eq!(found["error"], "link type 147 is not known: 4 of 4 packets were not read");
}

const PCAPNG: Format = Format::Pcapng { order: ByteOrder::Little };

/// A capture in which every second packet is a report.
fn capture(format: Format, reports: u32) -> Vec<u8> {
    let interfaces = [Interface { link_type: LinkType::ETHERNET, ..Interface::default() }];
    let mut writer = Writer::new(Vec::new(), format).unwrap();
    let mut number = 0;
    for sequence in 0..reports {
        let report =
            report_group(7).sequence(sequence).with(inner_only().inner(3, &md_frame().hop(7).build()));
        let frames = [
            packet().udp(5, 6).payload(&[1; 40]).build(),
            packet().udp(5, 32_766).payload(&report.build()).build(),
        ];
        for data in frames {
            number += 1;
            let original_length = u32::try_from(data.len()).unwrap();
            let captured_at_ns = 1_000 + number;
            let record = Record {
                number,
                captured_at_ns,
                link_type: LinkType::ETHERNET,
                original_length,
                data,
                ..Record::default()
            };
            writer.write_record(&record, &interfaces).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn post(system: &System, path: &str, body: &[u8]) -> (u16, Value) {
    let mut stream = TcpStream::connect(system.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/vnd.tcpdump.pcap\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        system.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A body that is too long is refused before it ends.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

fn ask(system: &System, path: &str) -> Value {
    let (status, body) = system.get(path);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

fn time_of(list: &Value, row: usize) -> u64 {
    let base: u64 = list["base"].as_str().unwrap().parse().unwrap();
    base + list["reports"]["time"][row].as_u64().unwrap()
}

fn len(list: &Value) -> usize {
    list.as_array().unwrap().len()
}
