//! Labs whose switches are Linux with programs in the kernel, and labs of both kinds of switches.

use serde_json::Value;

use crate::json;
use crate::world::World;

/// Two leaves and two spines with the data paths `DATAPATH1` to `DATAPATH4`. Nothing that depends on timing
/// is checked, because the machine may be overloaded.
const FABRIC: &str = r#"
name = "NAME"
[collector]
api = "127.0.0.1:PORT"
[defaults.switch.source]
instructions = ["node-id", "level1-interfaces"]
[[switch]]
name = "leaf1"
id = 1
datapath = "DATAPATH1"
[[switch]]
name = "leaf2"
id = 2
datapath = "DATAPATH2"
[[switch]]
name = "spine1"
id = 11
datapath = "DATAPATH3"
[[switch]]
name = "spine2"
id = 12
datapath = "DATAPATH4"
[[host]]
name = "h1"
address = "10.0.1.1/24"
[[host]]
name = "h2"
address = "10.0.2.1/24"
run = ["inband lab traffic receive"]
[[link]]
ends = ["h1", "leaf1:1"]
[[link]]
ends = ["h2", "leaf2:1"]
[[link]]
ends = ["leaf1:11", "spine1"]
[[link]]
ends = ["leaf1:12", "spine2"]
[[link]]
ends = ["leaf2:11", "spine1"]
[[link]]
ends = ["leaf2:12", "spine2"]
"#;

/// The interface of leaf1 to the link that breaks.
const BROKEN: u16 = 11;

/// Before the failure, 200 datagrams and a stream of full-sized segments arrive bit for bit; then a link
/// breaks. Their receivers have some time to start.
const BREAK: &str = r#"
[[step]]
at = "0s"
run = { on = "h2", command = "inband lab traffic receive --port 5001 --packets 200 --for 14s" }
[[step]]
at = "0s"
run = { on = "h2", command = "inband lab traffic receive --port 5002 --packets 300 --for 14s" }
[[step]]
at = "0s"
run = { on = "h1", command = "inband lab traffic send 10.0.2.1 --flows 16 --rate 400kbit --for 13s" }
[[step]]
at = "2s"
run = { on = "h1", command = "inband lab traffic send 10.0.2.1 --port 5001 --packets 200 --rate 1Mbit" }
[[step]]
at = "2s"
run = { on = "h1", command = "inband lab traffic send 10.0.2.1 --port 5002 --bytes 8000 --packets 300 --rate 10Mbit --tcp" }
[[step]]
at = "8s"
break = ["leaf1", "spine1"]
[[expect]]
path = { source = "10.0.1.1", destination = "10.0.2.1", nodes = ["leaf1", "spine1", "leaf2"] }
by = "8s"
[[expect]]
path = { source = "10.0.1.1", destination = "10.0.2.1", nodes = ["leaf1", "spine2", "leaf2"] }
by = "8s"
[[expect]]
event = "path-change"
after = "8s"
by = "16s"
[[expect]]
only = ["new-flow", "path-change", "drop"]
by = "16s"
"#;

#[test]
fn a_broken_link_is_a_change_of_path_and_nothing_else_where_linux_forwards() {
    check_broken_link(["kernel", "kernel", "kernel", "kernel"]);
}

#[test]
fn a_broken_link_is_a_change_of_path_and_nothing_else_where_switches_are_of_both_kinds() {
    check_broken_link(["kernel", "engine", "engine", "kernel"]);
}

fn check_broken_link(datapaths: [&str; 4]) {
    let Some(world) = World::new(&(fabric(datapaths) + BREAK)) else { return };

    let (code, out, messages) = world.lab(&["run", "TOPOLOGY", "--json", "--keep"]);

    assert_eq!(code, 0, "{out}{messages}");
    let outcome = json(&out);
    for (step, packets) in [(0, 200), (1, 300)] {
        let received = json(outcome["steps"][step]["output"].as_str().unwrap());
        assert_eq!((&received["received"], &received["wrong"]), (&packets.into(), &0.into()), "{out}");
    }
    // Packets may come to the link while it goes down, and before the routes have changed.
    let events = world.ask("/api/v1/events?kind=drop");
    for event in events.as_array().unwrap() {
        let detail = &event["detail"];
        assert_eq!(detail["reason"], 71, "the queue of a device that is down: {event}");
        assert_eq!(detail["egress_interface"], BROKEN, "{event}");
    }
    assert_ledger_is_clean(&world.ask("/api/v1/ledger")["total"]);
    let (_, status, _) = world.lab(&["status", "NAME", "--json"]);
    let kinds: Vec<_> = json(&status)["nodes"].as_array().unwrap()[..4].iter().map(kind).collect();
    assert_eq!(kinds, datapaths);
}

