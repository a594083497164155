//! The node id of a host: a number, or one derived from the machine or its address.

use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;

use inband_linux::address;
use inband_linux::device::Device;
use inband_linux::netlink::Netlink;
use inband_node::config::{IntVersion, NodeSection, UnknownInstructions};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::error::HostError;

/// `[node]` of a host: as of a node, except for the id.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostNode {
    /// Node ID, unique in the INT domain: a number, `"machine"` or `"address"`.
    pub id: NodeId,
    /// The version a source writes; default 2.1.
    #[serde(default)]
    pub int_version: Option<IntVersion>,
    /// What happens to instructions this node does not know; default `pad`.
    #[serde(default)]
    pub unknown_instructions: UnknownInstructions,
}

/// Where a node id comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeId {
    /// A number in the settings.
    Number(u32),
    /// `"machine"`: 32 bits of a hash of `/etc/machine-id`.
    Machine,
    /// `"address"`: the first IPv4 address of the devices, or 32 bits of a hash of the first IPv6 address.
    Address,
}

const MACHINE: &str = "/etc/machine-id";

impl HostNode {
    /// The section as the engine reads it; an unresolved id is 1.
    pub(crate) fn section(&self) -> NodeSection {
        let id = match self.id {
            NodeId::Number(id) => id,
            NodeId::Machine | NodeId::Address => 1,
        };
        let Self { int_version, unknown_instructions, .. } = *self;
        NodeSection { id, int_version, unknown_instructions }
    }
}

impl NodeId {
    /// The number, where `devices` are those with INT.
    ///
    /// # Errors
    /// The machine has no id, or the devices have no address.
    pub(crate) fn resolve(self, netlink: &mut Netlink, devices: &[&Device]) -> Result<u32, HostError> {
        let unknown = |value: &str, instead| {
            let (key, value) = ("node.id", format!("\"{value}\""));
            Err(HostError::Unsupported { key, value, instead })
        };
        match self {
            Self::Number(id) => Ok(id),
            Self::Machine => match fs::read(MACHINE).map(|id| id.trim_ascii().to_vec()) {
                Ok(id) if !id.is_empty() => Ok(hash(&id)),
                _ => unknown("machine", "a number, or \"address\": /etc/machine-id cannot be read"),
            },
            Self::Address => {
                let fault = |reason: io::Error| HostError::system("list the addresses", reason);
                let addresses = address::all(netlink).map_err(fault)?;
                let of_devices = devices.iter().flat_map(|device| {
                    addresses.iter().filter(|address| address.device == device.index && is_global(address.ip))
                });
                let all: Vec<_> = of_devices.map(|address| address.ip).collect();
                let first = all.iter().find(|address| address.is_ipv4()).or_else(|| all.first());
                match first {
                    Some(IpAddr::V4(address)) => Ok(address.to_bits()),
                    Some(IpAddr::V6(address)) => Ok(hash(&address.octets())),
                    None => unknown("address", "a number, or \"machine\": the devices have no address"),
                }
            }
        }
    }
}

/// Whether other hosts can reach this one by the address.
fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
        IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
    }
}

/// FNV-1a; never 0, which often means no id.
fn hash(bytes: &[u8]) -> u32 {
    let hash =
        bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrSource)
    }
}

struct NumberOrSource;

impl Visitor<'_> for NumberOrSource {
    type Value = NodeId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a u32, \"machine\" or \"address\"")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<NodeId, E> {
        let out_of_range = |_| E::invalid_value(serde::de::Unexpected::Signed(number), &self);
        u32::try_from(number).map(NodeId::Number).map_err(out_of_range)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<NodeId, E> {
        let out_of_range = |_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self);
        u32::try_from(number).map(NodeId::Number).map_err(out_of_range)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<NodeId, E> {
        match text {
            "machine" => Ok(NodeId::Machine),
            "address" => Ok(NodeId::Address),
            _ => Err(E::unknown_variant(text, &["machine", "address"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn ids_of_other_machines_are_other_numbers_and_never_zero() {
        let ids: std::collections::HashSet<_> =
            (0..10_000_u32).map(|machine| hash(format!("{machine:032x}").as_bytes())).collect();
        assert!(ids.len() > 9_995 && !ids.contains(&0), "{}", ids.len());
    }
}
