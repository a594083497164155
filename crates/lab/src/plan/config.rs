//! Configuration files of a lab's switches, hosts and collector.

use std::path::Path;

use toml::{Spanned, Table, Value};

use super::parts::{Kind, Node, Plan, management};
use crate::topology::{Fault, Topology};

/// The `node.toml` of a switch, with `faults` in force.
///
/// # Errors
/// The node is not a switch with INT.
pub fn switch_toml(plan: &Plan, topology: &Topology, node: usize, faults: &[Fault]) -> Option<Table> {
    let (switch, own) = (topology.switches.get(node)?, plan.nodes.get(node)?);
    let mut file = common(plan, node, own)?;
    let forwarding = if matches!(own.kind, Kind::Bridge { .. }) { "learn" } else { "routes" };
    let datapath = if own.is_engine() { "engine" } else { "kernel" };
    file.insert("switch".into(), table([("datapath", datapath.into()), ("forwarding", forwarding.into())]));
    file.insert("watch".into(), watchlist(topology));
    let mut interfaces = interfaces(plan, own);
    if own.is_engine() {
        for (interface, port) in interfaces.iter_mut().zip(&own.interfaces) {
            // Rate 0: the device's. Without the key a switch uses 1 Gbit/s.
            interface.insert("rate".into(), plan.rate(port.link, faults).to_string().into());
            interface.insert("queue_bytes".into(), i64::from(plan.links[port.link].queue_bytes).into());
        }
    }
    let defaults = &topology.defaults.switch;
    for entries in [&defaults.interface, &switch.interface] {
        add_interfaces(&mut interfaces, entries);
    }
    file.insert("interface".into(), interfaces.into_iter().map(Value::Table).collect::<Vec<_>>().into());
    merge(&mut file, defaults.tables());
    merge(&mut file, switch.tables());
    Some(file)
}

/// The `host.toml` of a host with INT.
pub fn host_toml(plan: &Plan, topology: &Topology, node: usize) -> Option<Table> {
    let host = topology.hosts.get(node.checked_sub(topology.switches.len())?)?;
    let own = plan.nodes.get(node)?;
    let mut file = common(plan, node, own)?;
    file.insert(
        "host".into(),
        table([("devices", vec![Value::from("eth0")].into()), ("coverage", "all".into())]),
    );
    file.insert("watch".into(), watchlist(topology));
    let others = (0..plan.nodes.len()).filter(|other| {
        *other != node && plan.nodes[*other].kind == Kind::Host && plan.nodes[*other].id.is_some()
    });
    let addresses = others.flat_map(|other| plan.host_addresses(other));
    let peers: Vec<Value> = addresses
        .map(|network| {
            table([("prefix", crate::quantity::Network::host(network.address).to_string().into())])
        })
        .collect();
    file.insert("peer".into(), peers.into());
    let mut interfaces = vec![Table::from_iter([("id".into(), 1.into()), ("device".into(), "eth0".into())])];
    let defaults = &topology.defaults.host;
    for entries in [&defaults.interface, &host.interface] {
        add_interfaces(&mut interfaces, entries);
    }
    file.insert("interface".into(), interfaces.into_iter().map(Value::Table).collect::<Vec<_>>().into());
    merge(&mut file, defaults.tables());
    merge(&mut file, host.tables());
    Some(file)
}

/// The `collector.toml`; `folder` is for its history and names.
#[must_use]
pub fn collector_toml(plan: &Plan, topology: &Topology, folder: &Path) -> Table {
    let listen = vec![Value::from("0.0.0.0:32766")];
    let text = |path: &str| Value::from(folder.join(path).display().to_string());
    let mut file = Table::new();
    file.insert(
        "receive".into(),
        table([("listen", listen.into()), ("socket_buffer_bytes", BUFFER_BYTES.into())]),
    );
    file.insert("api".into(), table([("listen", API_INSIDE.into())]));
    file.insert("store".into(), table([("path", text("history")), ("max_size", "1GB".into())]));
    file.insert("names".into(), table([("file", text("names.toml"))]));
    let edges = plan.nodes.iter().filter(|node| node.kind != Kind::Host).flat_map(|node| {
        let edges = node.interfaces.iter().filter(|interface| interface.edge);
        edges.filter_map(|edge| {
            let id = node.id?;
            Some(table([("node", i64::from(id).into()), ("interface", i64::from(edge.id).into())]))
        })
    });
    let edges: Vec<Value> = edges.collect();
    if !edges.is_empty() {
        file.insert("paths".into(), table([("edge", edges.into())]));
    }
    let own = &topology.collector;
    for (name, given) in [
        ("store", &own.store),
        ("ledger", &own.ledger),
        ("paths", &own.paths),
        ("ports", &own.ports),
        ("events", &own.events),
        ("receive", &own.receive),
    ] {
        if let Some(given) = given {
            merge(&mut file, Table::from_iter([(name.to_owned(), Value::Table(given.clone()))]));
        }
    }
    file
}

