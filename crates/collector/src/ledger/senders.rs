//! Which node speaks from an address, where some of its reports do not say?

use std::net::{IpAddr, SocketAddr};

use hashbrown::HashMap;
use inband_model::NodeId;

/// Who sent a datagram, as far as it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender {
    /// The node the datagram names.
    pub(crate) node_id: Option<NodeId>,
    /// The part of the node that numbers the reports.
    pub(crate) hw_id: u8,
    /// Where it comes from.
    pub(crate) address: IpAddr,
}

/// The nodes that were named from each address.
///
/// A node that writes version 0.5 names itself in some reports and not in others, and numbers all of them together.
/// Each would look as if the others were lost, were they not put into one stream.
#[derive(Debug)]
pub(crate) struct Senders {
    /// `None`: several nodes speak from there.
    nodes: HashMap<(IpAddr, u8, SocketAddr), Option<NodeId>>,
    capacity: usize,
}

impl Senders {
    /// Remembers at most `capacity` addresses.
    pub(crate) fn new(capacity: usize) -> Senders {
        Senders { nodes: HashMap::new(), capacity }
    }

    /// The node that `sender` names, else the only one that was named from its address.
    pub(crate) fn node_of(&mut self, sender: Sender, session: SocketAddr) -> Option<NodeId> {
        let place = (sender.address, sender.hw_id, session);
        let Some(node_id) = sender.node_id else {
            return self.nodes.get(&place).copied().flatten();
        };
        let has_room = self.nodes.len() < self.capacity;
        match self.nodes.get_mut(&place) {
            Some(known) if *known != Some(node_id) => *known = None,
            None if has_room => {
                self.nodes.insert(place, Some(node_id));
            }
            Some(_) | None => {}
        }
        Some(node_id)
    }
}

#[cfg(test)]
mod tests;
