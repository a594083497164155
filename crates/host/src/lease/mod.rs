//! Who may be sent INT? Agents ask each other, and nobody gets INT who has not said that he takes it out.
//!
//! A source *asks* the destination of watched traffic, and gets a *lease*: a time until which the destination takes INT
//! out. It renews the lease while there is traffic. A sink that ends *withdraws* its leases and waits until that is
//! acknowledged or they are over. Nothing here opens a socket or reads a clock.

mod asker;
mod granter;
mod message;

use inband_node::NodeConfig;
use inband_node::config::TcpOptionsConfig;

pub(crate) use asker::{Asker, Change};
pub(crate) use granter::Granter;
pub(crate) use message::{Body, Key, MESSAGE_BYTES, Message};

/// A number that is the same on hosts that understand each other's INT: FNV-1a over what a sink has to know.
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
