//! What a person reads.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::{Handling, Outcome, Router, Seen, Summary, next, text};
use crate::trace::stack::{Ended, Hop};
use crate::trace::tuple;

const ROUTER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 254));

fn hops(nodes: &[u32]) -> Vec<Hop> {
    nodes.iter().map(|node_id| Hop { node_id: *node_id, ..Hop::default() }).collect()
}

fn outcome(number: u32, source_port: u16, seen: Seen) -> Outcome {
    let mut flow = tuple::parse("udp 10.0.1.1:1 > 10.0.2.1:33434").unwrap();
    flow.source_port = source_port;
    Outcome { number, flow, seen }
}

fn sink(nodes: &[u32]) -> Seen {
    Seen::reported(hops(nodes), Ended::Sink)
}

fn lost() -> Seen {
    Seen { at: Some(ROUTER), ..Seen::new(Vec::new(), Ended::Lost) }
}

/// The lines without the tables of hops.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("  hop ") && !line.contains(" > -")).collect()
}

#[test]
fn each_path_has_its_own_end_and_lost_flows_their_ports() {
    let outcomes = [
        outcome(1, 7, lost()),
        outcome(2, 14, sink(&[1, 11, 2])),
        outcome(3, 21, lost()),
        outcome(4, 28, sink(&[1, 12, 2])),
        outcome(5, 35, sink(&[1, 11, 2])),
    ];

    let text = text(&outcomes, &[], true);

    assert_eq!(
        lines(&text),
        [
            "udp 10.0.1.1:14 > 10.0.2.1:33434, 2 flows, 2 of 5 probes",
            "  ended: node 2 took INT out and reported it",
            "udp 10.0.1.1:28 > 10.0.2.1:33434, 1 flow, 1 of 5 probes",
            "  ended: node 2 took INT out and reported it",
            "udp 10.0.1.1:7 > 10.0.2.1:33434, 2 flows, 2 of 5 probes",
            "  ended: lost behind the source; the last that answered is 10.0.1.254",
            "  source ports: 7 21",
            "5 probes, 2 lost, 2 paths, jitter - us",
        ]
    );
}

#[test]
fn the_hops_before_a_loss_are_shown_and_are_no_path() {
    let partial =
        Seen { reason: Some("no route"), at: Some(ROUTER), ..Seen::reported(hops(&[1]), Ended::Lost) };
    let outcomes = [outcome(1, 7, sink(&[1, 2])), outcome(2, 7, partial)];

    let text = text(&outcomes, &[], false);

    assert_eq!(
        lines(&text),
        [
            "udp 10.0.1.1:7 > 10.0.2.1:33434, 1 of 2 probes",
            "  ended: node 2 took INT out and reported it",
            "udp 10.0.1.1:7 > 10.0.2.1:33434, 1 of 2 probes",
            "  ended: lost behind node 1; the last that answered is 10.0.1.254: no route",
            "2 probes, 1 lost, 1 path, jitter - us",
        ]
    );
    assert_eq!(text.matches("  hop ").count(), 2, "{text}");
}

#[test]
fn routers_stand_with_the_flow_that_was_searched_for_them() {
    let outcomes = [outcome(1, 7, sink(&[1, 2])), outcome(2, 14, sink(&[1, 3]))];
    let router = |ttl, address, int| Router { ttl, address, int };
    let routers = [
        router(1, Some(ROUTER), Handling::Added),
        router(2, None, Handling::NoAnswer),
        router(3, Some(ROUTER), Handling::None),
        router(4, Some(ROUTER), Handling::Unknown),
        router(5, Some(ROUTER), Handling::Unmarked),
    ];

    let text = text(&outcomes, &routers, true);

    assert_eq!(
        lines(&text)[1..5],
        [
            "  ended: node 2 took INT out and reported it",
            "  TTL 2: no answer; a router without ICMP, or a probe that was lost",
            "  TTL 3: 10.0.1.254 is a hop without INT",
            "  TTL 5: 10.0.1.254 got the probe without the mark of INT",
        ]
    );
    let summary: Value =
        serde_json::from_str(&super::json_summary(&Summary::of(&outcomes), Some(&routers))).unwrap();
    let shown = |at: usize| summary["summary"]["routers"][at].clone();
    assert_eq!(shown(1), json!({ "ttl": 2, "address": null, "int": "no-answer" }));
    assert_eq!(shown(2), json!({ "ttl": 3, "address": "10.0.1.254", "int": "none" }));
}

#[test]
fn hops_that_a_quote_does_not_show_are_counted() {
    let cut = Seen { hidden_hops: 2, at: Some(ROUTER), ..Seen::new(hops(&[3]), Ended::NoSink) };
    let outcome = outcome(1, 7, cut);

    let text = text(std::slice::from_ref(&outcome), &[], false);
    let line: Value = serde_json::from_str(&super::json(&outcome).unwrap()).unwrap();

    assert!(text.contains("2 hops before these") && text.contains("    3  node 3"), "{text}");
    assert_eq!(line["hidden_hops"], 2, "{line}");
}

#[test]
fn a_sink_without_metadata_is_not_called_the_source() {
    let text = text(&[outcome(1, 7, sink(&[]))], &[], false);

    assert!(text.contains("ended: a sink took INT out"), "{text}");
    assert!(text.ends_with("1 probe, 0 lost, 0 paths, jitter - us\n"), "{text}");
}

#[test]
fn only_a_terminal_is_cleared() {
    assert_eq!(next("x\n", false), "x\n\n");
    assert!(next("x\n", true).starts_with('\u{1b}'));
}
