//! Plans of small networks.

use std::path::Path;

use super::{Hop, Node, Plan, Routes, Target, collector_toml, host_toml, switch_toml};
use crate::topology::{Action, DropReason, Fault, Topology};

const LEAF_SPINE: &str = r#"
name = "ls"
switch = [{ name = "leaf1", id = 1 }, { name = "leaf2", id = 2 }, { name = "spine1", id = 11 }, { name = "spine2", id = 12 }]
[[host]]
name = "h1"
address = "10.0.1.1/24"
gateway = "10.0.1.254"
[[host]]
name = "h2"
address = ["10.0.2.1/24", "fd00:2::1/64"]
[[link]]
ends = ["h1", "leaf1:1"]
rate = "100Mbit"
[[link]]
ends = ["h2", "leaf2:1"]
[[link]]
ends = ["leaf1:3", "spine1"]
[[link]]
ends = ["leaf1", "spine2"]
[[link]]
ends = ["leaf2", "spine1"]
[[link]]
ends = ["leaf2", "spine2"]
delay = "1ms"
"#;

/// Hosts of one network at two switches.
const SHARED: &str = r#"
name = "x"
switch = [{ name = "s1" }, { name = "s2" }]
host = [
    { name = "h1", address = "10.0.0.1/24" },
    { name = "h2", address = "10.0.0.2/24" },
    { name = "h3", address = "10.0.0.3/24" },
]
link = [{ ends = ["h1", "s1"] }, { ends = ["h2", "s1"] }, { ends = ["h3", "s2"] }, { ends = ["s1", "s2"] }]
"#;

fn topology(text: &str) -> Topology {
    toml::from_str(text).unwrap()
}

fn plan(text: &str) -> Plan {
    Plan::new(&topology(text)).unwrap()
}

fn mistake(text: &str) -> String {
    Plan::new(&topology(text)).unwrap_err().message
}

fn nodes_of(plan: &Plan, routes: &Routes, destination: &str) -> Vec<String> {
    let Some(Target::Via(hops)) = routes.get(&destination.parse().unwrap()) else { return Vec::new() };
    let owner = |hop: &Hop| {
        let has = |node: &&Node| {
            node.interfaces.iter().any(|it| it.addresses.iter().any(|it| it.network.address == hop.gateway))
        };
        plan.nodes.iter().find(has).map_or_else(String::new, |node| node.name.clone())
    };
    hops.iter().map(owner).collect()
}

#[test]
fn shortest_paths_are_used_all_at_once() {
    let plan = plan(LEAF_SPINE);
    let routes = plan.routes(&[]);
    assert_eq!(nodes_of(&plan, &routes[0], "10.0.2.0/24"), ["spine2", "spine1"]);
    assert_eq!(nodes_of(&plan, &routes[0], "fd00:2::/64"), ["spine2", "spine1"]);
    assert_eq!(nodes_of(&plan, &routes[2], "10.0.1.0/24"), ["leaf1"]);
    assert_eq!(nodes_of(&plan, &routes[4], "0.0.0.0/0"), ["leaf1"]);
    assert!(!routes[0].contains_key(&"10.0.1.0/24".parse().unwrap()), "its address says so already");
}

#[test]
fn a_broken_link_is_routed_around_by_all() {
    let plan = plan(LEAF_SPINE);
    let routes = plan.routes(&[Fault::Break { a: "spine1".into(), b: "leaf2".into() }]);
    assert_eq!(nodes_of(&plan, &routes[0], "10.0.2.0/24"), ["spine2"]);
    assert_eq!(nodes_of(&plan, &routes[2], "10.0.2.0/24"), ["leaf1"]);
}

#[test]
fn the_broken_link_of_a_host_takes_all_routes_by_it_and_to_it() {
    let break_of = |host: &str, leaf: &str| [Fault::Break { a: host.into(), b: leaf.into() }];
    let plan = plan(LEAF_SPINE);

    let routes = plan.routes(&break_of("h1", "leaf1"));

    assert!(routes[4].is_empty(), "{:?}", routes[4]);
    let network = "10.0.1.0/24".parse().unwrap();
    assert!(routes.iter().all(|routes| !routes.contains_key(&network)), "leaf1 does not announce it");
    assert_eq!(nodes_of(&plan, &routes[0], "10.0.2.0/24"), ["spine2", "spine1"]);
    assert_eq!(nodes_of(&plan, &routes[5], "0.0.0.0/0"), ["leaf2"]);
}

