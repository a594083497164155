//! The parts of a plan: nodes with interfaces and addresses, links and segments.

use std::net::{IpAddr, SocketAddr};

use crate::quantity::{Network, Rate, Span};

/// A topology with all names resolved and all parts in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The lab's name.
    pub name: String,
    /// The address of the collector's API outside of the lab.
    pub api: SocketAddr,
    /// Hosts and switches: first the switches, then the hosts, each in the order of the file.
    pub nodes: Vec<Node>,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
    /// The segments: links, or several of them joined by learning switches.
    pub segments: Vec<Segment>,
}

/// A host or a switch.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in the file.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its Node ID; `None`: no INT.
    pub id: Option<u32>,
    /// Its interfaces, by ascending id.
    pub interfaces: Vec<Interface>,
    /// The commands started with it.
    pub run: Vec<String>,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A host; it does not forward.
    Host,
    /// A switch that forwards by routes, in this program.
    Engine,
    /// A switch that forwards by routes, in Linux.
    Kernel,
    /// A switch that forwards by Ethernet addresses: a bridge.
    Bridge {
        /// Whether this program forwards, rather than Linux.
        engine: bool,
    },
}

/// One end of a link.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The level 1 identifier.
    pub id: u16,
    /// The network device.
    pub device: String,
    /// Its link, as a position in [`Plan::links`].
    pub link: usize,
    /// The node at the other end, as a position in [`Plan::nodes`].
    pub peer: usize,
    /// Whether it faces a host without INT.
    pub edge: bool,
    /// The largest IP packet, bytes.
    pub mtu: u32,
    /// Its addresses.
    pub addresses: Vec<Address>,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address and its network.
    pub network: Network,
    /// Whether its network is reached directly by the interface.
    pub on_link: bool,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its ends, as positions in [`Plan::nodes`] and interface ids there.
    pub ends: [(usize, u16); 2],
    /// Bits per second, each way; 0: no limit.
    pub rate: Rate,
    /// Maximum bytes queued at each end.
    pub queue_bytes: u32,
    /// The one-way delay of a packet.
    pub delay: Span,
    /// The share of packets that are lost.
    pub loss: f64,
}

impl Link {
    /// Whether packets pass the user-space link.
    #[must_use]
    pub fn is_relayed(&self) -> bool {
        !self.delay.0.is_zero() || self.loss > 0.0
    }
}

/// A part of the network where packets pass no router.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Nodes with addresses, and their interfaces' positions.
    pub members: Vec<(usize, usize)>,
}

impl Plan {
    /// The position of the node called `name`.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// The links between two nodes.
    pub fn links_between(&self, a: usize, b: usize) -> impl Iterator<Item = usize> {
        let ends = move |link: &Link| {
            let [x, y] = link.ends.map(|(node, _)| node);
            (x, y) == (a, b) || (x, y) == (b, a)
        };
        self.links.iter().enumerate().filter(move |(_, link)| ends(link)).map(|(at, _)| at)
    }

    /// The namespace of a node, or of `collector` and `links`.
    #[must_use]
    pub fn namespace(&self, name: &str) -> String {
        format!("{}-{name}", self.name)
    }

    /// The addresses of a host.
    pub fn host_addresses(&self, node: usize) -> impl Iterator<Item = Network> {
        let interfaces = self.nodes.get(node).map_or(&[][..], |node| &node.interfaces);
        interfaces.iter().flat_map(|interface| interface.addresses.iter().map(|address| address.network))
    }

    /// The addresses of the other routers that an interface of a node leads to.
    #[must_use]
    pub fn next_hops(&self, node: usize, interface: &Interface) -> Vec<IpAddr> {
        let is_here = |member: &(usize, usize)| {
            member.0 == node && self.nodes[node].interfaces[member.1].id == interface.id
        };
        let segments = self.segments.iter().filter(|segment| segment.members.iter().any(is_here));
        let others = segments.flat_map(|segment| &segment.members);
        let others = others.filter(|(other, _)| *other != node && self.nodes[*other].is_router());
        others
            .flat_map(|(other, theirs)| &self.nodes[*other].interfaces[*theirs].addresses)
            .map(|address| address.network.address)
            .collect()
    }

    /// Whether any host has an IPv6 address.
    #[must_use]
    pub fn has_ipv6(&self) -> bool {
        (0..self.nodes.len()).any(|node| {
            self.nodes[node].kind == Kind::Host && self.host_addresses(node).any(|it| it.address.is_ipv6())
        })
    }

    /// Whether a node sends reports.
    #[must_use]
    pub fn reports(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.id.is_some())
    }
}

impl Node {
    /// Whether it forwards by routes.
    #[must_use]
    pub fn is_router(&self) -> bool {
        matches!(self.kind, Kind::Engine | Kind::Kernel)
    }

    /// Whether it reports drops of its kernel: Linux forwards, and it does INT.
    #[must_use]
    pub fn hears_of_drops(&self) -> bool {
        self.id.is_some() && matches!(self.kind, Kind::Kernel | Kind::Bridge { engine: false })
    }

    /// Whether this program forwards its packets.
    #[must_use]
    pub fn is_engine(&self) -> bool {
        matches!(self.kind, Kind::Engine | Kind::Bridge { engine: true })
    }
}

/// The addresses of the collector and of a node on the link between them for reports only.
#[must_use]
pub fn management(node: usize) -> (IpAddr, IpAddr) {
    let block = u32::try_from(node).unwrap_or(0) & 0x3fff;
    let first = u32::from(std::net::Ipv4Addr::new(100, 127, 0, 1)) + 4 * block;
    (std::net::Ipv4Addr::from(first).into(), std::net::Ipv4Addr::from(first + 1).into())
}
