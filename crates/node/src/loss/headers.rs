//! Headers that represent a flow in reports without a packet.

use std::net::IpAddr;

use zerocopy::IntoBytes;

use inband_wire::FiveTuple;
use inband_wire::ipv4::Ipv4Header;
use inband_wire::ipv6::Ipv6Header;
use inband_wire::report::InnerType;
use inband_wire::{tcp, udp};

/// An IP header and a TCP or UDP header of a packet of `flow` without payload; they hold the five-tuple,
/// lengths, and the checksum of IPv4.
pub(super) fn headers(flow: &FiveTuple) -> (InnerType, Vec<u8>) {
    let l4 = transport(flow);
    let length = u16::try_from(l4.len()).unwrap_or_default();
    match (flow.source, flow.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let header = Ipv4Header::new(source, destination, flow.protocol, IPV4_BYTES + length);
            (InnerType::Ipv4, [header.as_bytes(), &l4].concat())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let header = Ipv6Header::new(source, destination, flow.protocol, length);
            (InnerType::Ipv6, [header.as_bytes(), &l4].concat())
        }
        _ => (InnerType::None, Vec::new()),
    }
}

fn transport(flow: &FiveTuple) -> Vec<u8> {
    let ports = [flow.source_port.to_be_bytes(), flow.destination_port.to_be_bytes()].concat();
    let rest: &[u8] = match flow.protocol {
        tcp::PROTOCOL => &TCP_BEHIND_PORTS,
        udp::PROTOCOL => &UDP_BEHIND_PORTS,
        _ => return Vec::new(),
    };
    [&ports, rest].concat()
}

const IPV4_BYTES: u16 = 20;
/// Sequence and acknowledgment number, data offset 5, and zeros.
const TCP_BEHIND_PORTS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0];
/// Length 8, no checksum.
const UDP_BEHIND_PORTS: [u8; 4] = [0, 8, 0, 0];