#[test]
fn a_host_of_a_network_on_several_links_is_gone_alone() {
    let plan = plan(SHARED);

    let routes = plan.routes(&[Fault::Break { a: "s1".into(), b: "h1".into() }]);

    let [h1, h2] = ["10.0.0.1/32", "10.0.0.2/32"].map(|host| host.parse().unwrap());
    assert!(routes[2].is_empty(), "{:?}", routes[2]);
    assert!(routes.iter().all(|routes| !routes.contains_key(&h1)));
    assert_eq!(routes[0].get(&h2), Some(&Target::Link("eth2".into())));
    assert_eq!(nodes_of(&plan, &routes[1], "10.0.0.2/32"), ["s1"]);
}

#[test]
fn a_loop_and_a_wrong_route_are_routes() {
    let plan = plan(LEAF_SPINE);
    let routes = plan.routes(&[Fault::Loop { a: "leaf1".into(), b: "spine1".into() }]);
    assert_eq!(nodes_of(&plan, &routes[0], "10.0.2.0/24"), ["spine1"]);
    assert_eq!(nodes_of(&plan, &routes[2], "10.0.2.0/24"), ["leaf1"]);
    let prefix = "10.0.0.0/8".parse().unwrap();
    let routes = plan.routes(&[Fault::Misroute { switch: "spine1".into(), prefix, next: "leaf1".into() }]);
    assert_eq!(nodes_of(&plan, &routes[2], "10.0.2.0/24"), ["leaf1"]);
    let reason = DropReason::NoRoute;
    let routes = plan.routes(&[Fault::Drop { switch: "spine1".into(), reason }]);
    assert!(routes[2].is_empty());
}

#[test]
fn links_to_hosts_are_edges_but_not_to_hosts_with_int() {
    let plan = plan(&LEAF_SPINE.replace("name = \"h2\"", "name = \"h2\"\nint = true"));
    let edges = |name: &str| -> Vec<u16> {
        let node = &plan.nodes[plan.node(name).unwrap()];
        node.interfaces.iter().filter(|it| it.edge).map(|it| it.id).collect()
    };
    assert_eq!((edges("leaf1"), edges("leaf2"), edges("spine1")), (vec![1], vec![], vec![]));
    let ids: Vec<_> = plan.nodes.iter().map(|node| node.id).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(11), Some(12), None, Some(3)]);
}

#[test]
fn a_network_on_several_links_is_routed_host_by_host() {
    let plan = plan(SHARED);
    let routes = plan.routes(&[]);
    assert_eq!(routes[0].get(&"10.0.0.2/32".parse().unwrap()), Some(&Target::Link("eth2".into())));
    assert_eq!(nodes_of(&plan, &routes[0], "10.0.0.3/32"), ["s2"]);
    assert_eq!(nodes_of(&plan, &routes[1], "10.0.0.1/32"), ["s1"]);
    assert_eq!(routes[2].get(&"10.0.0.254/32".parse().unwrap()), Some(&Target::Link("eth0".into())));
    assert!(!plan.nodes[2].interfaces[0].addresses[0].on_link);
}

#[test]
fn networks_that_overlap_are_routed_host_by_host() {
    let text = SHARED.replace("10.0.0.3/24", "10.0.7.3/16");
    let plan = plan(&text);
    let routes = plan.routes(&[]);
    assert_eq!(nodes_of(&plan, &routes[0], "10.0.7.3/32"), ["s2"]);
    assert_eq!(nodes_of(&plan, &routes[1], "10.0.0.1/32"), ["s1"]);
    assert!(plan.nodes[2..].iter().all(|host| !host.interfaces[0].addresses[0].on_link));
    // On one segment they are neighbours.
    let text = text.replace("[\"h3\", \"s2\"]", "[\"h3\", \"s1\"]");
    let text = text.replace("name = \"s1\"", "name = \"s1\", forwarding = \"learn\"");
    let plan = self::plan(&text.replace("name = \"s2\"", "name = \"s2\", int = false"));
    assert!(plan.nodes[2..].iter().all(|host| host.interfaces[0].addresses[0].on_link));
}

