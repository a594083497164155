//! Strategies for arbitrary packets, INT headers and reports.
//!
//! The distributions favor what code gets wrong: empty and odd payloads, fields full of zeros and ones,
//! headers that are barely complete.

mod bytes;
mod packets;

pub use bytes::{Mutation, mutation, payload};
pub use packets::{ARBITRARY_PORTS, int_packet, ip_packet, nested_packet, report_datagram};

use proptest::prelude::*;

use crate::path::{DomainPlan, NodePlan};

/// Any choices of a domain, of every version.
pub fn domain_plan() -> impl Strategy<Value = DomainPlan> {
    any::<[u8; DomainPlan::BYTES]>().prop_map(DomainPlan)
}

/// Any choices of a domain of 2.1.
pub fn domain_plan_2_1() -> impl Strategy<Value = DomainPlan> {
    domain_plan().prop_map(|DomainPlan(mut choices)| {
        choices[1] %= 200;
        DomainPlan(choices)
    })
}

/// Any choices of a domain of a version before 2.0.
pub fn domain_plan_before_2() -> impl Strategy<Value = DomainPlan> {
    (any::<[u8; DomainPlan::BYTES]>(), 200..=255_u8).prop_map(|(mut choices, version)| {
        choices[1] = version;
        DomainPlan(choices)
    })
}

/// Any choices of a node; most have all metadata and a large MTU.
pub fn node_plan() -> impl Strategy<Value = NodePlan> {
    let mtu = prop_oneof![3 => Just([0, 0]), 1 => any::<[u8; 2]>()];
    let missing = prop_oneof![2 => Just(0), 1 => any::<u8>()];
    (any::<u8>(), missing, mtu)
        .prop_map(|(choices, missing, [high, low])| NodePlan([choices, missing, high, low]))
}
