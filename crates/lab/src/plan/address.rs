//! Addresses of the interfaces.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::parts::{Address, Kind, Plan};
use crate::quantity::Network;
use crate::topology::{HostConfig, Mistake, Topology};

/// Gives hosts the addresses in the file, routers those of gateways, and links between routers addresses of
/// their own.
pub(super) fn assign(plan: &mut Plan, topology: &Topology) -> Result<(), Mistake> {
    let gateways = gateways(topology)?;
    let shared = shared(plan, topology);
    let first_host = topology.switches.len();
    let has_ipv6 = gateways.iter().flatten().any(|(network, _)| network.address.is_ipv6());
    for at in 0..plan.segments.len() {
        let members = plan.segments[at].members.clone();
        let (hosts, routers): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|(node, _)| plan.nodes[*node].kind == Kind::Host);
        for (host, interface) in &hosts {
            for (network, _) in &gateways[host - first_host] {
                // A network on several interfaces is reached only through its router.
                let on_link = routers.is_empty() || !shared.contains(&network.network());
                push(plan, *host, *interface, Address { network: *network, on_link });
            }
        }
        // The first of several routers on a segment is the hosts' gateway.
        for (router, interface) in routers.iter().take(1) {
            for (host, _) in &hosts {
                for (network, gateway) in &gateways[host - first_host] {
                    let is_shared = shared.contains(&network.network());
                    let length = if is_shared { Network::host(*gateway).length } else { network.length };
                    let network = Network { address: *gateway, length };
                    push(plan, *router, *interface, Address { network, on_link: true });
                }
            }
        }
        if routers.len() >= 2 {
            for (place, (router, interface)) in routers.iter().enumerate() {
                for network in between(at, place, routers.len(), has_ipv6) {
                    push(plan, *router, *interface, Address { network, on_link: true });
                }
            }
        }
    }
    Ok(())
}

fn push(plan: &mut Plan, node: usize, interface: usize, address: Address) {
    let addresses = &mut plan.nodes[node].interfaces[interface].addresses;
    if !addresses.contains(&address) {
        addresses.push(address);
    }
}

/// Each host's addresses with their gateways.
fn gateways(topology: &Topology) -> Result<Vec<Vec<(Network, IpAddr)>>, Mistake> {
    let mut seen: BTreeMap<IpAddr, String> = BTreeMap::new();
    let mut routers = BTreeMap::new();
    let mut all = Vec::new();
    for host in &topology.hosts {
        let pairs = pairs(host)?;
        for (network, gateway) in &pairs {
            let span = host.address.span();
            if let Some(other) = seen.insert(network.address, host.name.get_ref().clone()) {
                let message = format!("the address {} is in use by `{other}`", network.address);
                return Err(Mistake::at(span, message));
            }
            if OURS.iter().any(|ours| ours.parse().is_ok_and(|ours: Network| ours.contains(network.address)))
            {
                let message =
                    format!("{} is in a network of the lab's own: {}", network.address, OURS.join(", "));
                return Err(Mistake::at(span, message));
            }
            routers.insert(*gateway, host);
        }
        all.push(pairs);
    }
    for (gateway, host) in routers {
        if let Some(other) = seen.get(&gateway) {
            let span = host.gateway.as_ref().map_or(host.address.span(), toml::Spanned::span);
            let message = format!(
                "the address {gateway} is the gateway of `{}` and that of host `{other}`",
                host.name.get_ref()
            );
            return Err(Mistake::at(span, message));
        }
    }
    Ok(all)
}

