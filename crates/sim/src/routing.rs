//! Routes of a switch: down to the destination, or up by equal-cost multipath.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use inband_wire::FiveTuple;

use crate::random::mix;
use crate::topology::{LeafSpine, Role};

#[cfg(test)]
mod tests;

/// The maximum weight of a link.
pub const MAX_WEIGHT: u8 = 16;

/// The routes of every switch, as a routing protocol would compute them.
///
/// A leaf picks the spine by weighted rendezvous hashing of the five-tuple: each usable spine draws as many
/// numbers as its link has weight, and the highest number wins. So a link that fails or loses weight moves
/// only flows that were on it, and they come back when it does.
#[derive(Clone, Debug)]
pub(crate) struct Routing {
    topology: LeafSpine,
    seed: u64,
    links: Vec<FabricLink>,
    pins: HashMap<FiveTuple, usize>,
}

#[derive(Clone, Copy, Debug)]
struct FabricLink {
    weight: u8,
    up: bool,
}

impl Routing {
    pub(crate) fn new(topology: LeafSpine, seed: u64) -> Routing {
        let links = vec![FabricLink { weight: 1, up: true }; topology.leaves * topology.spines];
        Routing { topology, seed, links, pins: HashMap::new() }
    }

    /// The port by which `switch` sends packets of `flow`; `None` without a route to the destination.
    pub(crate) fn egress(&self, switch: usize, flow: &FiveTuple) -> Option<usize> {
        let (leaf, port) = self.topology.attachment(self.topology.host(ipv4(flow.destination)?)?);
        match self.topology.role(switch) {
            Role::Leaf(here) if here == leaf => Some(port),
            Role::Leaf(here) => Some(self.topology.uplink(self.spine(here, leaf, flow)?)),
            Role::Spine(spine) => self.link(leaf, spine).up.then_some(leaf),
        }
    }

    /// The spine of `flow` between two leaves.
    pub(crate) fn spine(&self, from_leaf: usize, to_leaf: usize, flow: &FiveTuple) -> Option<usize> {
        let usable =
            |&spine: &usize| self.link(from_leaf, spine).weight > 0 && self.passes(from_leaf, spine, to_leaf);
        if let Some(&pinned) = self.pins.get(flow)
            && self.passes(from_leaf, pinned, to_leaf)
        {
            return Some(pinned);
        }
        let flow_hash = self.hash(flow);
        (0..self.topology.spines).filter(usable).max_by_key(|&spine| {
            let weight = u64::from(self.link(from_leaf, spine).weight);
            (0..weight).map(|draw| mix(flow_hash ^ mix((spine as u64) << 8 | draw))).max()
        })
    }

    /// Sends `flow` over `spine` as long as that path is up, regardless of the hash.
    pub(crate) fn pin(&mut self, flow: FiveTuple, spine: usize) {
        self.pins.insert(flow, spine);
    }

    /// Removes the pin of `flow`, so that the hash applies again.
    pub(crate) fn unpin(&mut self, flow: &FiveTuple) {
        self.pins.remove(flow);
    }

    /// Takes the link between a leaf and a spine out of service, or restores it.
    pub(crate) fn set_up(&mut self, leaf: usize, spine: usize, up: bool) {
        self.link_mut(leaf, spine).up = up;
    }

    /// Sets the link's share of the leaf's traffic; 0 drains it.
    pub(crate) fn set_weight(&mut self, leaf: usize, spine: usize, weight: u8) {
        self.link_mut(leaf, spine).weight = weight.min(MAX_WEIGHT);
    }

    fn passes(&self, from_leaf: usize, spine: usize, to_leaf: usize) -> bool {
        self.link(from_leaf, spine).up && self.link(to_leaf, spine).up
    }

    fn link(&self, leaf: usize, spine: usize) -> FabricLink {
        self.links[leaf * self.topology.spines + spine]
    }

    fn link_mut(&mut self, leaf: usize, spine: usize) -> &mut FabricLink {
        &mut self.links[leaf * self.topology.spines + spine]
    }

    fn hash(&self, flow: &FiveTuple) -> u64 {
        let address = |address| ipv4(address).map_or(0, |ipv4| u64::from(u32::from(ipv4)));
        let ports = u64::from(flow.source_port) << 16 | u64::from(flow.destination_port);
        let addresses = address(flow.source) << 32 | address(flow.destination);
        mix(mix(addresses ^ self.seed) ^ (ports << 8 | u64::from(flow.protocol)))
    }
}

fn ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}
