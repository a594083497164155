//! Forwarding by a table in the configuration, without changes to frames.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use inband_node::NodeConfig;

use super::decision::{Arrival, Decision, flow_hash};
use super::prefixes::Prefixes;
use crate::counts::Cause;

/// Where frames leave, by destination.
#[derive(Debug)]
pub(crate) struct Statics {
    /// Ports to choose from, by destination.
    table: Prefixes<Vec<usize>>,
    seed: u32,
}

impl Statics {
    pub(super) fn new(config: &NodeConfig) -> Self {
        let mut table: Prefixes<Vec<usize>> = Prefixes::default();
        let port = |id: &u16| config.interfaces.iter().position(|interface| interface.id == *id);
        for entry in &config.statics {
            let ports = entry.interfaces.iter().filter_map(port);
            table.entry(entry.destination.address(), entry.destination.length()).extend(ports);
        }
        Self { table, seed: config.node.id }
    }

    pub(super) fn decide(&self, arrival: &Arrival<'_>) -> Decision {
        let Some(destination) = destination(arrival) else {
            return Decision::Drop(Cause::NotForwarded, None);
        };
        let ports = self.table.get(destination).map(Vec::as_slice).unwrap_or_default();
        let hash = arrival.layers.map_or(0, |layers| flow_hash(arrival.frame, layers, self.seed));
        let chosen = usize::try_from(hash).unwrap_or_default().checked_rem(ports.len());
        match chosen.and_then(|at| ports.get(at)) {
            None => Decision::Drop(Cause::NoRoute, None),
            Some(port) if *port == arrival.ingress => Decision::Drop(Cause::SameInterface, None),
            Some(port) => Decision::Port { port: *port, rewrite: None },
        }
    }
}

/// The destination of a frame; for ARP and neighbor solicitations the requested address.
fn destination(arrival: &Arrival<'_>) -> Option<IpAddr> {
    let frame = arrival.frame;
    let Some(layers) = arrival.layers else {
        let target = frame.get(38..42).filter(|_| frame.get(12..14) == Some(&[0x08, 0x06]))?;
        return Some(Ipv4Addr::from(*target.first_chunk::<4>()?).into());
    };
    let (_, destination) = layers.addresses(frame);
    let is_solicitation = layers.protocol == ICMPV6 && frame.get(layers.l4) == Some(&NEIGHBOR_SOLICITATION);
    if is_solicitation && destination.is_multicast() {
        let target = frame.get(layers.l4 + 8..)?.first_chunk::<16>()?;
        return Some(Ipv6Addr::from(*target).into());
    }
    Some(destination)
}

const ICMPV6: u8 = 58;
const NEIGHBOR_SOLICITATION: u8 = 135;