/// The `names.toml`: names of nodes, interfaces and hosts.
#[must_use]
pub fn names_toml(plan: &Plan) -> Table {
    let named = |node: &Node, id: u32| {
        table([
            ("id", i64::from(id).into()),
            ("name", node.name.as_str().into()),
            ("queue_unit", "bytes".into()),
            ("timestamp_unit", "ns".into()),
        ])
    };
    let nodes: Vec<Value> = plan.nodes.iter().filter_map(|node| node.id.map(|id| named(node, id))).collect();
    let mut interfaces: Vec<Value> = Vec::new();
    let mut hosts: Vec<Value> = Vec::new();
    for (at, node) in plan.nodes.iter().enumerate() {
        if let Some(id) = node.id {
            interfaces.extend(node.interfaces.iter().map(|interface| {
                table([
                    ("node", i64::from(id).into()),
                    ("id", i64::from(interface.id).into()),
                    ("name", interface.device.as_str().into()),
                    ("to", plan.nodes[interface.peer].name.as_str().into()),
                ])
            }));
        }
        if node.kind == Kind::Host {
            hosts.extend(plan.host_addresses(at).map(|network| {
                table([("address", network.address.to_string().into()), ("name", node.name.as_str().into())])
            }));
        }
    }
    let lists = [("node", nodes), ("interface", interfaces), ("host", hosts)];
    lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (name.to_owned(), list.into()))
        .collect()
}

impl Plan {
    /// The rate of a link with `faults` in force.
    #[must_use]
    pub fn rate(&self, link: usize, faults: &[Fault]) -> crate::quantity::Rate {
        let slow = faults.iter().rev().find_map(|fault| match fault {
            Fault::Slow { a, b, rate } => {
                let (a, b) = self.node(a).zip(self.node(b))?;
                self.links_between(a, b).any(|it| it == link).then_some(*rate)
            }
            _ => None,
        });
        slow.unwrap_or(self.links[link].rate)
    }
}

/// The tables common to switches and hosts.
fn common(_plan: &Plan, node: usize, own: &Node) -> Option<Table> {
    let (collector, address) = management(node);
    let instructions: Vec<Value> = INSTRUCTIONS.iter().map(|name| Value::from(*name)).collect();
    let mut file = Table::new();
    file.insert("node".into(), table([("id", i64::from(own.id?).into())]));
    file.insert("source".into(), table([("instructions", instructions.into())]));
    let report =
        [("collector", format!("{collector}:32766").into()), ("source_address", address.to_string().into())];
    file.insert("report".into(), table(report));
    Some(file)
}

fn watchlist(topology: &Topology) -> Value {
    if topology.watch.is_empty() {
        vec![Value::Table(Table::new())].into()
    } else {
        topology.watch.clone().into()
    }
}

fn interfaces(plan: &Plan, node: &Node) -> Vec<Table> {
    let table = |interface: &super::parts::Interface| {
        let mut table = Table::new();
        table.insert("id".into(), i64::from(interface.id).into());
        table.insert("device".into(), interface.device.as_str().into());
        table.insert("mtu".into(), i64::from(interface.mtu).into());
        if interface.edge {
            table.insert("edge".into(), true.into());
            // Hosts send probes for `inband trace`.
            table.insert("accept_int".into(), true.into());
        }
        table
    };
    debug_assert!(node.interfaces.iter().all(|interface| interface.peer < plan.nodes.len()));
    node.interfaces.iter().map(table).collect()
}

/// Adds the file's settings of interfaces; an entry without an id applies to all.
fn add_interfaces(interfaces: &mut [Table], entries: &[Spanned<Table>]) {
    for entry in entries.iter().map(Spanned::get_ref) {
        let id = entry.get("id");
        for interface in interfaces.iter_mut().filter(|interface| id.is_none() || interface.get("id") == id) {
            merge(interface, entry.clone());
        }
    }
}

/// Merges `over` into `under`: tables key by key, everything else is replaced.
fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The instructions that a lab's switches and hosts request.
const INSTRUCTIONS: [&str; 6] = [
    "node-id",
    "level1-interfaces",
    "hop-latency",
    "queue-occupancy",
    "ingress-timestamp",
    "egress-timestamp",
];
/// The address of the collector's API in its namespace.
pub(crate) const API_INSIDE: &str = "127.0.0.1:8080";
/// A lab has many sockets and little traffic.
const BUFFER_BYTES: i64 = 8 << 20;