/// Bridges at both sides of two routers; `b2` is one of Linux with INT.
const BRIDGES: &str = r#"
name = "x"
switch = [
    { name = "b1", forwarding = "learn" },
    { name = "r1" },
    { name = "r2" },
    { name = "b2", forwarding = "learn", datapath = "kernel" },
]
host = [{ name = "h1", address = "10.0.1.1/24" }, { name = "h2", address = "10.0.2.1/24" }]
link = [
    { ends = ["h1", "b1"] },
    { ends = ["b1", "r1"] },
    { ends = ["r1", "r2"] },
    { ends = ["r2", "b2"] },
    { ends = ["b2", "h2"] },
]
"#;

#[test]
fn a_fault_without_effect_is_refused() {
    let bridges = plan(BRIDGES);
    let (switch, prefix) = (|name: &str| name.to_owned(), "10.0.2.0/24".parse().unwrap());
    let dropped = |name: &str, reason| Fault::Drop { switch: switch(name), reason };
    let misroute =
        |from: &str, prefix, next: &str| Fault::Misroute { switch: switch(from), prefix, next: switch(next) };
    let looped = |a: &str, b: &str| Fault::Loop { a: switch(a), b: switch(b) };
    for (fault, expected) in [
        (dropped("b1", DropReason::NoRoute), "`b1` is a bridge: it has no routes"),
        (dropped("b2", DropReason::Silent), "`b2` is a bridge that hears of every drop of Linux"),
        (looped("b1", "r1"), "`b1` is a bridge: it has no routes"),
        (looped("r1", "b1"), "`b1` is a bridge: it has no routes"),
        (misroute("b1", prefix, "r1"), "`b1` is a bridge: it has no routes"),
        (misroute("r1", prefix, "b1"), "`b1` is a bridge: it has no routes"),
        (misroute("r1", "10.99.0.0/16".parse().unwrap(), "r2"), "no host is in 10.99.0.0/16"),
    ] {
        assert_eq!(bridges.check(&Action::Fault(fault)).unwrap_err(), expected);
    }
    for fault in [
        dropped("r1", DropReason::NoRoute),
        dropped("r1", DropReason::Silent),
        dropped("b1", DropReason::Silent),
        looped("r1", "r2"),
        misroute("r2", prefix, "r1"),
    ] {
        assert_eq!(bridges.check(&Action::Fault(fault)), Ok(()));
    }
    let alone = plan(
        "name = \"x\"\nswitch = [{ name = \"s1\" }]\n\
         host = [{ name = \"h1\", address = \"10.0.1.1/24\" }, \
         { name = \"h2\", address = \"10.0.2.1/24\" }]\n\
         link = [{ ends = [\"h1\", \"s1\"] }, { ends = [\"h2\", \"s1\"] }]\n",
    );
    for (reason, expected) in [
        (DropReason::NoRoute, "`s1` has no route to hosts of other switches"),
        (DropReason::Silent, "`s1` has no link to another switch"),
    ] {
        assert_eq!(alone.check(&Action::Fault(dropped("s1", reason))).unwrap_err(), expected);
    }
}

#[test]
fn a_switch_that_learns_joins_its_links() {
    let text = r#"
name = "x"
switch = [{ name = "b1", forwarding = "learn" }]
host = [{ name = "h1", address = "10.0.0.1/24" }, { name = "h2", address = "10.0.0.2/24" }]
link = [{ ends = ["h1", "b1"] }, { ends = ["h2", "b1"] }]
"#;
    let plan = plan(text);
    assert_eq!(plan.segments.len(), 1);
    assert!(plan.nodes[0].interfaces.iter().all(|interface| interface.addresses.is_empty()));
    assert!(plan.nodes[1].interfaces[0].addresses[0].on_link);
    assert!(plan.routes(&[]).iter().all(Routes::is_empty));
}

