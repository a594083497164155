//! How a source puts INT into a packet, and a sink takes it out, behind each encapsulation.
//!
//! One file per section of INT 2.1 "Header Location", each with both directions: what `start` changes,
//! `strip` restores bit for bit. `dispatch` calls them, `carriage` is what the configuration says of them.

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
