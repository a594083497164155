//! Which packets, INT headers and reports may a property be tried on?
//!
//! The distributions favour what code gets wrong: empty and odd payloads, fields full of zeros and ones, headers
//! that are barely there.

mod bytes;
mod packets;

pub use bytes::{Mutation, mutation, payload};
pub use packets::{ARBITRARY_PORTS, int_packet, ip_packet, report_datagram};

use proptest::prelude::*;

use crate::path::{DomainPlan, NodePlan};

/// Any choices of a domain.
pub fn domain_plan() -> impl Strategy<Value = DomainPlan> {
    any::<[u8; DomainPlan::BYTES]>().prop_map(DomainPlan)
}

/// Any choices of a node; most have all metadata and a large MTU.
pub fn node_plan() -> impl Strategy<Value = NodePlan> {
    let mtu = prop_oneof![3 => Just([0, 0]), 1 => any::<[u8; 2]>()];
    let missing = prop_oneof![2 => Just(0), 1 => any::<u8>()];
    (any::<u8>(), missing, mtu)
        .prop_map(|(choices, missing, [high, low])| NodePlan([choices, missing, high, low]))
}
