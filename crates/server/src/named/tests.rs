use inband_collector::{GivenLink, LevelView, PortView, QueueView};
use inband_export::named_event;
use inband_model::{
    Confidence, CongestionPhase, Event, EventDetail, EventView, NameList, Names, Nanos, NodeId,
    QueueCongestion, ReportReference, Severity,
};
use serde_json::{Value, json};

use super::Named;

fn names() -> Names {
    let text = r#"
        [[node]]
        id = 5
        name = "leaf1"
        [[interface]]
        node = 5
        id = 2
        name = "5/0"
        to = "spine1"
        [[host]]
        address = "10.0.1.1"
        name = "web"
        [[subnet]]
        prefix = "10.0.1.7/24"
        name = "rack 1"
        [[subnet]]
        prefix = "10.0.0.0/8"
        name = "site"
        [[subnet]]
        prefix = "fd00::/16"
        name = "six"
    "#;
    Names::new(toml::from_str::<NameList>(text).unwrap())
}

#[test]
fn an_address_is_its_host_or_its_smallest_subnet() {
    let names = names();
    let name = |address: &str| names.address(address.parse().unwrap()).map(str::to_owned);
    for (address, expected) in [
        ("10.0.1.1", Some("web")),
        ("::ffff:10.0.1.1", Some("web")),
        ("10.0.1.2", Some("rack 1")),
        ("10.0.2.1", Some("site")),
        ("fd00:1::1", Some("six")),
        ("192.0.2.1", None),
        ("fe80::1", None),
    ] {
        assert_eq!(name(address).as_deref(), expected, "{address}");
    }
}

#[test]
fn the_key_of_an_event_is_told_in_names() {
    let names = names();
    for (key, expected) in [
        ("node 5 egress 2 queue 0", "leaf1 egress 5/0 queue 0"),
        ("node 5 egress 3", "leaf1 egress 3"),
        ("node 6 egress 2", "node 6 egress 2"),
        ("node 5 to node 6", "leaf1 to node 6"),
        ("tcp 10.0.1.1:80 > 10.0.1.2:90", "tcp 10.0.1.1:80 > 10.0.1.2:90"),
        ("", ""),
        ("node", "node"),
    ] {
        assert_eq!(names.key(key), expected);
    }
}

#[test]
fn an_interface_needs_a_number() {
    let names = names();
    assert_eq!(names.interface(NodeId(5), Some(2)).unwrap().to.as_deref(), Some("spine1"));
    assert_eq!(names.interface(NodeId(5), None), None);
}

#[test]
fn interfaces_that_lead_to_nodes_are_links() {
    let text = r#"
        node = [{ id = 5, name = "leaf1" }, { id = 7, name = "spine1" }, { id = 8, name = "same" }, { id = 9, name = "same" }]
        interface = [
            { node = 5, id = 2, name = "a", to = "spine1" },
            { node = 7, id = 3, name = "b", to = "leaf1" },
            { node = 5, id = 4, name = "c", to = "web" },
            { node = 5, id = 6, name = "d", to = "same" },
            { node = 5, id = 8, name = "e" },
        ]
    "#;
    let mut links = Names::new(toml::from_str::<NameList>(text).unwrap()).links();
    links.sort_by_key(|link| link.node);

    let link = |node, interface, to, back| GivenLink { node, interface, to, to_interface: Some(back) };
    assert_eq!(links, [link(5, 2, 7, 3), link(7, 3, 5, 2)]);
}

#[test]
fn of_several_links_between_two_nodes_the_other_ends_are_not_known() {
    let text = r#"
        node = [{ id = 5, name = "leaf1" }, { id = 7, name = "spine1" }]
        interface = [
            { node = 5, id = 2, name = "a", to = "spine1" },
            { node = 5, id = 3, name = "b", to = "spine1" },
            { node = 7, id = 4, name = "c", to = "leaf1" },
        ]
    "#;
    let links = Names::new(toml::from_str::<NameList>(text).unwrap()).links();

    assert_eq!((links.len(), links.iter().all(|link| link.to_interface.is_none())), (3, true));
}

const UNITS: &str = r#"
    [[node]]
    id = 1
    queue_unit = "cells"
    cell_bytes = 80
    utilization_full = 200
    labels = { site = "north", rack = 4 }
    [[node]]
    id = 2
    name = "spine"
    queue_unit = "packets"
    timestamp_unit = "8ns"
    [[interface]]
    node = 1
    id = 2
    name = "5/0"
    labels = { vrf = "blue" }
"#;

