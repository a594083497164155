use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Event;

/// The nodes of an event of this kind with this detail, without evidence.
fn nodes(kind: &str, detail: &Value) -> BTreeSet<u32> {
    let event: Event = serde_json::from_value(json!({
        "event": kind, "detail": detail, "key": "", "severity": "warning", "first": 1, "last": 1, "count": 1,
        "confidence": "certain", "evidence": [], "phase": "once",
    }))
    .unwrap();
    event.nodes().into_iter().map(|node| node.0).collect()
}

fn flow() -> Value {
    json!({
        "source": "10.0.1.1", "destination": "10.0.4.2", "protocol": 6,
        "source_port": 40000, "destination_port": 443,
    })
}

fn hops(nodes: &[u32]) -> Value {
    let hop = |node| json!({ "node_id": node, "ingress_interface": 1, "egress_interface": 2 });
    nodes.iter().copied().map(hop).collect()
}

#[test]
fn the_nodes_of_paths_links_and_single_nodes_are_found() {
    let (old, new) = (hops(&[11, 12, 13]), hops(&[11, 14, 13]));
    let changed = json!({ "flow": flow(), "change": "reroute", "old": old, "new": new });
    assert_eq!(nodes("path-change", &changed), BTreeSet::from([11, 12, 13, 14]));
    let silent = json!({
        "from": 11, "egress_interface": 1, "to": 12, "ingress_interface": 2, "flows": [flow()],
        "silent_for": 5,
    });
    assert_eq!(nodes("silent-loss", &silent), BTreeSet::from([11, 12]));
    let link = json!({ "from": 21, "egress_interface": 1, "to": 22, "ingress_interface": 2 });
    let drift = json!({ "link": link, "ns_per_second": 7 });
    assert_eq!(nodes("clock-drift", &drift), BTreeSet::from([21, 22]));
    let violated =
        |violation| json!({ "rule": "r", "flow": flow(), "path": hops(&[31]), "violation": violation });
    assert_eq!(nodes("path-policy", &violated(json!({ "misses-node": 32 }))), BTreeSet::from([31, 32]));
    assert_eq!(nodes("path-policy", &violated(json!({ "passes-node": 32 }))), BTreeSet::from([31, 32]));
    assert_eq!(
        nodes("path-policy", &violated(json!({ "misses-link": [32, 33] }))),
        BTreeSet::from([31, 32, 33])
    );
    assert_eq!(
        nodes("path-policy", &violated(json!({ "takes-link": [32, 33] }))),
        BTreeSet::from([31, 32, 33])
    );
}

#[test]
fn other_numbers_are_no_nodes() {
    let loss = json!({ "flow": flow(), "node_id": 41, "lost": 3 });
    assert_eq!(nodes("sequence-gap", &loss), BTreeSet::from([41]), "6 is the protocol of the flow");
    let imbalance = json!({
        "node_id": 42, "links": [{ "egress_interface": 1, "rate": 900 }], "highest_to_mean_permille": 1500,
        "jain_permille": 800, "by_utilization": false,
    });
    assert_eq!(nodes("ecmp-imbalance", &imbalance), BTreeSet::from([42]));
    let long =
        json!({ "rule": "r", "flow": flow(), "path": hops(&[43]), "violation": { "too-many-hops": 5 } });
    assert_eq!(nodes("path-policy", &long), BTreeSet::from([43]));
}
