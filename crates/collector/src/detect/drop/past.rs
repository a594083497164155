//! Check whether packets of a flow get past a node.

use inband_model::{Nanos, NodeId, Origin};

use crate::network::Network;

use super::suspects::Suspect;

/// What the reports on a flow show of its packets behind a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Some got past the node.
    Past,
    /// None has been reported.
    Gone,
    /// The flow was not followed all the time.
    Unknown,
}

/// Whether any packet of a flow has been reported past a node since a time.
pub(super) fn fate(network: &Network, node_id: NodeId, since: Nanos, suspect: &Suspect) -> Fate {
    let Some(index) = network.flows.find(&suspect.flow) else { return Fate::Unknown };
    let entry = &network.flows[index];
    let is_since = |at: Nanos| at > since;
    if entry.origin == Origin::MdStack && entry.path_is_whole && is_since(entry.path_seen_at) {
        return Fate::Past;
    }
    let hops = network.hops(entry);
    let place = |node_id| hops.iter().position(|hop| hop.node_id == node_id);
    let node = place(node_id);
    let is_past = entry.postcards.cards().any(|card| {
        let is_behind = match (card.ttl, suspect.ttl) {
            (Some(ttl), Some(at_node)) if ttl != at_node => ttl < at_node,
            _ => node.zip(place(card.hop.node_id)).is_some_and(|(node, other)| node < other),
        };
        card.hop.node_id != node_id && is_behind && is_since(card.received_at)
    });
    if is_past {
        return Fate::Past;
    }
    // A flow that was evicted after the drop, with what it had shown, is followed anew.
    let is_anew = entry.first_seen > suspect.first.received_at;
    if is_anew { Fate::Unknown } else { Fate::Gone }
}
