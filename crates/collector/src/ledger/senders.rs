//! The nodes behind addresses, for reports that do not contain a node id.

use std::net::{IpAddr, SocketAddr};

use hashbrown::HashMap;
use inband_model::{Nanos, NodeId};

use crate::purge::Purge;

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
    nodes: HashMap<(IpAddr, u8, SocketAddr), Named>,
    capacity: usize,
    purge: Purge,
}

/// The node that is named in reports from an address.
///
/// One report with another id is no proof of another node, as anybody may send one; a node may also get
/// another id. Ids that are named in turn are several nodes.
#[derive(Debug)]
struct Named {
    node_id: NodeId,
    /// The id that was named last.
    latest: NodeId,
    seen_at: Nanos,
    /// How often another id than before was named, and the last time.
    turns: u32,
    turned_at: Nanos,
}

impl Senders {
    /// Remembers at most `capacity` addresses.
    pub(crate) fn new(capacity: usize) -> Senders {
        Senders { nodes: HashMap::new(), capacity, purge: Purge::default() }
    }

    /// The node id that `sender` contains, else the only one seen from its address lately.
    pub(crate) fn node_of(&mut self, now: Nanos, sender: Sender, session: SocketAddr) -> Option<NodeId> {
        let place = (sender.address, sender.hw_id, session);
        let Some(node_id) = sender.node_id else {
            return self.nodes.get(&place).and_then(|named| named.only(now));
        };
        if let Some(named) = self.nodes.get_mut(&place) {
            named.take(now, node_id);
        } else if self.has_room(now) {
            self.nodes.insert(place, Named::new(now, node_id));
        }
        Some(node_id)
    }

    /// Whether another address can be remembered, if need be in place of silent ones.
    fn has_room(&mut self, now: Nanos) -> bool {
        if self.nodes.len() >= self.capacity && self.purge.begins(now) {
            self.nodes.retain(|_, named| now.since(named.seen_at) < FORGET_AFTER);
        }
        self.nodes.len() < self.capacity
    }
}

impl Named {
    fn new(now: Nanos, node_id: NodeId) -> Self {
        Self { node_id, latest: node_id, seen_at: now, turns: 0, turned_at: now }
    }

    fn take(&mut self, now: Nanos, node_id: NodeId) {
        self.seen_at = now;
        if node_id == self.latest {
            self.node_id = node_id;
            return;
        }
        let is_recent = now.since(self.turned_at) < FORGET_AFTER;
        self.turns = if is_recent { self.turns.saturating_add(1) } else { 1 };
        (self.latest, self.turned_at) = (node_id, now);
    }

    /// The only node that is named, unless several were lately.
    fn only(&self, now: Nanos) -> Option<NodeId> {
        let is_shared = self.turns >= SHARED_FROM && now.since(self.turned_at) < FORGET_AFTER;
        (!is_shared).then_some(self.node_id)
    }
}

/// How long turns and silent addresses are remembered.
const FORGET_AFTER: Nanos = Nanos::from_secs(300);
/// Turns that show several nodes: there, back and there again.
const SHARED_FROM: u32 = 3;

#[cfg(test)]
mod tests;
