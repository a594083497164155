//! Probes: packets of a flow to which the engine adds INT, with D set.

use std::net::IpAddr;

use anyhow::{Error, anyhow};
use inband_model::Flow;
use inband_node::config::{EncapsulationConfig, EncapsulationKind};
use inband_node::frame::MAX_GROWTH;
use inband_node::{Frame, Node, NodeConfig, Passage};
use inband_wire::Link;
use inband_wire::checksum::{Sum, pseudo_header};

/// Builds probes.
pub(super) struct Prober {
    config: NodeConfig,
}

impl Prober {
    /// A builder of probes that carry INT in `encapsulation`.
    pub(super) fn new(encapsulation: Option<EncapsulationConfig>, remaining_hops: u8) -> Result<Self, Error> {
        let mut config: NodeConfig = toml::from_str(SOURCE).map_err(|error| anyhow!("{error}"))?;
        config.encapsulation = encapsulation.unwrap_or_default();
        if config.encapsulation.kind() == EncapsulationKind::Gre {
            return Err(anyhow!("encapsulation.kind = \"gre\": probes would go to the end of the tunnel"));
        }
        config.source.remaining_hops = remaining_hops;
        Node::new(&config).map_err(|error| anyhow!("{}: {error}", error.key()))?;
        Ok(Self { config })
    }

    /// An IP packet of a flow with INT and a TTL.
    pub(super) fn packet(&self, flow: Flow, ttl: u8, number: u16) -> Result<Vec<u8>, Error> {
        let plain = plain(flow, ttl, number);
        let mut buffer = vec![0; MAX_GROWTH];
        buffer.extend_from_slice(&[0; ETHERNET - 2]);
        buffer.extend_from_slice(if flow.source.is_ipv4() { &[0x08, 0x00] } else { &[0x86, 0xdd] });
        buffer.extend_from_slice(&plain);
        let mut node = Node::new(&self.config).map_err(|error| anyhow!("{}: {error}", error.key()))?;
        let mut frame = Frame::behind_headroom(&mut buffer).ok_or_else(|| anyhow!("no room for a probe"))?;
        // The length of the packet shows whether INT was added.
        let _ = node.handle_frame(
            Link::Ethernet,
            &mut frame,
            &Passage { ingress: 1, egress: 2, ..Passage::default() },
        );
        let packet = frame.bytes().get(ETHERNET..).unwrap_or_default().to_vec();
        if packet.len() == plain.len() {
            return Err(anyhow!("INT cannot be put into {flow} as [encapsulation] says"));
        }
        Ok(packet)
    }
}

/// A packet of a flow, without INT.
fn plain(flow: Flow, ttl: u8, number: u16) -> Vec<u8> {
    let mut segment = Vec::new();
    segment.extend_from_slice(&flow.source_port.to_be_bytes());
    segment.extend_from_slice(&flow.destination_port.to_be_bytes());
    let checksum_at = if flow.protocol == TCP {
        // An ACK of no connection: no listener takes it for a new one.
        segment.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0x04, 0x00, 0, 0, 0, 0]);
        16
    } else {
        let length = u16::try_from(UDP_HEADER + PAYLOAD.len() + 2).unwrap_or(0);
        segment.extend_from_slice(&length.to_be_bytes());
        segment.extend_from_slice(&[0, 0]);
        6
    };
    segment.extend_from_slice(PAYLOAD);
    segment.extend_from_slice(&number.to_be_bytes());
    let sum =
        pseudo_header(flow.source, flow.destination, flow.protocol, segment.len()).plus(Sum::of(&segment));
    let checksum = match sum.checksum() {
        0 if flow.protocol != TCP => 0xffff,
        checksum => checksum,
    };
    segment[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    let mut packet = match (flow.source, flow.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let length = u16::try_from(20 + segment.len()).unwrap_or(0).to_be_bytes();
            let id = number.to_be_bytes();
            // DF: a probe must not be fragmented.
            let mut ip = vec![0x45, 0, length[0], length[1], id[0], id[1], 0x40, 0, ttl, flow.protocol, 0, 0];
            ip.extend_from_slice(&source.octets());
            ip.extend_from_slice(&destination.octets());
            let checksum = Sum::of(&ip).checksum();
            ip[10..12].copy_from_slice(&checksum.to_be_bytes());
            ip
        }
        (source, destination) => {
            let length = u16::try_from(segment.len()).unwrap_or(0).to_be_bytes();
            // The flow label, which ECMP may hash, stays 0.
            let mut ip = vec![0x60, 0, 0, 0, length[0], length[1], flow.protocol, ttl];
            for address in [source, destination] {
                if let IpAddr::V6(address) = address {
                    ip.extend_from_slice(&address.octets());
                }
            }
            ip
        }
    };
    packet.append(&mut segment);
    packet
}

/// A source that adds the INT header without metadata of its own.
const SOURCE: &str = r#"
node.id = 1
watch = [{}]
interface = [{ id = 1, edge = true }, { id = 2, mtu = 9000 }]
[source]
instructions = ["node-id", "level1-interfaces", "hop-latency", "queue-occupancy", "ingress-timestamp", "egress-timestamp", "egress-utilization"]
own_metadata = false
discard = true
"#;
const PAYLOAD: &[u8] = b"inband trace";
const ETHERNET: usize = 14;
const UDP_HEADER: usize = 8;
const TCP: u8 = 6;

#[cfg(test)]
mod tests {
    use inband_node::config::EncapsulationConfig;
    use inband_wire::Link;

    use super::super::stack;
    use super::Prober;
    use crate::trace::tuple;

    #[test]
    fn a_probe_carries_int_with_d_and_no_hop() {
        carries_int(None);
    }

    #[test]
    fn a_probe_of_a_domain_with_its_own_mark_is_read_as_one() {
        for text in ["dscp = 5", "kind = \"udp-port\"\nudp_port = 4000", "kind = \"udp\"\nudp_port = 4000"] {
            carries_int(Some(toml::from_str(text).unwrap()));
        }
    }

    #[test]
    fn probes_that_would_go_elsewhere_are_refused() {
        let gre = toml::from_str("kind = \"gre\"").unwrap();

        let refused = Prober::new(Some(gre), 5).err().unwrap();

        assert!(refused.to_string().contains("the end of the tunnel"), "{refused}");
    }

    fn carries_int(encapsulation: Option<EncapsulationConfig>) {
        let prober = Prober::new(encapsulation.clone(), 5).unwrap();
        let mut probes = 0;
        for text in [
            "udp 10.0.1.1:40000 > 10.0.2.1:80",
            "tcp 10.0.1.1:1 > 10.0.2.1:80",
            "udp [fd00::1]:1 > [fd00::2]:2",
        ] {
            let flow = tuple::parse(text).unwrap();
            // INT in place of a UDP port is for UDP only.
            let Ok(packet) = prober.packet(flow, 3, 7) else { continue };
            let read = stack::read(Link::Ip, &packet, encapsulation.as_ref()).unwrap();
            assert!(read.discard && read.hops.is_empty() && !read.max_hops_exceeded, "{text}");
            assert_eq!(read.flow, flow);
            probes += 1;
        }
        assert!(probes >= 2, "{encapsulation:?}");
    }
}
