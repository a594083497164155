//! Names, labels and units of what reports name by number: `names.toml`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Write};
use std::net::IpAddr;

use serde::de::Deserializer;
use serde::{Deserialize, Serialize};

use crate::flow::Flow;
use crate::given_link::GivenLink;
use crate::node_id::NodeId;
use crate::path::Path;
use crate::prefix::Prefix;
use crate::units::{NodeUnits, QueueUnit, Tick, Units};

/// What else is known of a node, an interface, a host or a subnet: VRF, tenant, AS and so on, by names of one's own.
pub type Labels = BTreeMap<String, String>;

/// Names as they stand in `names.toml`, in any order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NameList {
    /// `[[node]]`.
    #[serde(rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeName>,
    /// `[[interface]]`.
    #[serde(rename = "interface", skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceName>,
    /// `[[host]]`.
    #[serde(rename = "host", skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostName>,
    /// `[[subnet]]`.
    #[serde(rename = "subnet", skip_serializing_if = "Vec::is_empty")]
    pub subnets: Vec<SubnetName>,
}

/// The name of a node, and the units of its metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeName {
    /// Node ID.
    pub id: u32,
    /// What people call it; empty: it has no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// In what it counts queue occupancy: `bytes`, `cells` or `packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_unit: Option<QueueUnit>,
    /// Size of its cells, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "above_zero")]
    pub cell_bytes: Option<u32>,
    /// One step of its timestamps: `ns`, `us`, `ms`, `s`, or so many of them, as `8ns`. Default `ns`.
    #[serde(default, skip_serializing_if = "is_nanosecond")]
    pub timestamp_unit: Tick,
    /// One step of the hop latency it gives, likewise. Default `ns`.
    #[serde(default, skip_serializing_if = "is_nanosecond")]
    pub latency_unit: Tick,
    /// The value of egress utilization that means a full link.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "above_zero")]
    pub utilization_full: Option<u32>,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// The name of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceName {
    /// Node ID.
    pub node: u32,
    /// Level 1 identifier.
    pub id: u16,
    /// What people call it.
    pub name: String,
    /// What is on the other end of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// The name of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostName {
    /// One of its addresses.
    pub address: IpAddr,
    /// What people call it.
    pub name: String,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// The name of a subnet, for its addresses that are no host by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubnetName {
    /// The addresses.
    pub prefix: Prefix,
    /// What people call it.
    pub name: String,
    /// What else is known of its addresses. One of several subnets counts with its labels; a label that only a larger one
    /// has counts as well.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// Names, found by number. Where one thing is named twice, the later name counts.
#[derive(Debug, Default)]
pub struct Names {
    nodes: HashMap<u32, NodeName>,
    interfaces: HashMap<(u32, u16), InterfaceName>,
    hosts: HashMap<IpAddr, HostName>,
    subnets: HashMap<Prefix, SubnetName>,
    /// Lengths of the prefixes that have names, so that only those are looked for.
    lengths: BTreeSet<u8>,
    units: Units,
}

impl Names {
    /// Makes names easy to find.
    #[must_use]
    pub fn new(list: NameList) -> Names {
        Names {
            units: Units::new(list.nodes.iter().map(|node| (NodeId(node.id), node.units()))),
            nodes: list.nodes.into_iter().map(|node| (node.id, node)).collect(),
            interfaces: list
                .interfaces
                .into_iter()
                .map(|interface| ((interface.node, interface.id), interface))
                .collect(),
            hosts: list.hosts.into_iter().map(|host| (host.address.to_canonical(), host)).collect(),
            lengths: list.subnets.iter().map(|subnet| subnet.prefix.length()).collect(),
            subnets: list.subnets.into_iter().map(|subnet| (subnet.prefix.network(), subnet)).collect(),
        }
    }

