//! Checks of the labels of telemetry reports.

use serde_json::{Value, json};

use super::{Reader, check_flow, hex, number};

/// Checks a part of a report; returns `false` for other labels.
pub(super) fn check(reader: &mut Reader<'_>, label: &str, bytes: &[u8]) -> bool {
    let line = reader.line;
    match label {
        "TR v2.0 group header" => {
            assert_eq!((&line["version"], &line["node_id"]), (&json!("2.0"), &json!(number(&bytes[4..]))));
            let first = number(&bytes[..4]);
            let numbers = (&line["hw_id"], &line["sequence"]);
            assert_eq!(numbers, (&json!(first >> 22 & 0x3f), &json!(first & 0x3f_ffff)));
        }
        "TR v2.0 individual report word" => {
            next_report(reader);
            check_flags(reader.holder, bytes[3] >> 4);
        }
        "TR v1.0 header" => {
            next_report(reader);
            assert_eq!((&line["version"], &line["node_id"]), (&json!("1.0"), &json!(number(&bytes[4..8]))));
            assert_eq!(
                (&line["hw_id"], &line["sequence"]),
                (&json!(bytes[3] & 0x3f), &json!(number(&bytes[8..12])))
            );
            assert_eq!(reader.holder["metadata"]["ingress_timestamp"], number(&bytes[12..]));
            check_flags(reader.holder, (number(&bytes[2..4]) >> 5 & 0x0e) as u8);
        }
        "TR v0.5 fixed header" => {
            check_0_5(reader, bytes);
            assert_eq!(reader.holder["metadata"]["ingress_timestamp"], number(&bytes[8..]));
        }
        _ if label.starts_with("Host-INT report header") => {
            check_0_5(reader, bytes);
            assert_eq!(reader.holder["reported_at"], number(&bytes[8..]));
        }
        "TR v0.5 switch-local header" => {
            check_node(reader, bytes);
            check_queue(&reader.holder["metadata"], &bytes[8..12]);
            assert_eq!(reader.holder["metadata"]["egress_timestamp"], number(&bytes[12..]));
        }
        "TR v0.5 drop header" => {
            check_node(reader, bytes);
            check_drop(reader.holder, &bytes[8..]);
        }
        "sink node id" => assert_eq!(line["node_id"], number(bytes)),
        _ if label.starts_with("IPv4 (as received") || label.starts_with("synthesized IPv4") => {
            check_flow(&reader.holder["flow"], bytes);
        }
        _ if label.starts_with("synthesized UDP") => {
            let ports = (&reader.holder["flow"]["source_port"], &reader.holder["flow"]["destination_port"]);
            assert_eq!(ports, (&json!(number(&bytes[..2])), &json!(number(&bytes[2..4]))));
        }
        _ if label.starts_with("drop summary") => check_drop_summary(&reader.holder["drop_summary"], bytes),
        _ => return check_metadata(reader, label, bytes),
    }
    true
}

fn check_metadata(reader: &Reader<'_>, label: &str, bytes: &[u8]) -> bool {
    let report = reader.holder;
    let metadata = &report["metadata"];
    let Some((_, what)) = label.split_once("RepMd: ").or_else(|| label.split_once("optional: ")) else {
        return match label {
            "TR v2.0 INT main contents" => {
                assert_eq!(report["domain"], number(&bytes[2..4]));
                true
            }
            "DS metadata word" => {
                assert_eq!(report["domain_metadata"], hex(bytes));
                true
            }
            _ => label.starts_with("TLV type") || label.starts_with("DS extension data"),
        };
    };
    match what.split(" of ").next().unwrap() {
        "ports" | "L1 interface ids" | "L1 ids" => check_interfaces(metadata, bytes),
        "hop latency" => assert_eq!(metadata["hop_latency"], number(bytes)),
        "queue" => check_queue(metadata, bytes),
        "egress ts" => assert_eq!(metadata["egress_timestamp"], number(bytes)),
        "ingress ts" | "ingress ts 64b" => assert_eq!(metadata["ingress_timestamp"], number(bytes)),
        "queue+drop reason" => check_drop(report, bytes),
        "tx util" => assert_eq!(metadata["egress_utilization"], number(bytes)),
        other => panic!("no rule for {other}"),
    }
    true
}

fn next_report(reader: &mut Reader<'_>) {
    reader.holder = &reader.line["reports"][reader.reports];
    reader.reports += 1;
    reader.headers = 0;
}

/// D, Q, F and I, in the low 4 bits.
fn check_flags(report: &Value, flags: u8) {
    for (key, bit) in [("dropped", 8), ("queue", 4), ("flow_report", 2), ("intermediate", 1)] {
        assert_eq!(report[key], flags & bit != 0, "{key}");
    }
}

fn check_0_5(reader: &mut Reader<'_>, bytes: &[u8]) {
    next_report(reader);
    let line = reader.line;
    assert_eq!((&line["version"], &line["hw_id"]), (&json!("0.5"), &json!(bytes[3] & 0x3f)));
    assert_eq!(line["sequence"], number(&bytes[4..8]));
    check_flags(reader.holder, bytes[1] >> 4 & 0x0e);
}

fn check_node(reader: &Reader<'_>, bytes: &[u8]) {
    assert_eq!(reader.line["node_id"], number(&bytes[..4]));
    check_interfaces(&reader.holder["metadata"], &bytes[4..8]);
}

fn check_interfaces(metadata: &Value, bytes: &[u8]) {
    let interfaces = (&metadata["ingress_interface"], &metadata["egress_interface"]);
    assert_eq!(interfaces, (&json!(number(&bytes[..2])), &json!(number(&bytes[2..]))));
}

fn check_queue(metadata: &Value, bytes: &[u8]) {
    let queue = (&metadata["queue_id"], &metadata["queue_occupancy"]);
    assert_eq!(queue, (&json!(bytes[0]), &json!(number(&bytes[1..]))));
}

fn check_drop(report: &Value, bytes: &[u8]) {
    assert_eq!((&report["drop_queue_id"], &report["drop_reason"]), (&json!(bytes[0]), &json!(bytes[1])));
}

fn check_drop_summary(summary: &Value, bytes: &[u8]) {
    let expected = json!({
        "source_node_id": number(&bytes[..4]), "sink_node_id": number(&bytes[4..8]),
        "ingress_interface": number(&bytes[8..10]), "egress_interface": number(&bytes[10..12]),
        "gap_time": number(&bytes[12..16]), "gap_sequence": number(&bytes[16..20]),
        "gap_count": number(&bytes[20..]),
    });
    assert_eq!(*summary, expected);
}
