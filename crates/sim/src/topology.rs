//! The devices of a leaf-spine fabric, their links and addresses.

use std::net::Ipv4Addr;

use thiserror::Error;

#[cfg(test)]
mod tests;

/// The size of a fabric in which every leaf is connected to every spine by one link.
///
/// Switches are numbered leaves first, then spines. On a leaf the ports to its hosts come first, then one to
/// each spine; on a spine port *n* leads to leaf *n*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSpine {
    /// Leaves: 1 to 100.
    pub leaves: usize,
    /// Spines: 1 to 16.
    pub spines: usize,
    /// Hosts on each leaf: 1 to 48.
    pub hosts_per_leaf: usize,
}

/// A fabric size that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a fabric of {0:?}: 1 to 100 leaves, 1 to 16 spines and 1 to 48 hosts per leaf are possible")]
pub struct TopologyError(LeafSpine);

/// One end of a link: a device and the number of its port, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) device: Device,
    pub(crate) number: usize,
}

/// A switch or a host by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Switch(usize),
    Host(usize),
}

/// The role of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The leaf with this index.
    Leaf(usize),
    /// The spine with this index.
    Spine(usize),
}

impl LeafSpine {
    /// Returns the fabric if its size is in range.
    ///
    /// # Errors
    /// `TopologyError` names the ranges.
    pub(crate) fn check(self) -> Result<LeafSpine, TopologyError> {
        let possible = (1..=100).contains(&self.leaves)
            && (1..=16).contains(&self.spines)
            && (1..=48).contains(&self.hosts_per_leaf);
        if possible { Ok(self) } else { Err(TopologyError(self)) }
    }

    /// Number of switches of both kinds.
    pub fn switches(&self) -> usize {
        self.leaves + self.spines
    }

    /// Number of hosts on all leaves.
    pub fn hosts(&self) -> usize {
        self.leaves * self.hosts_per_leaf
    }

    /// The node id of a leaf: 1 for the first.
    pub fn leaf_node_id(&self, leaf: usize) -> u32 {
        small(leaf) + 1
    }

    /// The node id of a spine: 11 for the first, or 21, 31 … if there are more than ten leaves.
    pub fn spine_node_id(&self, spine: usize) -> u32 {
        small(self.leaves.div_ceil(10) * 10 + spine) + 1
    }

    /// The address of a host: host 0 on leaf 0 is 10.0.1.1, host 1 on leaf 2 is 10.0.3.2.
    pub fn host_address(&self, host: usize) -> Ipv4Addr {
        let (leaf, place) = (host / self.hosts_per_leaf, host % self.hosts_per_leaf);
        Ipv4Addr::from(0x0a00_0000 | (small(leaf) + 1) << 8 | (small(place) + 1))
    }

    /// The host with this address.
    pub(crate) fn host(&self, address: Ipv4Addr) -> Option<usize> {
        let [10, 0, leaf, place] = address.octets() else { return None };
        let (leaf, place) = (usize::from(leaf).checked_sub(1)?, usize::from(place).checked_sub(1)?);
        (leaf < self.leaves && place < self.hosts_per_leaf).then_some(leaf * self.hosts_per_leaf + place)
    }

    /// The leaf a host is attached to, and the leaf's port.
    pub(crate) fn attachment(&self, host: usize) -> (usize, usize) {
        (host / self.hosts_per_leaf, host % self.hosts_per_leaf)
    }

    pub(crate) fn role(&self, switch: usize) -> Role {
        match switch.checked_sub(self.leaves) {
            None => Role::Leaf(switch),
            Some(spine) => Role::Spine(spine),
        }
    }

    pub(crate) fn spine(&self, spine: usize) -> usize {
        self.leaves + spine
    }

    pub(crate) fn uplink(&self, spine: usize) -> usize {
        self.hosts_per_leaf + spine
    }

    pub(crate) fn node_id(&self, switch: usize) -> u32 {
        match self.role(switch) {
            Role::Leaf(leaf) => self.leaf_node_id(leaf),
            Role::Spine(spine) => self.spine_node_id(spine),
        }
    }

    /// The other ends of a switch's links, in the order of its ports.
    pub(crate) fn peers(&self, switch: usize) -> Vec<Port> {
        match self.role(switch) {
            Role::Leaf(leaf) => {
                let first = leaf * self.hosts_per_leaf;
                let hosts = (first..first + self.hosts_per_leaf)
                    .map(|host| Port { device: Device::Host(host), number: 0 });
                let spines = (0..self.spines)
                    .map(|spine| Port { device: Device::Switch(self.spine(spine)), number: leaf });
                hosts.chain(spines).collect()
            }
            Role::Spine(spine) => (0..self.leaves)
                .map(|leaf| Port { device: Device::Switch(leaf), number: self.uplink(spine) })
                .collect(),
        }
    }
}

/// The locally administered MAC address of a host, made from its index.
pub(crate) fn host_mac(host: usize) -> [u8; 6] {
    mac(0x02, host)
}

/// The locally administered MAC address of a switch, the same on all its ports.
pub(crate) fn switch_mac(switch: usize) -> [u8; 6] {
    mac(0x06, switch)
}

fn mac(kind: u8, index: usize) -> [u8; 6] {
    let [a, b, c, d] = (small(index) + 1).to_be_bytes();
    [kind, 0, a, b, c, d]
}

/// An index into a fabric, which `check` keeps below 5 000.
fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX - 1)
}
