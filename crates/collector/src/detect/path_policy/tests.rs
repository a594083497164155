//! A path is judged by each part of a rule, and only when it is known in whole.

use std::net::IpAddr;

use inband_model::{Flow, Hop, NodeId, Violation};

use super::{KnownPath, PathRule, Prefix, Verdict};

#[test]
fn each_part_of_a_rule_has_its_violation() {
    let path = [1, 11, 2].map(hop);
    let node = NodeId;
    let rule = PathRule::default;
    let table = [
        (rule(), None),
        (PathRule { require_nodes: vec![11, 2], ..rule() }, None),
        (PathRule { require_nodes: vec![12], ..rule() }, Some(Violation::MissesNode(node(12)))),
        (PathRule { forbid_nodes: vec![12], ..rule() }, None),
        (PathRule { forbid_nodes: vec![12, 11], ..rule() }, Some(Violation::PassesNode(node(11)))),
        (PathRule { require_links: vec![[1, 11]], ..rule() }, None),
        (PathRule { require_links: vec![[1, 2]], ..rule() }, Some(Violation::MissesLink(node(1), node(2)))),
        (PathRule { forbid_links: vec![[11, 1]], ..rule() }, None),
        (PathRule { forbid_links: vec![[11, 2]], ..rule() }, Some(Violation::TakesLink(node(11), node(2)))),
        (PathRule { max_hops: Some(3), ..rule() }, None),
        (PathRule { max_hops: Some(2), ..rule() }, Some(Violation::TooManyHops(3))),
    ];
    for (rule, violation) in table {
        let expected = violation.map_or(Verdict::Complies, Verdict::Violates);
        assert_eq!(rule.judge(known(&path, true), None), expected, "{rule:?}");
        assert_eq!(rule.judge(known(&path, false), None), Verdict::Unverifiable);
        assert_eq!(rule.judge(None, None), Verdict::Unverifiable);
    }
}

#[test]
fn symmetry_asks_for_the_same_nodes_on_the_way_back() {
    let rule = PathRule { symmetric: true, ..PathRule::default() };
    let (there, back, other) = ([1, 11, 2].map(hop), [2, 11, 1].map(hop), [2, 12, 1].map(hop));
    let judge = |back| rule.judge(known(&there, true), back);

    assert_eq!(judge(known(&back, true)), Verdict::Complies);
    assert_eq!(judge(known(&other, true)), Verdict::Violates(Violation::Asymmetric));
    assert_eq!(judge(known(&other, false)), Verdict::Unverifiable);
    assert_eq!(judge(None), Verdict::Unverifiable);
}

#[test]
fn a_rule_covers_the_flows_that_match_all_it_names() {
    let flow = Flow {
        source: [10, 1, 2, 3].into(),
        destination: [192, 0, 2, 1].into(),
        protocol: 6,
        source_port: 1,
        destination_port: 443,
    };
    let rule = PathRule {
        source: "10.0.0.0/8".parse().ok(),
        destination: "192.0.2.1".parse().ok(),
        protocol: Some(6),
        destination_port: Some(443),
        ..PathRule::default()
    };
    assert!(rule.covers(&flow) && PathRule::default().covers(&flow));
    let others = [
        Flow { source: [11, 1, 2, 3].into(), ..flow },
        Flow { destination: [192, 0, 2, 2].into(), ..flow },
        Flow { protocol: 17, ..flow },
        Flow { destination_port: 80, ..flow },
    ];
    assert!(others.iter().all(|other| !rule.covers(other)));
}

#[test]
fn prefixes_of_every_length_hold_their_addresses_and_no_others() {
    let holds = |prefix: &str, address: &str| {
        prefix.parse::<Prefix>().unwrap().contains(address.parse::<IpAddr>().unwrap())
    };
    let table = [
        ("0.0.0.0/0", "255.1.2.3", true),
        ("0.0.0.0/0", "::1", false),
        ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.1/32", "10.0.0.1", true),
        ("10.0.0.1", "10.0.0.0", false),
        ("::/0", "2001:db8::1", true),
        ("2001:db8::/32", "2001:db8:1::", true),
        ("2001:db8::/32", "2001:db9::", false),
        ("2001:db8::1", "2001:db8::1", true),
        ("2001:db8::1/128", "2001:db8::2", false),
    ];
    for (prefix, address, expected) in table {
        assert_eq!(holds(prefix, address), expected, "{prefix} {address}");
    }
    for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0.0/x", "10.0.0/8", "/8"] {
        assert!(wrong.parse::<Prefix>().is_err(), "{wrong}");
    }
    assert_eq!("10.0.0.1".parse::<Prefix>().unwrap().to_string(), "10.0.0.1/32");
}

#[allow(clippy::unnecessary_wraps, reason = "that is what is asked for")]
fn known(hops: &[Hop], is_complete: bool) -> Option<KnownPath<'_>> {
    Some(KnownPath { hops, is_complete })
}

fn hop(node_id: u32) -> Hop {
    Hop { node_id: NodeId(node_id), ingress_interface: Some(1), egress_interface: Some(2) }
}
