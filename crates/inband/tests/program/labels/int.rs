//! Checks of the labels of INT headers and hops.

use serde_json::{Value, json};

use super::{Reader, hex, number};

/// Checks a part of an INT header; returns `false` for other labels.
pub(super) fn check(reader: &mut Reader<'_>, label: &str, bytes: &[u8]) -> bool {
    if label.contains("shim") || label == "Geneve option header" {
        reader.headers += 1;
        reader.destination.clear();
        check_shim(reader.header(), label, bytes);
    } else if label.contains("metadata header") || label.contains("hop") || label.contains(" entry:") {
        let header = reader.header();
        if header["type"] == "destination" {
            reader.destination += &hex(bytes);
            assert!(header["data"].as_str().unwrap().starts_with(&reader.destination), "{header}");
        } else if label.contains("metadata header") {
            check_header(header, bytes);
        } else {
            check_hop(header, label, bytes);
        }
    } else if label == "per-flow sequence number" {
        assert_eq!(reader.header()["sequence"], number(bytes));
    } else if label.starts_with("INT tail") {
        check_tail(&reader.header()["original"], bytes);
    } else {
        return false;
    }
    true
}

fn check_shim(header: &Value, label: &str, bytes: &[u8]) {
    let is_2 = label.ends_with("v2.x");
    let code = match label {
        "Geneve option header" => bytes[2],
        _ if is_2 => bytes[0] >> 4,
        _ => bytes[0],
    };
    let expected = match code {
        2 => "destination",
        _ if header["version"] != "2.1" => "hop-by-hop",
        1 => "md",
        _ => "mx",
    };
    assert_eq!(header["type"], expected);
    let original = match label {
        "Geneve option header" => json!({}),
        _ if label.contains("(VXLAN")
            || label.starts_with("INT shim 1")
            || label.starts_with("INT shim 2") =>
        {
            json!({"next_protocol": bytes[3]})
        }
        _ if label.contains("GRE") => json!({"ethertype": number(&bytes[2..])}),
        _ if is_2 && bytes[0] >> 2 & 3 == 2 => json!({"ip_protocol": bytes[3]}),
        _ if is_2 || label.contains("v1.0") => json!({"dscp": bytes[3] >> 2}),
        // Versions with a tail have it there.
        _ => return,
    };
    assert_eq!(header["original"], original, "{label}");
}

fn check_header(header: &Value, bytes: &[u8]) {
    let first = number(&bytes[..4]);
    let bit = |at: u32| first >> (31 - at) & 1 == 1;
    assert_eq!(header["instruction_bitmap"], number(&bytes[4..6]));
    match header["version"].as_str().unwrap() {
        "2.1" => {
            assert_eq!((&header["discard"], &header["max_hops_exceeded"]), (&json!(bit(4)), &json!(bit(5))));
            assert_eq!(
                (&header["mtu_exceeded"], &header["domain"]),
                (&json!(bit(6)), &json!(number(&bytes[6..8])))
            );
            assert_eq!(
                (&header["hop_ml"], &header["remaining_hops"]),
                (&json!(first >> 8 & 31), &json!(bytes[3]))
            );
        }
        "1.0" => {
            assert_eq!(
                (&header["max_hops_exceeded"], &header["mtu_exceeded"]),
                (&json!(bit(7)), &json!(bit(8)))
            );
            assert_eq!(
                (&header["hop_ml"], &header["remaining_hops"]),
                (&json!(first >> 8 & 31), &json!(bytes[3]))
            );
            assert_eq!(header["copy"], bit(6));
        }
        _ => {
            let is_2016 = header["version"] == "2016";
            let (copy, exceeded) = if is_2016 { (bit(4), bit(5)) } else { (bit(6), bit(7)) };
            assert_eq!((&header["copy"], &header["max_hops_exceeded"]), (&json!(copy), &json!(exceeded)));
            assert_eq!(header["hop_ml"], bytes[1] & 31);
            assert_eq!((&header["max_hops"], &header["total_hops"]), (&json!(bytes[2]), &json!(bytes[3])));
        }
    }
}

/// `metadata hop2: queue id+occupancy`, `hop1: sw id (BOS=1)`, `source entry: …` or all of one hop.
fn check_hop(header: &Value, label: &str, bytes: &[u8]) {
    let hops = header["hops"].as_array().unwrap();
    let (place, what) = label.split_once(':').unwrap_or((label, ""));
    let is_2016 = header["version"] == "2016";
    let value = number(bytes) & if is_2016 { 0x7fff_ffff } else { u64::MAX };
    let hop = match place {
        "sink entry" | "hop metadata" => &hops[0],
        "source entry" => hops.last().unwrap(),
        _ => {
            let hop: usize = place.rsplit("hop").next().unwrap().parse().unwrap();
            &hops[hops.len() - hop]
        }
    };
    match what.split(" (").next().unwrap().trim() {
        "node id" | "sw id" | "switch id" => assert_eq!(hop["node_id"], value),
        "queue" if is_2016 => assert_eq!(hop["queue_occupancy"], value),
        "queue id+occupancy" => {
            let queue = (&hop["queue_id"], &hop["queue_occupancy"]);
            assert_eq!(queue, (&json!(bytes[0]), &json!(number(&bytes[1..]))));
        }
        "ingress ts" => assert_eq!(hop["ingress_timestamp"], value),
        "node,ig port,eg port,ig ts,eg ts" => {
            let expected = json!({
                "node_id": number(&bytes[..4]),
                "ingress_interface": number(&bytes[4..6]), "egress_interface": number(&bytes[6..8]),
                "ingress_timestamp": number(&bytes[8..12]), "egress_timestamp": number(&bytes[12..]),
            });
            assert_eq!(*hop, expected);
        }
        "" => check_whole_hop(hop, bytes),
        other => panic!("no rule for {other}"),
    }
}

/// Node, interfaces, latency, queue and timestamps, as bitmap 0xfc00 requests.
fn check_whole_hop(hop: &Value, bytes: &[u8]) {
    let word = |at: usize| match number(&bytes[at..at + 4]) {
        0xffff_ffff => Value::Null,
        value => value.into(),
    };
    let expected = json!({
        "node_id": word(0),
        "ingress_interface": number(&bytes[4..6]), "egress_interface": number(&bytes[6..8]),
        "hop_latency": word(8), "queue_id": bytes[12], "queue_occupancy": number(&bytes[13..16]),
        "ingress_timestamp": word(16), "egress_timestamp": word(20),
    });
    assert_eq!(*hop, expected);
}

/// A value of 0 was not stored, except for the DSCP of packets marked by it.
fn check_tail(original: &Value, bytes: &[u8]) {
    let kept = |value: u64| if value == 0 { Value::Null } else { value.into() };
    assert_eq!(original["ip_protocol"], kept(bytes[0].into()));
    assert_eq!(original["udp_port"], kept(number(&bytes[1..3])));
    assert_eq!(original["dscp"].as_u64().unwrap_or(0), u64::from(bytes[3]));
}
