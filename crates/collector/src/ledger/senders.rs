//! The nodes behind addresses, for reports that do not contain a node id.

use std::net::{IpAddr, SocketAddr};

use hashbrown::HashMap;
use inband_model::NodeId;

/// The sender of a datagram, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender {
    /// The node id in the datagram.
    pub(crate) node_id: Option<NodeId>,
    /// The part of the node that numbers the reports.
    pub(crate) hw_id: u8,
    /// Where it comes from.
    pub(crate) address: IpAddr,
}

/// The nodes seen from each address.
///
/// A node that sends version 0.5 includes its id in some reports and not in others, and numbers all of them
/// together. They have to be in one stream, or the others would look lost to each kind.
#[derive(Debug)]
pub(crate) struct Senders {
    /// `None`: several nodes send from there.
    nodes: HashMap<(IpAddr, u8, SocketAddr), Option<NodeId>>,
    capacity: usize,
}

impl Senders {
    /// Remembers at most `capacity` addresses.
    pub(crate) fn new(capacity: usize) -> Senders {
        Senders { nodes: HashMap::new(), capacity }
    }

    /// The node id that `sender` contains, else the only one seen from its address.
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
