//! Dropped packets and their counts, as the program reports them.

use std::net::{IpAddr, Ipv6Addr};

use inband_wire::FiveTuple;

use super::abi;
use super::causes::Hints;
use super::namespace::Namespace;

/// A packet that the kernel dropped: the first of its flow, reason and device in a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedPacket {
    /// When, nanoseconds of the agent's clock.
    pub time: u64,
    /// The kernel's name of the reason, such as `NO_SOCKET`.
    pub reason: String,
    /// The code of the reason in reports.
    pub code: u8,
    /// The network namespace that dropped it.
    pub namespace: Namespace,
    /// Interface index in `namespace` of the device it was at; 0: none.
    pub device: u32,
    /// The same of the device it came in by; 0: this host sent it.
    pub ingress_device: u32,
    /// Length of the IP packet, bytes.
    pub length: u32,
    /// Address in the kernel's code.
    pub location: u64,
    /// Its first bytes, from the IP header on.
    pub packet: Vec<u8>,
}

/// The number of packets of a flow that the kernel dropped at a device for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropCount {
    /// The flow, as it was before INT.
    pub flow: FiveTuple,
    /// The kernel's name of the reason, such as `NO_SOCKET`.
    pub reason: String,
    /// The code of the reason in reports.
    pub code: u8,
    /// The network namespace that dropped them.
    pub namespace: Namespace,
    /// Interface index in `namespace` of the device they were at; 0: none.
    pub device: u32,
    /// Packets, as the kernel counts them.
    pub packets: u64,
    /// Packets on a link: more than `packets` where the kernel holds several in one.
    pub segments: u64,
    /// Bytes of IP.
    pub bytes: u64,
    /// When the first was dropped, nanoseconds of the agent's clock.
    pub first: u64,
    /// When the last was dropped.
    pub last: u64,
}

impl abi::Key {
    pub(super) fn hints(&self) -> Hints {
        let is_ipv6 = address(&self.flow.destination).is_ipv6();
        Hints { ttl_used_up: self.ttl_used_up != 0, route_error: self.route_error, is_ipv6 }
    }
}

impl abi::Sample {
    pub(super) fn hints(&self) -> Hints {
        let is_ipv6 = self.bytes.first().is_some_and(|first| first >> 4 == 6);
        Hints { ttl_used_up: self.ttl_used_up != 0, route_error: self.route_error, is_ipv6 }
    }
}

/// The five-tuple that the program counted.
pub(super) fn five_tuple(flow: &abi::Flow) -> FiveTuple {
    FiveTuple {
        source: address(&flow.source),
        destination: address(&flow.destination),
        protocol: u8::try_from(flow.protocol).unwrap_or_default(),
        source_port: u16::from_be_bytes(flow.source_port),
        destination_port: u16::from_be_bytes(flow.destination_port),
    }
}

/// The address, which is IPv4 where it is mapped.
fn address(address: &abi::Address) -> IpAddr {
    Ipv6Addr::from(address.bytes).to_canonical()
}
