//! Routes: shortest paths with ECMP, and the effects of faults.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use super::parts::{Kind, Plan};
use crate::quantity::Network;
use crate::topology::{DropReason, Fault};

/// The routes of one node.
pub type Routes = BTreeMap<Network, Target>;

/// One route of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destination.
    pub destination: Network,
    /// The next hops.
    pub target: Target,
}

/// The next hops of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Directly, to a neighbour on the interface.
    Link(String),
    /// Through a router, or through any of several.
    Via(Vec<Hop>),
}

/// The next hop of a route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// The device.
    pub device: String,
    /// The neighbour's address.
    pub gateway: IpAddr,
}

/// A router that is directly reachable from another one.
struct Neighbour {
    node: usize,
    /// Position of the own interface.
    interface: usize,
    /// Position of the other's interface.
    theirs: usize,
}

/// Where a destination is connected to the network.
struct Attachment {
    router: usize,
    device: String,
}

impl Plan {
    /// The routes of every node, except those implied by addresses, with `faults` in force.
    #[must_use]
    pub fn routes(&self, faults: &[Fault]) -> Vec<Routes> {
        let broken = self.broken(faults);
        let neighbours: Vec<Vec<Neighbour>> =
            (0..self.nodes.len()).map(|node| self.neighbours(node, &broken)).collect();
        let mut routes: Vec<Routes> = (0..self.nodes.len()).map(|node| self.host_routes(node)).collect();
        let destinations = self.destinations();
        for (destination, attachments) in &destinations {
            for attachment in attachments {
                if destination.length == Network::host(destination.address).length {
                    routes[attachment.router].insert(*destination, Target::Link(attachment.device.clone()));
                }
            }
            // A router whose link to the destination is down does not announce it.
            let up = attachments.iter().filter(|it| !self.is_down(it.router, &it.device, &broken));
            let distance = self.distances(up, &neighbours);
            for node in (0..self.nodes.len()).filter(|node| self.nodes[*node].is_router()) {
                let Some(here) = distance[node].filter(|distance| *distance > 0) else { continue };
                let next: BTreeSet<Hop> = neighbours[node]
                    .iter()
                    .filter(|neighbour| distance[neighbour.node] == Some(here - 1))
                    .filter_map(|neighbour| self.hop(node, neighbour, destination.address.is_ipv4()))
                    .collect();
                if !next.is_empty() {
                    routes[node].insert(*destination, Target::Via(next.into_iter().collect()));
                }
            }
        }
        for fault in faults {
            self.misguide(fault, &destinations, &neighbours, &mut routes);
        }
        // The kernel accepts no route by a device that is down; only those to attached hosts are left.
        for (node, routes) in routes.iter_mut().enumerate() {
            routes.retain(|_, target| match target {
                Target::Link(device) => !self.is_down(node, device, &broken),
                Target::Via(hops) => hops.iter().all(|hop| !self.is_down(node, &hop.device, &broken)),
            });
        }
        routes
    }

    /// Whether a device of a node belongs to a link that is down.
    fn is_down(&self, node: usize, device: &str, broken: &BTreeSet<usize>) -> bool {
        let own = self.nodes[node].interfaces.iter().find(|interface| interface.device == device);
        own.is_some_and(|interface| broken.contains(&interface.link))
    }

    /// Links that are down.
    #[must_use]
    pub fn broken(&self, faults: &[Fault]) -> BTreeSet<usize> {
        let ends = faults.iter().filter_map(|fault| match fault {
            Fault::Break { a, b } => self.node(a).zip(self.node(b)),
            _ => None,
        });
        ends.flat_map(|(a, b)| self.links_between(a, b).collect::<Vec<_>>()).collect()
    }

    /// A host's routes to its router.
    fn host_routes(&self, node: usize) -> Routes {
        let mut routes = Routes::new();
        if self.nodes[node].kind != Kind::Host {
            return routes;
        }
        for segment in &self.segments {
            let Some((_, own)) = segment.members.iter().find(|(member, _)| *member == node) else { continue };
            let own = &self.nodes[node].interfaces[*own];
            let routers = segment.members.iter().filter(|(member, _)| self.nodes[*member].is_router());
            for (router, interface) in routers.take(1) {
                for address in &own.addresses {
                    let theirs = &self.nodes[*router].interfaces[*interface].addresses;
                    let gateway =
                        theirs.iter().find(|theirs| address.network.contains(theirs.network.address));
                    let Some(gateway) = gateway.map(|gateway| gateway.network.address) else { continue };
                    if !address.on_link {
                        routes.insert(Network::host(gateway), Target::Link(own.device.clone()));
                    }
                    let zero = if gateway.is_ipv4() { "0.0.0.0" } else { "::" };
                    let Ok(all) = zero.parse().map(|address| Network { address, length: 0 }) else {
                        continue;
                    };
                    let hop = Hop { device: own.device.clone(), gateway };
                    routes.insert(all, Target::Via(vec![hop]));
                }
            }
        }
        routes
    }

    /// Networks of hosts, or single hosts where a network is on several segments, and their attachments.
    fn destinations(&self) -> BTreeMap<Network, Vec<Attachment>> {
        let mut destinations: BTreeMap<Network, Vec<Attachment>> = BTreeMap::new();
        for segment in &self.segments {
            let routers = segment.members.iter().filter(|(member, _)| self.nodes[*member].is_router());
            let Some((router, interface)) = routers.take(1).next() else { continue };
            let device = &self.nodes[*router].interfaces[*interface].device;
            for (node, _) in segment.members.iter().filter(|(node, _)| self.nodes[*node].kind == Kind::Host) {
                for address in self.nodes[*node].interfaces.iter().flat_map(|interface| &interface.addresses)
                {
                    let destination = if address.on_link {
                        address.network.network()
                    } else {
                        Network::host(address.network.address)
                    };
                    let places = destinations.entry(destination).or_default();
                    if !places.iter().any(|place| place.router == *router) {
                        places.push(Attachment { router: *router, device: device.clone() });
                    }
                }
            }
        }
        destinations
    }

