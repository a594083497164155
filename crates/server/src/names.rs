//! How do people call what reports name by number?

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::net::IpAddr;

use inband_collector::GivenLink;
use inband_model::{Flow, NodeId, Path};
use inband_store::Naming;
use serde::{Deserialize, Serialize};

use crate::receive::Prefix;

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

/// The name of a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeName {
    /// Node ID.
    pub id: u32,
    /// What people call it.
    pub name: String,
}

/// The name of an interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
}

/// The name of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostName {
    /// One of its addresses.
    pub address: IpAddr,
    /// What people call it.
    pub name: String,
}

/// The name of a subnet, for its addresses that are no host by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubnetName {
    /// The addresses.
    pub prefix: Prefix,
    /// What people call it.
    pub name: String,
}

/// Names, found by number. Where one thing is named twice, the later name counts.
#[derive(Debug, Default)]
pub struct Names {
    nodes: HashMap<u32, String>,
    interfaces: HashMap<(u32, u16), InterfaceName>,
    hosts: HashMap<IpAddr, String>,
    subnets: HashMap<Prefix, String>,
    /// Lengths of the prefixes that have names, so that only those are looked for.
    lengths: BTreeSet<u8>,
}

impl Names {
    /// Makes names easy to find.
    #[must_use]
    pub fn new(list: NameList) -> Names {
        Names {
            nodes: list.nodes.into_iter().map(|node| (node.id, node.name)).collect(),
            interfaces: list
                .interfaces
                .into_iter()
                .map(|interface| ((interface.node, interface.id), interface))
                .collect(),
            hosts: list.hosts.into_iter().map(|host| (host.address.to_canonical(), host.name)).collect(),
            lengths: list.subnets.iter().map(|subnet| subnet.prefix.length()).collect(),
            subnets: list.subnets.into_iter().map(|subnet| (subnet.prefix.network(), subnet.name)).collect(),
        }
    }

    /// A node's name.
    #[must_use]
    pub fn node(&self, node: NodeId) -> Option<&str> {
        self.nodes.get(&node.0).map(String::as_str)
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
        for (id, name) in &self.nodes {
            ends.entry(name).and_modify(|end| *end = None).or_insert(Some(*id));
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
        let of_subnet = || {
            let prefixes = self.lengths.iter().rev().filter_map(|length| Prefix::new(address, *length));
            prefixes.map(Prefix::network).find_map(|prefix| self.subnets.get(&prefix))
        };
        self.hosts.get(&address).or_else(of_subnet).map(String::as_str)
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

impl Naming for Names {
    fn node_name(&self, node: u32) -> Option<&str> {
        self.node(NodeId(node))
    }

    fn interface_name(&self, node: u32, interface: u16) -> Option<&str> {
        self.interface(NodeId(node), Some(interface)).map(|interface| interface.name.as_str())
    }

    fn address_name(&self, address: IpAddr) -> Option<&str> {
        self.address(address)
    }
}

#[cfg(test)]
mod tests;