#[test]
fn a_switch_s_file_has_its_interfaces_and_what_the_topology_adds() {
    let text = format!(
        "{LEAF_SPINE}\n[defaults.switch]\nxdp = \"off\"\n[defaults.switch.source]\nremaining_hops = 5\n\
         [[defaults.switch.interface]]\naccept_int = false\n"
    );
    let topology = topology(&text);
    let plan = Plan::new(&topology).unwrap();
    let slow = Fault::Slow { a: "leaf1".into(), b: "spine1".into(), rate: "5Mbit".parse().unwrap() };
    let file = switch_toml(&plan, &topology, 0, &[slow]).unwrap();
    assert_eq!(file["switch"]["datapath"].as_str(), Some("engine"));
    assert_eq!(file["switch"]["xdp"].as_str(), Some("off"));
    assert_eq!(file["source"]["remaining_hops"].as_integer(), Some(5));
    assert_eq!(file["source"]["instructions"].as_array().unwrap().len(), 6);
    assert_eq!(file["interface"][0]["rate"].as_str(), Some("100Mbit"));
    assert_eq!(file["interface"][0]["edge"].as_bool(), Some(true));
    assert_eq!(file["interface"][0]["accept_int"].as_bool(), Some(false));
    assert_eq!(file["interface"][2]["id"].as_integer(), Some(3));
    assert_eq!(file["interface"][2]["rate"].as_str(), Some("5Mbit"));
    assert_eq!(file["watch"].as_array().unwrap().len(), 1);
    assert!(host_toml(&plan, &topology, 4).is_none(), "it does no INT");
    let collector = collector_toml(&plan, &topology, Path::new("/x"));
    assert_eq!(collector["paths"]["edge"].as_array().unwrap().len(), 2);
}

#[test]
fn a_key_belongs_to_the_table_that_has_it() {
    let host = "name = \"h2\"\nint = true\nmetrics = \"127.0.0.1:9464\"";
    let text = format!(
        "{}\n[defaults.host]\nmetrics = \"127.0.0.1:9000\"\n[defaults.switch.offline]\nqueue_id = 3\n",
        LEAF_SPINE.replace("name = \"h2\"", host)
    );
    let all = topology(&text);
    let plan = Plan::new(&all).unwrap();
    let (switch, host) = (switch_toml(&plan, &all, 0, &[]).unwrap(), host_toml(&plan, &all, 5).unwrap());
    assert_eq!(host["host"]["metrics"].as_str(), Some("127.0.0.1:9464"));
    assert!(!host.contains_key("switch"), "{host}");
    assert_eq!(switch["offline"]["queue_id"].as_integer(), Some(3));
    assert!(!switch.contains_key("host"), "{switch}");
    for key in ["datapath", "forwarding", "io", "xdp", "switch"] {
        let text = format!("{LEAF_SPINE}\n[defaults.host]\n{key} = \"x\"\n");
        let error = toml::from_str::<Topology>(&text).unwrap_err().to_string();
        assert!(error.contains(&format!("unknown field `{key}`")), "{error}");
    }
}

#[test]
fn addresses_that_no_host_can_have_are_refused() {
    for (address, fault) in [
        ("127.0.0.5/8", "a loopback address"),
        ("10.0.5.0/24", "the address of its network"),
        ("10.0.5.255/24", "the broadcast address of its network"),
        ("224.0.0.1/8", "a multicast address"),
        ("0.0.0.0/24", "the unspecified address"),
        ("0.0.0.7/24", "an address of \"this network\""),
        ("255.255.255.255/24", "a reserved address"),
        ("::1/64", "a loopback address"),
        ("ff02::1/64", "a multicast address"),
        ("fe80::1/64", "a link-local address"),
        ("::ffff:10.0.0.1/96", "an IPv4-mapped address"),
    ] {
        let message = mistake(&LEAF_SPINE.replace("\"10.0.2.1/24\"", &format!("\"{address}\"")));
        assert!(message.contains(&format!("{address} is no address of a host: it is {fault}")), "{message}");
    }
    let message = mistake(&LEAF_SPINE.replace("10.0.1.254", "10.0.1.255"));
    assert!(message.contains("10.0.1.255 is no address of a gateway: it is the broadcast"), "{message}");
    for address in ["10.0.5.0/31", "10.0.5.253/24", "fd00:5::/64"] {
        let text = LEAF_SPINE.replace("[\"10.0.2.1/24\", \"fd00:2::1/64\"]", &format!("\"{address}\""));
        assert!(Plan::new(&topology(&text)).is_ok(), "{address}");
    }
}

