//! Tunnels: the packet that each carries, and the innermost one.

use crate::error::Header;
use crate::layers::{Fragment, Layers, Link, Strictness, Transport};
use crate::udp::{self, UdpHeader};
use crate::view::view;
use crate::vxlan::{self, VxlanHeader};
use crate::{ethernet, geneve, gre, gtpu, ipv4, mpls};

/// Maximum number of nested IP headers followed.
pub const MAX_LEVELS: usize = 4;

/// A packet inside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The packet's first header.
    pub link: Link,
    /// Offset of its first byte.
    pub at: usize,
    /// The network identifier of VXLAN or Geneve around it, 24 bits.
    pub vni: Option<u32>,
    /// Whether the tunnel is GTP-U.
    pub in_gtpu: bool,
}

impl Carried {
    const fn new(link: Link, at: usize) -> Self {
        Self { link, at, vni: None, in_gtpu: false }
    }

    const fn in_network(self, vni: u32) -> Self {
        Self { vni: Some(vni), ..self }
    }
}

/// The innermost IP packet of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Innermost {
    /// Its headers.
    pub layers: Layers,
    /// The network identifier of the innermost VXLAN or Geneve around it.
    pub vni: Option<u32>,
    /// Whether one of the tunnels around it is GTP-U.
    pub in_gtpu: bool,
}

/// Follows the tunnels from the packet with `layers` inwards: GTP-U, VXLAN, Geneve, GRE, IP in IP, and MPLS
/// inside of those.
///
/// The walk ends at a tunnel that cannot be read; the packet around it is then the innermost one. At most
/// [`MAX_LEVELS`] packets are examined.
#[inline]
#[must_use]
pub fn innermost(bytes: &[u8], layers: &Layers) -> Innermost {
    let outer = Innermost { layers: *layers, vni: None, in_gtpu: false };
    match carried(bytes, layers) {
        None => outer,
        Some(first) => follow(bytes, first).unwrap_or(outer),
    }
}

/// The innermost packet after the MPLS labels of an Ethernet frame; `None` without labels or when no IP
/// packet follows them.
#[must_use]
pub fn behind_labels(bytes: &[u8]) -> Option<Innermost> {
    let carried = labelled(bytes, 0)?;
    let layers = Layers::parse_at(carried.link, bytes, carried.at, Strictness::Truncated).ok()??;
    Some(innermost(bytes, &layers))
}

/// What follows the MPLS labels of the Ethernet frame at byte `at`.
#[must_use]
pub fn labelled(bytes: &[u8], at: usize) -> Option<Carried> {
    let payload = ethernet::payload(bytes, at).ok()?;
    if mpls::is_mpls(payload.ethertype) { of_ethertype(bytes, payload.ethertype, payload.at) } else { None }
}

/// Like [`innermost`], starting from a carried packet; `None` when it cannot be read.
#[must_use]
pub fn follow(bytes: &[u8], first: Carried) -> Option<Innermost> {
    let (mut found, mut bytes, mut next) = (None, bytes, Some(first));
    let (mut vni, mut in_gtpu) = (None, false);
    for _ in 1..MAX_LEVELS {
        let Some(carried) = next else { break };
        let parsed = Layers::parse_at(carried.link, bytes, carried.at, Strictness::Truncated);
        let Ok(Some(layers)) = parsed else { break };
        (vni, in_gtpu) = (carried.vni.or(vni), carried.in_gtpu || in_gtpu);
        found = Some(Innermost { layers, vni, in_gtpu });
        // Bytes after the packet's own end are padding.
        bytes = bytes.get(..layers.end).unwrap_or(bytes);
        next = self::carried(bytes, &layers);
    }
    found
}

/// The packet that the one with `layers` carries, if it is a tunnel.
#[inline]
#[must_use]
pub fn carried(bytes: &[u8], layers: &Layers) -> Option<Carried> {
    if layers.fragment == Fragment::Later {
        return None;
    }
    in_transport(bytes, layers.protocol, layers.l4, layers.transport)
}

/// The packet after the transport header of `protocol` at byte `l4`.
#[inline]
#[must_use]
pub fn in_transport(bytes: &[u8], protocol: u8, l4: usize, transport: Transport) -> Option<Carried> {
    match (transport, protocol) {
        (Transport::Udp, _) => {
            let header: &UdpHeader = view(bytes, l4, Header::Udp).ok()?;
            in_udp(bytes, header.destination_port.get(), l4 + udp::HEADER_BYTES)
        }
        (Transport::Other, gre::PROTOCOL) => {
            let (header, payload) = gre::payload(bytes, l4).ok()?;
            of_ethertype(bytes, header.protocol.get(), payload)
        }
        (Transport::Other, ipv4::IN_IP | ipv4::IPV6_IN_IP) => Some(Carried::new(Link::Ip, l4)),
        _ => None,
    }
}

/// What a UDP payload at byte `at` carries, judged by the destination port.
#[inline]
#[must_use]
pub fn in_udp(bytes: &[u8], port: u16, at: usize) -> Option<Carried> {
    match port {
        vxlan::PORT | vxlan::LINUX_PORT => {
            let header: &VxlanHeader = view(bytes, at, Header::Vxlan).ok()?;
            Some(Carried::new(Link::Ethernet, at + vxlan::HEADER_BYTES).in_network(header.vni()))
        }
        vxlan::GPE_PORT => {
            let header: &VxlanHeader = view(bytes, at, Header::Vxlan).ok()?;
            let carried = of_next_protocol(header.next_protocol()?, at + vxlan::HEADER_BYTES)?;
            Some(carried.in_network(header.vni()))
        }
        geneve::PORT => {
            let (header, _, payload) = geneve::parse(bytes, at).ok()?;
            let carried = of_ethertype(bytes, header.protocol.get(), payload)?;
            Some(carried.in_network(header.vni()))
        }
        gtpu::PORT => {
            let (_, payload) = gtpu::payload(bytes, at).ok()?;
            payload.map(|at| Carried { in_gtpu: true, ..Carried::new(Link::Ip, at) })
        }
        _ => None,
    }
}

/// What an EtherType announces at byte `at`: an IP packet, an Ethernet frame, or one of them after labels.
#[must_use]
pub fn of_ethertype(bytes: &[u8], ethertype: u16, at: usize) -> Option<Carried> {
    match ethertype {
        ethernet::IPV4 | ethernet::IPV6 => Some(Carried::new(Link::Ip, at)),
        ethernet::BRIDGED_ETHERNET => Some(Carried::new(Link::Ethernet, at)),
        // RFC 4928: a payload other than IP does not start with 4 or 6, so reading on decides.
        mpls::UNICAST | mpls::MULTICAST => Some(Carried::new(Link::Ip, mpls::payload(bytes, at).ok()?)),
        _ => None,
    }
}

/// What a Next Protocol of VXLAN-GPE announces at byte `at`.
#[must_use]
pub const fn of_next_protocol(next_protocol: u8, at: usize) -> Option<Carried> {
    match next_protocol {
        vxlan::NEXT_IPV4 | vxlan::NEXT_IPV6 => Some(Carried::new(Link::Ip, at)),
        vxlan::NEXT_ETHERNET => Some(Carried::new(Link::Ethernet, at)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
