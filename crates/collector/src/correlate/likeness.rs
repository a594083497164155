//! Comparison of hops of which a report leaves out fields.

use inband_model::{Hop, NodeId};

/// Whether two lists may be of the same hops: no field that both know differs.
pub(super) fn may_be(one: &[Hop], other: &[Hop]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| may_be_hop(one, other))
}

/// Whether the last hops of a path may be these.
pub(super) fn may_end(part: &[Hop], path: &[Hop]) -> bool {
    path.len().checked_sub(part.len()).is_some_and(|first| may_be(part, &path[first..]))
}

/// Fills the unknown fields of a hop with those of another report on it.
pub(super) fn fill(hop: &mut Hop, known: &Hop) {
    if hop.node_id == NodeId::NOT_AVAILABLE {
        hop.node_id = known.node_id;
    }
    hop.ingress_interface = hop.ingress_interface.or(known.ingress_interface);
    hop.egress_interface = hop.egress_interface.or(known.egress_interface);
}

fn may_be_hop(one: &Hop, other: &Hop) -> bool {
    let is_same = |one: Option<u16>, other: Option<u16>| one.is_none() || other.is_none() || one == other;
    (one.node_id == other.node_id || [one.node_id, other.node_id].contains(&NodeId::NOT_AVAILABLE))
        && is_same(one.ingress_interface, other.ingress_interface)
        && is_same(one.egress_interface, other.egress_interface)
}