#[test]
fn the_api_of_a_lab_is_at_a_port_of_this_machine() {
    let with = |api: &str| format!("{LEAF_SPINE}\n[collector]\napi = \"{api}\"\n");
    for (api, fault) in [
        ("0.0.0.0:8080", "is reachable from other machines"),
        ("192.0.2.1:8080", "is reachable from other machines"),
        ("[::]:8080", "is reachable from other machines"),
        ("127.0.0.1:0", "has no port"),
        ("127.0.0.1", "is not an address with its port"),
    ] {
        let text = with(api);
        let mistake = Plan::new(&topology(&text)).unwrap_err();
        assert!(mistake.message.starts_with(&format!("`{api}` {fault}")), "{}", mistake.message);
        assert_eq!(&text[mistake.span.unwrap()], format!("\"{api}\""));
    }
    for api in ["127.0.0.1:8080", "127.0.0.2:1", "[::1]:8080"] {
        assert_eq!(plan(&with(api)).api, api.parse().unwrap());
    }
}

#[test]
fn a_node_table_has_no_id() {
    let text = r#"
name = "x"
[[switch]]
name = "s1"
SWITCH
[[host]]
name = "h1"
address = "10.0.1.1/24"
int = true
HOST
[[host]]
name = "h2"
address = "10.0.2.1/24"
[[link]]
ends = ["h1", "s1"]
[[link]]
ends = ["h2", "s1"]
"#;
    let planned = |switch: &str, host: &str, defaults: &str| {
        let text = text.replace("SWITCH", switch).replace("HOST", host) + defaults;
        Plan::new(&topology(&text))
    };
    for (switch, host, defaults) in [
        ("node.id = 7", "", ""),
        ("[switch.node]\nid = 7", "", ""),
        ("", "node = { id = 7 }", ""),
        ("", "", "[defaults.switch.node]\nid = 7"),
        ("", "", "[defaults.host]\nnode.id = 7"),
    ] {
        let mistake = planned(switch, host, defaults).unwrap_err();
        assert!(mistake.message.starts_with("the `id` of a node is a key of its [[switch]]"), "{mistake}");
        assert!(mistake.span.is_some(), "{switch}{host}{defaults}");
    }
    assert!(planned("id = 7\nnode.int_version = \"1.0\"", "", "").is_ok());
}

#[test]
fn nothing_happens_or_is_expected_after_the_end() {
    let step = "[[step]]\nat = \"3s\"\nbreak = [\"leaf1\", \"spine1\"]\n";
    let expect = |times: &str| format!("[[expect]]\nevent = \"loop\"\n{times}\n");
    let with = |duration: &str, rest: &str| format!("duration = \"{duration}\"\n{LEAF_SPINE}\n{rest}");
    for (duration, rest, expected) in [
        ("500ms", step.to_owned(), "`at` is 3s, and the run ends after 500ms"),
        ("2s", expect("by = \"3s\""), "`by` is 3s, and the run ends after 2s"),
        ("2s", expect("after = \"3s\""), "`after` is 3s, and the run ends after 2s"),
        ("9s", expect("after = \"4s\"\nby = \"3s\""), "`after` is 4s, and `by` is 3s: earlier"),
    ] {
        let text = with(duration, &rest);
        let mistake = Plan::new(&topology(&text)).unwrap_err();
        assert_eq!(mistake.message, expected);
        assert!(mistake.span.is_some_and(|span| text[span].starts_with('"')), "{expected}");
    }
    for rest in [step.to_owned(), expect("after = \"3s\"\nby = \"3s\"")] {
        assert!(Plan::new(&topology(&with("3s", &rest))).is_ok(), "at the end itself");
    }
}

