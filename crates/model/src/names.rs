//! Names, labels and units of what reports identify by number: `names.toml`.

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

/// Further properties of a node, an interface, a host or a subnet, such as VRF, tenant or AS, by freely
/// chosen names.
pub type Labels = BTreeMap<String, String>;

/// The content of `names.toml`, in any order.
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
    /// The name; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Unit of its queue occupancy: `bytes`, `cells` or `packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_unit: Option<QueueUnit>,
    /// Size of one of its cells, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "above_zero")]
    pub cell_bytes: Option<u32>,
    /// Unit of its timestamps: `ns`, `us`, `ms`, `s`, or a multiple such as `8ns`. Default `ns`.
    #[serde(default, skip_serializing_if = "is_nanosecond")]
    pub timestamp_unit: Tick,
    /// Unit of its hop latency, written like `timestamp_unit`. Default `ns`.
    #[serde(default, skip_serializing_if = "is_nanosecond")]
    pub latency_unit: Tick,
    /// The value of egress utilization that means a full link.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "above_zero")]
    pub utilization_full: Option<u32>,
    /// Labels of the node.
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
    /// The name.
    pub name: String,
    /// What is at the other end of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Labels of the interface.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// The name of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostName {
    /// One of its addresses.
    pub address: IpAddr,
    /// The name.
    pub name: String,
    /// Labels of the host.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// The name of a subnet, for addresses in it that have no host name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubnetName {
    /// The addresses.
    pub prefix: Prefix,
    /// The name.
    pub name: String,
    /// Labels of its addresses. Of overlapping subnets, the smallest that has a label determines its value.
    #[serde(default, skip_serializing_if = "Labels::is_empty", deserialize_with = "labels")]
    pub labels: Labels,
}

/// Names, looked up by number. Where one thing is named twice, the later name applies.
#[derive(Debug, Default)]
pub struct Names {
    nodes: HashMap<u32, NodeName>,
    interfaces: HashMap<(u32, u16), InterfaceName>,
    hosts: HashMap<IpAddr, HostName>,
    subnets: HashMap<Prefix, SubnetName>,
    /// Lengths of the named prefixes; only these are looked up.
    lengths: BTreeSet<u8>,
    units: Units,
}

impl Names {
    /// Indexes a list of names.
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

    /// The node with a name; the lowest id where several have it.
    #[must_use]
    pub fn node_of(&self, name: &str) -> Option<NodeId> {
        let named = self.nodes.values().filter(|node| !name.is_empty() && node.name == name);
        named.map(|node| NodeId(node.id)).min()
    }

    /// The named nodes, sorted by id.
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

    /// The names of hosts and subnets, each once, in alphabetical order.
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

    /// The labels of a node.
    #[must_use]
    pub fn node_labels(&self, node: NodeId) -> Option<&Labels> {
        self.nodes.get(&node.0).map(|node| &node.labels).filter(|labels| !labels.is_empty())
    }

    /// The labels of an interface.
    #[must_use]
    pub fn interface_labels(&self, node: NodeId, interface: Option<u16>) -> Option<&Labels> {
        self.interface(node, interface).map(|known| &known.labels).filter(|labels| !labels.is_empty())
    }

    /// The labels of an address: those of its host, then those of its subnets, smallest first.
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

    /// The entry of an interface: its name, and the other end of its link.
    #[must_use]
    pub fn interface(&self, node: NodeId, interface: Option<u16>) -> Option<&InterfaceName> {
        self.interfaces.get(&(node.0, interface?))
    }

    /// The links between nodes, from the `to` of interfaces. Where exactly one interface leads back, it is
    /// the other end; a name that several nodes have is ignored.
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

    /// The name of the host with an address, or of its smallest subnet.
    #[must_use]
    pub fn address(&self, address: IpAddr) -> Option<&str> {
        let address = address.to_canonical();
        let of_subnet = || self.subnets_of(address).next().map(|subnet| subnet.name.as_str());
        self.hosts.get(&address).map(|host| host.name.as_str()).or_else(of_subnet)
    }

    /// The addresses of the hosts and subnets with this name.
    #[must_use]
    pub fn addresses(&self, name: &str) -> Vec<Prefix> {
        let hosts = self.hosts.iter().filter(|(_, host)| host.name == name);
        let hosts =
            hosts.filter_map(|(address, _)| Prefix::new(*address, if address.is_ipv4() { 32 } else { 128 }));
        let subnets =
            self.subnets.iter().filter(|(_, subnet)| subnet.name == name).map(|(prefix, _)| *prefix);
        hosts.chain(subnets).collect()
    }

    /// The named subnets of an address, smallest first.
    fn subnets_of(&self, address: IpAddr) -> impl Iterator<Item = &SubnetName> {
        let prefixes = self.lengths.iter().rev().filter_map(move |length| Prefix::new(address, *length));
        prefixes.map(Prefix::network).filter_map(|prefix| self.subnets.get(&prefix))
    }

    /// The names of a path's nodes; `None` for nodes without a name.
    #[must_use]
    pub fn path(&self, path: &Path) -> Vec<Option<&str>> {
        path.hops().iter().map(|hop| self.node(hop.node_id)).collect()
    }

    /// The names of both ends of a flow.
    #[must_use]
    pub fn ends(&self, flow: &Flow) -> [Option<&str>; 2] {
        [self.address(flow.source), self.address(flow.destination)]
    }

    /// The key of an event with names in place of `node N` and of interface numbers.
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
    /// A node with a name and unknown units.
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

/// A label's value as written in TOML.
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
