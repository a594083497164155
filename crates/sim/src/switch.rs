//! What a switch does with a packet between its queue and its link.

use crate::egress_port::EgressPort;
use crate::packet::{Packet, TrueHop};
use crate::time::Nanos;

/// A leaf or a spine.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) node_id: u32,
    pub(crate) mac: [u8; 6],
    pub(crate) ports: Vec<EgressPort>,
}

impl Switch {
    /// Notes the hop of a packet that has left the queue of port `egress` and is about to be sent.
    pub(crate) fn pass(&mut self, now: Nanos, egress: usize, packet: &mut Packet) {
        let hop = TrueHop {
            node_id: self.node_id,
            ingress_interface: interface(packet.ingress_port),
            egress_interface: interface(egress),
            ingress_timestamp_ns: packet.arrived_at,
            egress_timestamp_ns: now,
            queue_occupancy_bytes: u32::try_from(packet.occupancy_bytes).unwrap_or(u32::MAX),
            egress_utilization: self.ports[egress].utilization.hundredths_of_percent(now),
        };
        packet.path.push(hop);
    }
}

/// The level 1 interface identifier of a port: ports count from 0, interfaces from 1.
pub(crate) fn interface(port: usize) -> u16 {
    u16::try_from(port + 1).unwrap_or(u16::MAX)
}
