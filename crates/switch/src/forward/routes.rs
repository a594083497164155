//! A router that follows the kernel's routes and neighbours.

use std::net::IpAddr;
use std::sync::Arc;

use inband_linux::device::Device;
use inband_linux::route::{NextHop, RouteKind};
use inband_wire::Layers;
use inband_wire::checksum::Sum;
use inband_wire::layers::IpVersion;

use super::decision::{Arrival, Decision, Rewrite, flow_hash};
use super::icmp::Message;
use super::recent::Recent;
use crate::counts::Cause;
use crate::follow::Tables;

/// A router.
#[derive(Debug)]
pub(crate) struct Routes {
    /// Interface index and Ethernet address of each port.
    ports: Vec<(u32, [u8; 6])>,
    seed: u32,
    tables: Arc<Tables>,
    recent: Recent,
}

impl Routes {
    pub(super) fn new(seed: u32, devices: &[Device]) -> Self {
        Self {
            ports: devices.iter().map(addresses).collect(),
            seed,
            tables: Arc::default(),
            recent: Recent::default(),
        }
    }

    /// Forwards to another device in place of that of a port.
    pub(super) fn set_device(&mut self, port: usize, device: &Device) {
        if let Some(port) = self.ports.get_mut(port) {
            *port = addresses(device);
        }
        self.recent.forget();
    }

    pub(super) fn adopt(&mut self, tables: &Arc<Tables>) {
        self.tables = Arc::clone(tables);
        self.recent.forget();
    }

    pub(super) fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        let (Some(own), Some(to)) = (self.ports.get(arrival.ingress), arrival.frame.first_chunk::<6>())
        else {
            return Decision::Drop(Cause::Malformed, None);
        };
        let is_group = to.first().is_some_and(|first| first & 1 != 0);
        if *to != own.1 && !is_group {
            return Decision::Drop(Cause::NotForwarded, None);
        }
        // The routes are not of a VLAN. Its packets are for the kernel, which may have a device for it.
        if is_of_vlan(arrival.frame) {
            return Decision::Host;
        }
        // ARP and everything else that is not IP is for the kernel.
        let Some(layers) = arrival.layers else { return Decision::Host };
        let (source, destination) = layers.addresses(arrival.frame);
        let recent = self.recent.get(destination);
        if recent.is_none() && self.is_hosts(destination) {
            return Decision::Host;
        }
        // RFC 1812, 5.2.2.
        if is_damaged(arrival.frame, layers) {
            return Decision::Drop(Cause::Malformed, None);
        }
        // A cached destination does not stay on its link. RFC 1812, 5.3.7: no group is a source.
        if is_group
            || source.is_multicast()
            || stays_on_link(source)
            || (recent.is_none() && stays_on_link(destination))
        {
            return Decision::Drop(Cause::NotForwarded, None);
        }
        if time_to_live(arrival.frame, layers) <= 1 {
            return Decision::Drop(Cause::TtlExceeded, Some(Message::TimeExceeded));
        }
        if let Some((port, rewrite)) = recent {
            return Decision::Port { port, rewrite: Some(rewrite) };
        }
        let decision = self.route(arrival, layers, destination);
        if let Decision::Port { port, rewrite: Some(rewrite) } = decision
            && self.tables.route(destination).is_some_and(|route| route.hops.len() == 1)
        {
            self.recent.put(destination, port, rewrite);
        }
        decision
    }

    /// Whether packets to an address are for the host itself.
    fn is_hosts(&self, destination: IpAddr) -> bool {
        destination.is_multicast() || is_ipv6_link_local(destination) || self.tables.is_own(destination)
    }

    fn route(&self, arrival: &Arrival<'_>, layers: &Layers, destination: IpAddr) -> Decision {
        let Some(route) = self.tables.route(destination) else {
            return Decision::Drop(Cause::NoRoute, Some(Message::NoRoute));
        };
        match route.kind {
            RouteKind::Unicast => {}
            RouteKind::Unreachable => {
                return Decision::Drop(Cause::RouteUnreachable, Some(Message::HostUnreachable));
            }
            RouteKind::Prohibit => {
                return Decision::Drop(Cause::RouteProhibit, Some(Message::Prohibited));
            }
            _ => return Decision::Drop(Cause::RouteBlackhole, None),
        }
        let Some((hop, port)) = self.choose(&route.hops, || flow_hash(arrival.frame, layers, self.seed))
        else {
            return Decision::Drop(Cause::NoRoute, Some(Message::NoRoute));
        };
        let next = (hop.device, hop.gateway.unwrap_or(destination));
        match (self.tables.neighbour(next), self.ports.get(port)) {
            (Some(address), Some((_, own))) => {
                Decision::Port { port, rewrite: Some(Rewrite { destination: address, source: *own }) }
            }
            _ => Decision::Wait(next),
        }
    }

    /// One of the hops by active ports of this switch, chosen by weight.
    fn choose(&self, hops: &[NextHop], hash: impl FnOnce() -> u32) -> Option<(NextHop, usize)> {
        let port = |hop: &NextHop| self.ports.iter().position(|(device, _)| *device == hop.device);
        let usable = |hop: &&NextHop| !hop.is_down && self.tables.is_up(hop.device) && port(hop).is_some();
        let weight = |hop: &NextHop| u64::from(hop.weight.max(1));
        let total: u64 = hops.iter().filter(usable).map(weight).sum();
        if let [hop] = hops {
            return usable(&hop).then(|| port(hop).map(|port| (*hop, port))).flatten();
        }
        if total == 0 {
            return None;
        }
        let mut point = (u64::from(hash()) * total) >> 32;
        for hop in hops.iter().filter(usable) {
            match point.checked_sub(weight(hop)) {
                Some(left) => point = left,
                None => return port(hop).map(|port| (*hop, port)),
            }
        }
        None
    }
}

/// Interface index and Ethernet address.
fn addresses(device: &Device) -> (u32, [u8; 6]) {
    (device.index, device.address.as_slice().try_into().unwrap_or_default())
}

/// Whether the length of an IP packet exceeds its frame, or the checksum of its IPv4 header is wrong.
fn is_damaged(frame: &[u8], layers: &Layers) -> bool {
    let is_correct = || frame.get(layers.l3..layers.l4).is_some_and(|header| Sum::of(header).checksum() == 0);
    layers.end > frame.len() || (layers.ip == IpVersion::V4 && !is_correct())
}

/// Whether an address is IPv6 link-local. Routers do not forward to it, and the kernel has such addresses
/// before it announces them: a neighbour's answer may arrive in between.
fn is_ipv6_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// Whether packets from or to an address stay on their link.
fn stays_on_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_unspecified()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_broadcast()
        }
        IpAddr::V6(address) => {
            address.is_unspecified() || address.is_loopback() || address.is_unicast_link_local()
        }
    }
}

/// Whether a frame has the tag of a VLAN; VLAN 0 is none.
fn is_of_vlan(frame: &[u8]) -> bool {
    let half = |at: usize| {
        frame.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |half| u16::from_be_bytes(*half))
    };
    matches!(half(12), 0x8100 | 0x88a8) && half(14) & 0x0fff != 0
}

fn time_to_live(frame: &[u8], layers: &Layers) -> u8 {
    let at = match layers.ip {
        IpVersion::V4 => 8,
        IpVersion::V6 => 7,
    };
    frame.get(layers.l3 + at).copied().unwrap_or(0)
}