#[test]
fn queues_and_interfaces_have_values_in_units_that_are_known_and_never_others() {
    let names = Names::new(toml::from_str::<NameList>(UNITS).unwrap());
    let queue = |node| {
        let queue = QueueView {
            node_id: NodeId(node),
            egress_interface: Some(2),
            queue_id: 0,
            last: 1,
            recent: 10,
            max: 100,
            last_at: Nanos(0),
            congested: false,
        };
        serde_json::to_value(names.of_queue(&queue)).unwrap()
    };
    let bytes = |queue: &Value| {
        json!([queue["unit"], queue["last_bytes"], queue["recent_bytes"], queue["max_bytes"]])
    };
    assert_eq!(bytes(&queue(1)), json!(["cells", 80, 800, 8_000]));
    assert_eq!(bytes(&queue(2)), json!(["packets", null, null, null]));
    assert_eq!(bytes(&queue(3)), json!([null, null, null, null]));
    assert_eq!(queue(1)["interface_labels"], json!({ "vrf": "blue" }));

    let port = |node| {
        let utilization = Some(LevelView { last: 50, max: 60, last_at: Nanos(0) });
        let port = PortView {
            node_id: NodeId(node),
            egress_interface: Some(2),
            latency: None,
            utilization,
            last_seen: Nanos(0),
        };
        serde_json::to_value(names.of_port(&port)).unwrap()
    };
    assert_eq!((&port(1)["utilization_permille"], &port(1)["utilization_full"]), (&json!(250), &json!(200)));
    assert_eq!(port(2)["utilization_permille"], Value::Null);
    assert_eq!(port(1)["node_labels"], json!({ "site": "north", "rack": "4" }));
}

#[test]
fn events_have_the_unit_and_the_labels_of_their_node() {
    let names = Names::new(toml::from_str::<NameList>(UNITS).unwrap());
    let event = |node| {
        let detail = EventDetail::QueueCongestion(QueueCongestion {
            node_id: NodeId(node),
            egress_interface: Some(2),
            queue_id: Some(0),
            phase: CongestionPhase::Begin,
            peak_latency: None,
            peak_occupancy: Some(3),
            truncated: false,
            episodes: 1,
        });
        let report = ReportReference { node_id: NodeId(node), hw_id: 0, sequence: 1, received_at: Nanos(5) };
        let key = format!("node {node} egress 2 queue 0");
        let event = Event::of_report(detail, Severity::Warning, key, Confidence::Certain, report);
        let view = EventView { id: event.id(), event, acknowledged: None };
        serde_json::to_value(named_event(&names, &view)).unwrap()
    };
    let known = event(1);
    assert_eq!((&known["queue_unit"], &known["peak_bytes"]), (&json!("cells"), &json!(240)));
    let labels = json!({ "node": { "site": "north", "rack": "4" }, "interface": { "vrf": "blue" } });
    assert_eq!((&known["labels"], &known["title"]), (&labels, &json!("node 1 egress 5/0 queue 0")));
    let packets = event(2);
    assert_eq!((&packets["queue_unit"], packets.get("peak_bytes")), (&json!("packets"), None));
    assert_eq!(packets["title"], json!("spine egress 2 queue 0"));
    let unknown = event(3);
    let keys = ["queue_unit", "peak_bytes", "labels"].map(|key| unknown.get(key));
    assert_eq!((keys, &unknown["detail"]["peak_occupancy"]), ([None; 3], &json!(3)));
}

#[test]
fn a_host_has_its_labels_and_those_of_its_subnets_of_which_the_smallest_counts() {
    let text = r#"
        [[host]]
        address = "10.0.1.1"
        name = "web"
        labels = { tenant = "shop" }
        [[subnet]]
        prefix = "10.0.1.0/24"
        name = "rack"
        labels = { tenant = "all", vrf = 7 }
        [[subnet]]
        prefix = "10.0.0.0/8"
        name = "site"
        labels = { vrf = 1, as = 65001, routed = true }
    "#;
    let names = Names::new(toml::from_str::<NameList>(text).unwrap());
    let labels = |address: &str| json!(names.address_labels(address.parse().unwrap()));
    let web = json!({ "tenant": "shop", "vrf": "7", "as": "65001", "routed": "true" });
    assert_eq!(labels("10.0.1.1"), web);
    assert_eq!(labels("::ffff:10.0.1.1"), web);
    assert_eq!(labels("10.2.0.1"), json!({ "vrf": "1", "as": "65001", "routed": "true" }));
    assert_eq!(labels("192.0.2.1"), json!({}));
}

#[test]
fn units_that_cannot_be_are_errors() {
    for (wrong, what) in [
        ("queue_unit = 'words'", "words"),
        ("queue_unit = 'cells'\ncell_bytes = 0", "0 is not possible here"),
        ("utilization_full = 0", "0 is not possible here"),
        ("timestamp_unit = 'minutes'", "a unit of time is"),
        ("labels = { a = [1] }", "a text, a whole number"),
    ] {
        let error = toml::from_str::<NameList>(&format!("[[node]]\nid = 1\n{wrong}\n")).unwrap_err();
        assert!(error.to_string().contains(what), "{wrong}: {error}");
    }
}
