//! Check whether packets of a flow get past a node.

use inband_model::{Nanos, NodeId, Origin};

use crate::network::Network;

use super::group::Victim;

/// Whether any packet of a flow has been reported past a node since a time.
pub(super) fn gets_past(network: &Network, node_id: NodeId, since: Nanos, victim: &Victim) -> bool {
    let Some(index) = network.flows.find(&victim.flow) else { return false };
    let entry = &network.flows[index];
    let is_since = |at: Nanos| at > since;
    if entry.origin == Origin::MdStack && entry.path_is_whole && is_since(entry.path_seen_at) {
        return true;
    }
    let hops = network.hops(entry);
    let place = |node_id| hops.iter().position(|hop| hop.node_id == node_id);
    let node = place(node_id);
    entry.postcards.cards().any(|card| {
        let is_behind = match (card.ttl, victim.ttl) {
            (Some(ttl), Some(at_node)) if ttl != at_node => ttl < at_node,
            _ => node.zip(place(card.hop.node_id)).is_some_and(|(node, other)| node < other),
        };
        card.hop.node_id != node_id && is_behind && is_since(card.received_at)
    })
}