#[test]
fn mistakes_are_named() {
    for (change, expected) in [
        (("[\"h1\", \"leaf1:1\"]", "[\"h1\", \"leef1\"]"), "unknown host or switch `leef1`, expected one of"),
        (("[\"h1\", \"leaf1:1\"]", "[\"h1\", \"leaf1:3\"]"), "interface 3 of `leaf1` has a link already"),
        (("[\"h1\", \"leaf1:1\"]", "[\"h1\", \"h1\"]"), "both ends of the link are the same"),
        (("[\"h1\", \"leaf1:1\"]", "[\"h1\"]"), "a link has two ends"),
        (("[\"h1\", \"leaf1:1\"]", "[\"leaf2\", \"leaf1:1\"]"), "host `h1` has 0 links; a host has one"),
        (
            ("[\"h1\", \"leaf1:1\"]", "[\"h1:2\", \"leaf1:1\"]"),
            "the only interface of host `h1` has the id 1",
        ),
        (
            ("[\"leaf2\", \"spine2\"]", "[\"leaf2\", \"leaf1\"]"),
            "switch `spine2` has 1 link; a switch with INT has at least two",
        ),
        (("id = 2 }", "id = 2, interface = [{ id = 9 }] }"), "no link of `leaf2` is at interface 9"),
        (
            ("id = 2 }", "int = false, node = { int_version = \"1.0\" } }"),
            "switch `leaf2` has settings of INT",
        ),
        (("name = \"h2\"", "name = \"h2\"\nmetrics = \"127.0.0.1:1\""), "host `h2` has settings of INT"),
        (("name = \"h2\"", "name = \"h2\"\nid = 7"), "host `h2` has settings of INT"),
        (("name = \"h2\"", "name = \"h1\""), "the name `h1` is in use"),
        (("name = \"h2\"", "name = \"collector\""), "`collector` is the name of a part of every lab"),
        (("name = \"ls\"", "name = \"l/s\""), "`l/s` is not a name"),
        (("\"10.0.2.1/24\"", "\"10.0.1.1/24\""), "the address 10.0.1.1 is in use by `h1`"),
        (("\"10.0.2.1/24\"", "\"100.64.2.1/24\""), "100.64.2.1 is in a network of the lab's own"),
        (("10.0.1.254", "10.0.2.254"), "the gateway 10.0.2.254 is in no network of host `h1`"),
        (("10.0.1.254", "10.0.1.1"), "10.0.1.1 is the address and the gateway of host `h1`"),
        (("id = 2 }", "id = 1 }"), "node id 1 is in use by `leaf1`"),
        (("delay = \"1ms\"", "loss = 1.5"), "`loss` is a share"),
        (("delay = \"1ms\"", "delay = \"11s\""), "more than 10 seconds"),
        (("delay = \"1ms\"", "[[step]]\nat = \"1s\""), "the step does nothing"),
        (
            ("delay = \"1ms\"", "[[step]]\nat = \"1s\"\nbreak = [\"leaf1\", \"leaf2\"]"),
            "no link connects `leaf1` and `leaf2`",
        ),
        (
            ("delay = \"1ms\"", "[[step]]\nat = \"1s\"\nslow = [\"leaf1\", \"spine1\", \"fast\"]"),
            "is not a rate",
        ),
        (
            ("delay = \"1ms\"", "[[step]]\nat = \"1s\"\nrun = { on = \"h9\", command = \"true\" }"),
            "unknown host or switch `h9`",
        ),
        (("delay = \"1ms\"", "[[expect]]\nby = \"1s\""), "an expectation has one of"),
        (
            ("delay = \"1ms\"", "[[expect]]\nby = \"1s\"\nrun = { on = \"h1\", command = \"true\" }"),
            "an expectation of `run` has no `by`",
        ),
        (("delay = \"1ms\"", "[[expect]]\nonly = []\nkey = \"h1\""), "an expectation of `only` has no `key`"),
        (
            (
                "delay = \"1ms\"",
                "[[expect]]\npath = { source = \"10.0.1.1\", destination = \"10.0.2.1\", nodes = [] }",
            ),
            "the path has no `nodes`",
        ),
        (("delay = \"1ms\"", "[[expect]]\nevent = \"path-chnge\""), "unknown event `path-chnge`"),
    ] {
        let text = LEAF_SPINE.replacen(change.0, change.1, 1);
        assert_ne!(text, LEAF_SPINE, "{change:?}");
        let mistake = Plan::new(&topology(&text)).unwrap_err();
        assert!(mistake.message.contains(expected), "{change:?}: {mistake}");
        assert!(mistake.span.is_some(), "{change:?}: its place");
    }
}
