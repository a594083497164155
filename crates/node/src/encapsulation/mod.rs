//! Insertion of INT by a source and removal by a sink, per encapsulation.
//!
//! One file per section of INT 2.1 "Header Location", each with both directions: `strip` restores bit for bit
//! what `start` changes. `dispatch` calls them, `carriage` holds their configuration.

mod carriage;
mod dispatch;
mod dscp;
pub(crate) mod earlier;
mod fields;
pub(crate) mod geneve;
mod gre;
mod place;
mod probe_marker;
mod span;
mod udp;
mod udp_port;
mod vxlan_gpe;

pub(crate) use carriage::Carriage;
pub(crate) use fields::{set_dscp, set_ip_length};
pub(crate) use place::{Insertion, Place, Stripping};
pub(crate) use span::IntSpan;
