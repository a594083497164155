//! The INT processing of a switch, between its queue and its link.

use inband_node::config::InterfaceConfig;
use inband_node::{DeviceMetadata, Node, NodeConfig, Passage, Verdict};
use inband_wire::Link;
use inband_wire::int::Queue;

use crate::egress_port::EgressPort;
use crate::packet::{Packet, TrueHop};
use crate::time::Nanos;
use crate::topology::Device;

/// A leaf or a spine.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) node_id: u32,
    pub(crate) mac: [u8; 6],
    pub(crate) ports: Vec<EgressPort>,
    /// Its INT node; `None`: no INT.
    pub(crate) node: Option<Node>,
}

impl Switch {
    /// Passes a packet that has left the queue of port `egress` and is about to be sent to the INT node.
    ///
    /// `clock_ns` is the clock of the switch at virtual time 0.
    pub(crate) fn pass(
        &mut self,
        now: Nanos,
        clock_ns: Nanos,
        egress: usize,
        packet: &mut Packet,
    ) -> Verdict {
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
        match &mut self.node {
            Some(node) => {
                packet.change(|frame| node.handle_frame(Link::Ethernet, frame, &hop.passage(clock_ns)))
            }
            None => Verdict::Forward,
        }
    }
}

impl TrueHop {
    /// The measurements of a perfect device for this hop.
    fn passage(&self, clock_ns: Nanos) -> Passage {
        let metadata = DeviceMetadata {
            ingress_timestamp: Some(clock_ns + self.ingress_timestamp_ns),
            egress_timestamp: Some(clock_ns + self.egress_timestamp_ns),
            hop_latency: u32::try_from(self.hop_latency_ns()).ok(),
            queue: Some(Queue { id: 0, occupancy: self.queue_occupancy_bytes }),
            buffer: None,
            egress_utilization: Some(self.egress_utilization),
            counters: None,
        };
        Passage { ingress: self.ingress_interface, egress: self.egress_interface, metadata }
    }
}

/// The configuration of a switch's node: `template` with its own id and interfaces.
///
/// Interfaces to hosts are edges. Links inside the fabric have room for INT in addition to a full packet.
pub(crate) fn node_config(template: &NodeConfig, node_id: u32, peers: &[Device]) -> NodeConfig {
    let mut config = template.clone();
    config.node.id = node_id;
    config.interfaces = peers
        .iter()
        .enumerate()
        .map(|(port, peer)| InterfaceConfig {
            edge: matches!(peer, Device::Host(_)),
            mtu: FABRIC_MTU_BYTES,
            ..InterfaceConfig::new(interface(port))
        })
        .collect();
    config
}

/// The level 1 interface identifier of a port: ports count from 0, interfaces from 1.
pub(crate) fn interface(port: usize) -> u16 {
    u16::try_from(port + 1).unwrap_or(u16::MAX)
}

/// Maximum IP packet size on links inside the fabric.
const FABRIC_MTU_BYTES: u32 = 9_000;