/// Postcards of three hosts' flows over a line of switches, the middle of which starts to drop all of them.
const LINE: &str = r#"
name = "NAME"
[collector]
api = "127.0.0.1:PORT"
[defaults.switch.source]
mode = "xd"
instructions = ["node-id", "level1-interfaces"]
[[switch]]
name = "leaf1"
id = 1
datapath = "DATAPATH1"
[[switch]]
name = "leaf2"
id = 2
datapath = "DATAPATH2"
[[switch]]
name = "spine"
id = 11
datapath = "DATAPATH3"
[[host]]
name = "h1"
address = "10.0.1.1/24"
[[host]]
name = "h2"
address = "10.0.2.1/24"
run = ["inband lab traffic receive"]
[[link]]
ends = ["h1", "leaf1:1"]
[[link]]
ends = ["h2", "leaf2:1"]
[[link]]
ends = ["leaf1:11", "spine:1"]
[[link]]
ends = ["leaf2:11", "spine:2"]
[[step]]
at = "0s"
run = { on = "h1", command = "inband lab traffic send 10.0.2.1 --flows 4 --rate 400kbit --for 16s" }
[[step]]
at = "4s"
drop = ["spine", "silent"]
[[expect]]
path = { source = "10.0.1.1", destination = "10.0.2.1", nodes = ["leaf1", "spine", "leaf2"] }
by = "4s"
[[expect]]
event = "silent-loss"
after = "4s"
by = "16s"
[[expect]]
only = ["new-flow", "silent-loss"]
by = "16s"
"#;

#[test]
fn a_silent_drop_is_silent_loss_and_nothing_else_where_linux_forwards() {
    check_silent_drop(["kernel", "kernel", "kernel"]);
}

#[test]
fn a_silent_drop_is_silent_loss_and_nothing_else_where_switches_are_of_both_kinds() {
    check_silent_drop(["kernel", "engine", "kernel"]);
}

fn check_silent_drop(datapaths: [&str; 3]) {
    let Some(world) = World::new(&with(LINE, &datapaths)) else { return };

    let (code, out, messages) = world.lab(&["run", "TOPOLOGY", "--keep"]);

    assert_eq!(code, 0, "{out}{messages}");
    assert_ledger_is_clean(&world.ask("/api/v1/ledger")["total"]);
    // The fault of the switch can be removed.
    assert_eq!(world.lab(&["mend", "NAME", "spine"]).0, 0);
    let trace =
        ["exec", "NAME", "h1", "inband", "trace", "10.0.2.1", "--wait", "5s", "--count", "1", "--json"];
    let (code, out, messages) = world.lab(&trace);
    assert_eq!(code, 0, "{out}{messages}");
}

/// Everything sent to the collector was received, parsed and stored.
fn assert_ledger_is_clean(total: &Value) {
    assert!(total["accepted"].as_u64().unwrap() > 20, "{total}");
    for name in ["kernel_dropped", "malformed", "shed", "duplicate", "lost", "lost_unknown", "store_failed"] {
        assert_eq!(total[name], 0, "{name}: {total}");
    }
    assert_eq!(total["received"], total["accepted"], "{total}");
}

fn kind(node: &Value) -> String {
    node["kind"].as_str().unwrap().to_owned()
}

fn fabric(datapaths: [&str; 4]) -> String {
    with(FABRIC, &datapaths)
}

fn with(topology: &str, datapaths: &[&str]) -> String {
    (1..).zip(datapaths).fold(topology.to_owned(), |text, (number, datapath)| {
        text.replace(&format!("DATAPATH{number}"), datapath)
    })
}
