//! The configured links, as opposed to those learned from paths.

use hashbrown::{HashMap, HashSet};
use inband_model::{GivenLink, Hop, NodeId};

/// The other ends of the interfaces of the nodes in a configured topology.
#[derive(Debug, Default)]
pub(crate) struct Topology {
    peers: HashMap<(NodeId, u16), NodeId>,
    nodes: HashSet<NodeId>,
}

impl Topology {
    pub(crate) fn new(links: &[GivenLink]) -> Self {
        let mut topology = Self::default();
        for link in links {
            let (node, to) = (NodeId(link.node), NodeId(link.to));
            topology.peers.insert((node, link.interface), to);
            if let Some(interface) = link.to_interface {
                topology.peers.insert((to, interface), node);
            }
            topology.nodes.extend([node, to]);
        }
        topology
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Whether packets go straight from one hop to the other; `None` where no link of either interface is
    /// configured.
    pub(crate) fn connects(&self, from: &Hop, to: &Hop) -> Option<bool> {
        let ahead = self.peer(from.node_id, from.egress_interface).map(|peer| peer == to.node_id);
        let behind = self.peer(to.node_id, to.ingress_interface).map(|peer| peer == from.node_id);
        match (ahead, behind) {
            (None, None) => None,
            (ahead, behind) => Some(ahead.unwrap_or(true) && behind.unwrap_or(true)),
        }
    }

    /// Whether there is a node before the first of these hops or after the last one; `None` where one of them
    /// is not in the topology.
    pub(crate) fn goes_on(&self, first: &Hop, last: &Hop) -> Option<bool> {
        let is_known = self.nodes.contains(&first.node_id) && self.nodes.contains(&last.node_id);
        let goes_on = self.peer(first.node_id, first.ingress_interface).is_some()
            || self.peer(last.node_id, last.egress_interface).is_some();
        (is_known && first.ingress_interface.is_some() && last.egress_interface.is_some()).then_some(goes_on)
    }

    /// The node at the other end of an interface.
    pub(crate) fn peer(&self, node_id: NodeId, interface: Option<u16>) -> Option<NodeId> {
        self.peers.get(&(node_id, interface?)).copied()
    }
}