    /// A node's name.
    #[must_use]
    pub fn node(&self, node: NodeId) -> Option<&str> {
        self.nodes.get(&node.0).map(|node| node.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The node of a name; the one with the lowest id where several have it.
    #[must_use]
    pub fn node_of(&self, name: &str) -> Option<NodeId> {
        let named = self.nodes.values().filter(|node| !name.is_empty() && node.name == name);
        named.map(|node| NodeId(node.id)).min()
    }

    /// The nodes that have a name, by rising id.
    pub fn of_nodes(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut nodes: Vec<(u32, &str)> = self
            .nodes
            .iter()
            .map(|(id, node)| (*id, node.name.as_str()))
            .filter(|(_, name)| !name.is_empty())
            .collect();
        nodes.sort_unstable();
        nodes.into_iter()
    }

    /// The names of hosts and subnets, each once, in the order of the alphabet.
    pub fn of_addresses(&self) -> impl Iterator<Item = &str> {
        let hosts = self.hosts.values().map(|host| host.name.as_str());
        let names: BTreeSet<&str> =
            hosts.chain(self.subnets.values().map(|subnet| subnet.name.as_str())).collect();
        names.into_iter()
    }

    /// The units of the nodes' metadata.
    #[must_use]
    pub fn units(&self) -> &Units {
        &self.units
    }

    /// What else is known of a node.
    #[must_use]
    pub fn node_labels(&self, node: NodeId) -> Option<&Labels> {
        self.nodes.get(&node.0).map(|node| &node.labels).filter(|labels| !labels.is_empty())
    }

    /// What else is known of an interface.
    #[must_use]
    pub fn interface_labels(&self, node: NodeId, interface: Option<u16>) -> Option<&Labels> {
        self.interface(node, interface).map(|known| &known.labels).filter(|labels| !labels.is_empty())
    }

    /// What else is known of an address: of its host, and of its subnets, of which the smallest counts first.
    #[must_use]
    pub fn address_labels(&self, address: IpAddr) -> Labels {
        let address = address.to_canonical();
        let mut labels = self.hosts.get(&address).map(|host| host.labels.clone()).unwrap_or_default();
        for subnet in self.subnets_of(address) {
            for (name, value) in &subnet.labels {
                labels.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        labels
    }

    /// An interface's name and what is on the other end of its link.
    #[must_use]
    pub fn interface(&self, node: NodeId, interface: Option<u16>) -> Option<&InterfaceName> {
        self.interfaces.get(&(node.0, interface?))
    }

    /// The links between nodes, by what interfaces lead `to`. Where exactly one interface leads back, it is the other
    /// end; a name that several nodes have leads nowhere.
    #[must_use]
    pub fn links(&self) -> Vec<GivenLink> {
        let mut ends: HashMap<&str, Option<u32>> = HashMap::new();
        for (id, node) in self.nodes.iter().filter(|(_, node)| !node.name.is_empty()) {
            ends.entry(&node.name).and_modify(|end| *end = None).or_insert(Some(*id));
        }
        let lead = self.interfaces.values().filter_map(|interface| {
            let to = ends.get(interface.to.as_deref()?).copied().flatten()?;
            Some((interface.node, interface.id, to))
        });
        let mut between: HashMap<(u32, u32), Vec<u16>> = HashMap::new();
        for (node, interface, to) in lead.clone() {
            between.entry((node, to)).or_default().push(interface);
        }
        let only = |from, to| match between.get(&(from, to)).map(Vec::as_slice) {
            Some([interface]) => Some(*interface),
            _ => None,
        };
        lead.map(|(node, interface, to)| GivenLink {
            node,
            interface,
            to,
            to_interface: only(node, to).and_then(|_| only(to, node)),
        })
        .collect()
    }

    /// The name of the host with an address, or else of its smallest subnet.
    #[must_use]
    pub fn address(&self, address: IpAddr) -> Option<&str> {
        let address = address.to_canonical();
        let of_subnet = || self.subnets_of(address).next().map(|subnet| subnet.name.as_str());
        self.hosts.get(&address).map(|host| host.name.as_str()).or_else(of_subnet)
    }

    /// The addresses of the hosts and subnets with a name.
    #[must_use]
    pub fn addresses(&self, name: &str) -> Vec<Prefix> {
        let hosts = self.hosts.iter().filter(|(_, host)| host.name == name);
        let hosts =
            hosts.filter_map(|(address, _)| Prefix::new(*address, if address.is_ipv4() { 32 } else { 128 }));
        let subnets =
            self.subnets.iter().filter(|(_, subnet)| subnet.name == name).map(|(prefix, _)| *prefix);
        hosts.chain(subnets).collect()
    }

    /// The subnets of an address that have names, the smallest first.
    fn subnets_of(&self, address: IpAddr) -> impl Iterator<Item = &SubnetName> {
        let prefixes = self.lengths.iter().rev().filter_map(move |length| Prefix::new(address, *length));
        prefixes.map(Prefix::network).filter_map(|prefix| self.subnets.get(&prefix))
    }

    /// The names of a path's nodes, of those that have one.
    #[must_use]
    pub fn path(&self, path: &Path) -> Vec<Option<&str>> {
        path.hops().iter().map(|hop| self.node(hop.node_id)).collect()
    }

    /// The names of both ends of a flow.
    #[must_use]
    pub fn ends(&self, flow: &Flow) -> [Option<&str>; 2] {
        [self.address(flow.source), self.address(flow.destination)]
    }

    /// The key of an event with names in the place of `node N`, and of numbers of its interfaces.
    #[must_use]
    pub fn key(&self, key: &str) -> String {
        let mut named = String::with_capacity(key.len());
        let mut node = None;
        let mut words = key.split(' ').peekable();
        while let Some(word) = words.next() {
            if !named.is_empty() {
                named.push(' ');
            }
            let number = words.peek().and_then(|next| next.parse::<u32>().ok());
            let name = match (word, number) {
                ("node", Some(id)) => {
                    node = Some(NodeId(id));
                    self.node(NodeId(id)).map(str::to_owned)
                }
                ("egress" | "ingress", Some(id)) => {
                    let interface = node.and_then(|node| self.interface(node, u16::try_from(id).ok()));
                    interface.map(|interface| format!("{word} {}", interface.name))
                }
                _ => None,
            };
            match name {
                None => named.push_str(word),
                Some(name) => {
                    // Writing to a string does not fail.
                    let _ = write!(named, "{name}");
                    words.next();
                }
            }
        }
        named
    }
}

impl NodeName {
    /// A node with a name, whose units are not known.
    #[must_use]
    pub fn new(id: u32, name: impl Into<String>) -> Self {
        Self { id, name: name.into(), ..Self::default() }
    }

    fn units(&self) -> NodeUnits {
        NodeUnits {
            queue: self.queue_unit,
            cell_bytes: self.cell_bytes,
            utilization_full: self.utilization_full,
            timestamp: self.timestamp_unit,
            latency: self.latency_unit,
        }
    }
}

/// A label's value as TOML has it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, a whole number, true or false")]
enum Label {
    Text(String),
    Number(i64),
    Flag(bool),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
        }
    }
}

fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    let labels = BTreeMap::<String, Label>::deserialize(deserializer)?;
    Ok(labels.into_iter().map(|(name, label)| (name, label.to_string())).collect())
}

fn above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(serde::de::Error::custom("0 is not possible here; leave the key out where it is not known")),
        number => Ok(Some(number)),
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_nanosecond(tick: &Tick) -> bool {
    *tick == Tick::NANOSECOND
}