/// A host's addresses with their gateways.
fn pairs(host: &HostConfig) -> Result<Vec<(Network, IpAddr)>, Mistake> {
    let addresses = &host.address.get_ref().0;
    if let Some((network, fault)) = addresses.iter().find_map(|network| Some((network, fault(*network)?))) {
        return Err(Mistake::at(
            host.address.span(),
            format!("{network} is no address of a host: it is {fault}"),
        ));
    }
    let gateways = host.gateway.as_ref().map_or(&[][..], |gateway| &gateway.get_ref().0);
    let span = host.gateway.as_ref().map_or(host.address.span(), toml::Spanned::span);
    if let [first, second] = addresses[..]
        && first.address.is_ipv4() == second.address.is_ipv4()
    {
        return Err(Mistake::at(host.address.span(), "a host has one address of IPv4 and one of IPv6"));
    }
    if let Some(stray) =
        gateways.iter().find(|gateway| !addresses.iter().any(|network| network.contains(**gateway)))
    {
        let message = format!("the gateway {stray} is in no network of host `{}`", host.name.get_ref());
        return Err(Mistake::at(span, message));
    }
    addresses
        .iter()
        .map(|network| {
            let is_ours = |gateway: &&IpAddr| network.contains(**gateway);
            let gateway = gateways.iter().find(is_ours).copied().unwrap_or_else(|| network.last());
            if let Some(fault) = fault(Network { address: gateway, length: network.length }) {
                let message = format!("{gateway} is no address of a gateway: it is {fault}");
                return Err(Mistake::at(span.clone(), message));
            }
            if gateway == network.address {
                let message =
                    format!("{gateway} is the address and the gateway of host `{}`", host.name.get_ref());
                return Err(Mistake::at(span.clone(), message));
            }
            Ok((*network, gateway))
        })
        .collect()
}

/// Why an interface cannot have this address; `None`: it can.
fn fault(network: Network) -> Option<&'static str> {
    let is_end = |address: IpAddr| network.length < 31 && network.address == address;
    match network.address {
        address if address.is_unspecified() => Some("the unspecified address"),
        address if address.is_loopback() => Some("a loopback address"),
        address if address.is_multicast() => Some("a multicast address"),
        IpAddr::V6(address) if address.is_unicast_link_local() => Some("a link-local address"),
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Some("an IPv4-mapped address"),
        IpAddr::V4(address) if address.octets()[0] >= RESERVED => Some("a reserved address"),
        IpAddr::V4(address) if address.octets()[0] == 0 => Some("an address of \"this network\""),
        IpAddr::V4(_) if is_end(network.network().address) => Some("the address of its network"),
        IpAddr::V4(_) if is_end(network.broadcast()) => Some("the broadcast address of its network"),
        _ => None,
    }
}

/// Networks with addresses that hosts on another segment have in their network too.
fn shared(plan: &Plan, topology: &Topology) -> BTreeSet<Network> {
    let mut places: BTreeSet<(Network, usize)> = BTreeSet::new();
    for (at, segment) in plan.segments.iter().enumerate() {
        for (node, _) in &segment.members {
            let Some(host) = node.checked_sub(topology.switches.len()) else { continue };
            for network in &topology.hosts[host].address.get_ref().0 {
                places.insert((network.network(), at));
            }
        }
    }
    let overlap = |a: &Network, b: &Network| a.contains(b.address) || b.contains(a.address);
    let is_shared = |(network, at): &&(Network, usize)| {
        places.iter().any(|(other, there)| at != there && overlap(network, other))
    };
    places.iter().filter(is_shared).map(|(network, _)| *network).collect()
}

/// The addresses of a router on a segment with other routers.
fn between(segment: usize, place: usize, routers: usize, has_ipv6: bool) -> Vec<Network> {
    let (segment, place) = (u32::try_from(segment).unwrap_or(0), u32::try_from(place).unwrap_or(0));
    let length = if routers == 2 { 30 } else { 28 };
    let first = u32::from(Ipv4Addr::new(100, 64, 0, 1)) + 16 * segment;
    let mut networks = vec![Network { address: Ipv4Addr::from(first + place).into(), length }];
    if has_ipv6 {
        let first = u128::from(Ipv6Addr::new(0xfd6c, 0x6162, 0, 0, 0, 0, 0, 1));
        let address = Ipv6Addr::from(first + (u128::from(segment) << 64) + u128::from(place));
        networks.push(Network { address: address.into(), length: 64 });
    }
    networks
}

/// Networks that a lab uses itself: links between routers, and the links for reports.
const OURS: [&str; 2] = ["100.64.0.0/10", "fd6c:6162::/32"];
/// The first octet from which on IPv4 addresses are reserved.
const RESERVED: u8 = 240;
