//! Leases: INT is sent only where the destination's own sink has removed it from a probe.
//!
//! A source *probes* a flow: a packet on the flow's own addresses and ports, with the mark, header and length
//! that its packets will have. The agent of a sink that removed INT from it, and then saw a packet of the
//! flow itself, *grants* a lease. The source probes again while there is traffic. A sink that ends
//! *withdraws* its leases and waits until that is acknowledged or they expire. This module opens no socket
//! and reads no clock.

mod asker;
mod bucket;
mod clock;
mod flow;
mod granter;
mod losses;
mod message;
mod state;

use inband_node::NodeConfig;
use inband_node::config::TcpOptionsConfig;

pub use asker::Withheld;
pub(crate) use asker::{Asker, Change, Limits, MAX_LEASE_MS, Probe, Unproven};
pub(crate) use clock::PeerClock;
pub(crate) use flow::Flow;
pub(crate) use granter::{Answer, Granter};
pub(crate) use losses::PathLosses;
pub(crate) use message::{Arrived, Body, Keys, MAX_LENGTH, MESSAGE_BYTES, Message, Stamp};
pub use state::FlowState;

/// A number equal on hosts that understand each other's INT: FNV-1a over what a sink has to know.
pub(crate) fn dialect(node: &NodeConfig) -> u64 {
    let encapsulation = &node.encapsulation;
    let mark = encapsulation.mark();
    let text = format!(
        "{} {} {} {} {} {}",
        node.int_version().wire().name(),
        encapsulation.kind().name(),
        mark.value & mark.mask,
        mark.mask,
        encapsulation.udp_port(),
        encapsulation.tcp_options == TcpOptionsConfig::Before,
    );
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