    fn neighbours(&self, node: usize, broken: &BTreeSet<usize>) -> Vec<Neighbour> {
        let mut neighbours = Vec::new();
        if !self.nodes[node].is_router() {
            return neighbours;
        }
        let is_up =
            |node: usize, interface: usize| !broken.contains(&self.nodes[node].interfaces[interface].link);
        for segment in &self.segments {
            for (_, own) in
                segment.members.iter().filter(|(member, own)| *member == node && is_up(node, *own))
            {
                for (other, theirs) in segment.members.iter().filter(|(member, _)| *member != node) {
                    if self.nodes[*other].is_router() && is_up(*other, *theirs) {
                        neighbours.push(Neighbour { node: *other, interface: *own, theirs: *theirs });
                    }
                }
            }
        }
        neighbours
    }

    /// The distance of each router to the nearest of `attachments`, in links.
    fn distances<'a>(
        &self,
        attachments: impl Iterator<Item = &'a Attachment>,
        neighbours: &[Vec<Neighbour>],
    ) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.nodes.len()];
        let mut waiting = VecDeque::new();
        for attachment in attachments {
            distance[attachment.router] = Some(0);
            waiting.push_back((attachment.router, 0));
        }
        while let Some((node, here)) = waiting.pop_front() {
            for neighbour in &neighbours[node] {
                if distance[neighbour.node].is_none() {
                    distance[neighbour.node] = Some(here + 1);
                    waiting.push_back((neighbour.node, here + 1));
                }
            }
        }
        distance
    }

    /// The next hop to a neighbour: its address on the common segment that is not a gateway of hosts.
    fn hop(&self, node: usize, neighbour: &Neighbour, ipv4: bool) -> Option<Hop> {
        let own = &self.nodes[node].interfaces[neighbour.interface];
        let theirs = &self.nodes[neighbour.node].interfaces[neighbour.theirs];
        let address = theirs.addresses.iter().map(|address| address.network.address).find(|address| {
            address.is_ipv4() == ipv4
                && own
                    .addresses
                    .iter()
                    .any(|own| own.network.contains(*address) && own.network.address != *address)
        });
        Some(Hop { device: own.device.clone(), gateway: address? })
    }

    /// Changes routes according to a fault.
    fn misguide(
        &self,
        fault: &Fault,
        destinations: &BTreeMap<Network, Vec<Attachment>>,
        neighbours: &[Vec<Neighbour>],
        routes: &mut [Routes],
    ) {
        let is_attached =
            |node: usize, attachments: &[Attachment]| attachments.iter().any(|it| it.router == node);
        let to = |from: usize, to: usize, ipv4: bool| {
            let hop = neighbours[from].iter().find(|neighbour| neighbour.node == to);
            hop.and_then(|neighbour| self.hop(from, neighbour, ipv4)).map(|hop| Target::Via(vec![hop]))
        };
        match fault {
            Fault::Break { .. } | Fault::Slow { .. } | Fault::Drop { reason: DropReason::Silent, .. } => {}
            Fault::Drop { switch, reason: DropReason::NoRoute } => {
                let Some(switch) = self.node(switch) else { return };
                routes[switch].retain(|_, target| matches!(target, Target::Link(_)));
            }
            Fault::Loop { a, b } => {
                let Some((a, b)) = self.node(a).zip(self.node(b)) else { return };
                let elsewhere = destinations
                    .iter()
                    .filter(|(_, places)| !is_attached(a, places) && !is_attached(b, places))
                    .map(|(destination, _)| *destination)
                    .collect::<Vec<_>>();
                // If all hosts are at these two, the hosts of the second.
                let looped = if elsewhere.is_empty() { self.hosts_of(b) } else { elsewhere };
                for destination in looped {
                    for (from, next) in [(a, b), (b, a)] {
                        if let Some(target) = to(from, next, destination.address.is_ipv4()) {
                            routes[from].insert(destination, target);
                        }
                    }
                }
            }
            Fault::Misroute { switch, prefix, next } => {
                let Some((switch, next)) = self.node(switch).zip(self.node(next)) else { return };
                let Some(target) = to(switch, next, prefix.address.is_ipv4()) else { return };
                let inside = routes[switch]
                    .keys()
                    .filter(|it| prefix.contains(it.address) && it.length >= prefix.length);
                let mut wrong: Vec<Network> = inside.copied().collect();
                wrong.push(*prefix);
                // One route for each host at the switch itself: the network of its interface would take
                // precedence over the prefix.
                wrong.extend(self.hosts_of(switch).into_iter().filter(|host| prefix.contains(host.address)));
                for destination in wrong {
                    routes[switch].insert(destination, target.clone());
                }
            }
        }
    }

    /// The hosts connected to a router, as networks of one address.
    fn hosts_of(&self, router: usize) -> Vec<Network> {
        let here =
            self.segments.iter().filter(|segment| segment.members.iter().any(|(node, _)| *node == router));
        let hosts = here.flat_map(|segment| &segment.members).map(|(node, _)| *node);
        let hosts = hosts.filter(|node| self.nodes[*node].kind == Kind::Host);
        hosts
            .flat_map(|host| self.host_addresses(host).map(|network| Network::host(network.address)))
            .collect()
    }
}
