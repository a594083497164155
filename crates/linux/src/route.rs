//! The kernel's routing tables.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{family, octets, read_ip};
use crate::netlink::{Attributes, Message, Netlink};

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// First address of the network it leads to.
    pub destination: IpAddr,
    /// Length of its prefix, bits.
    pub prefix_length: u8,
    /// The next hops; with several, each flow takes one of them.
    pub hops: Vec<NextHop>,
    /// What it does with packets.
    pub kind: RouteKind,
    /// The table it is in.
    pub table: u32,
    /// Priority among routes to the same network; the lowest is used.
    pub metric: u32,
}

/// A next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The neighbour that packets are sent to; `None`: the destination itself.
    pub gateway: Option<IpAddr>,
    /// Interface index of the device.
    pub device: u32,
    /// Its share of flows, relative to a hop of weight 1.
    pub weight: u16,
    /// Whether the kernel considers the link down, or the hop dead.
    pub is_down: bool,
}

/// The type of a route, `rtm_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// Packets are forwarded.
    Unicast,
    /// Packets are for this host.
    Local,
    /// Packets are for every host of a link.
    Broadcast,
    /// Packets are for one of several hosts, this one included.
    Anycast,
    /// Packets are for a group.
    Multicast,
    /// Packets are dropped silently.
    Blackhole,
    /// Packets are dropped, and their sender is notified that the host is unreachable.
    Unreachable,
    /// Packets are dropped, and their sender is notified that they are prohibited.
    Prohibit,
    /// Any other type.
    Unknown(u8),
}

/// Every route of this network namespace, of all tables.
///
/// # Errors
/// An error of the kernel.
pub fn all(netlink: &mut Netlink) -> io::Result<Vec<Route>> {
    let mut routes = Vec::new();
    netlink.dump(Message::new(GET, 0, &[0; FIXED_BYTES]), |kind, body| {
        routes.extend(Route::read(body).filter(|_| kind == NEW));
    })?;
    Ok(routes)
}

impl Route {
    /// A route to the network `destination` by `hops`, of the main table.
    #[must_use]
    pub const fn new(destination: IpAddr, prefix_length: u8, hops: Vec<NextHop>) -> Self {
        Self { destination, prefix_length, hops, kind: RouteKind::Unicast, table: MAIN, metric: 0 }
    }

    /// Reads the body of a message about a route, `struct rtmsg` and its attributes; `None` also for a cached
    /// copy made for one destination.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let attributes = Attributes(body.get(FIXED_BYTES..)?);
        let flags = u32::from_ne_bytes(*body.get(8..)?.first_chunk()?);
        let any: IpAddr = match *body.first()? {
            AF_INET => Ipv4Addr::UNSPECIFIED.into(),
            AF_INET6 => Ipv6Addr::UNSPECIFIED.into(),
            _ => return None,
        };
        if flags & CLONED != 0 {
            return None;
        }
        let destination = attributes.get(DESTINATION).map_or(Some(any), read_ip)?;
        let mut hops = Vec::new();
        if let Some(device) = attributes.number(DEVICE) {
            let gateway = gateway(attributes);
            hops.push(NextHop { gateway, device, weight: 1, is_down: is_down(flags) });
        }
        hops.extend(next_hops(attributes.get(MULTIPATH).unwrap_or_default()));
        Some(Self {
            destination,
            prefix_length: *body.get(1)?,
            hops,
            kind: RouteKind::from(*body.get(7)?),
            table: attributes.number(TABLE).unwrap_or_else(|| body.get(4).copied().unwrap_or(0).into()),
            metric: attributes.number(PRIORITY).unwrap_or(0),
        })
    }

    /// Adds the route.
    ///
    /// # Errors
    /// An error of the kernel, for example that there is one to this network.
    pub fn add(&self, netlink: &mut Netlink) -> io::Result<()> {
        netlink.change(self.message(NEW, CREATE | EXCLUSIVE))
    }

    /// Adds the route; replaces one to the same network.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn replace(&self, netlink: &mut Netlink) -> io::Result<()> {
        netlink.change(self.message(NEW, CREATE | REPLACE))
    }

    /// Removes the route.
    ///
    /// # Errors
    /// An error of the kernel, for example that it does not exist.
    pub fn remove(&self, netlink: &mut Netlink) -> io::Result<()> {
        netlink.change(self.message(DELETE, 0))
    }

    fn message(&self, kind: u16, flags: u16) -> Message {
        let scope = match self.hops.as_slice() {
            [hop, ..] if hop.gateway.is_none() && self.destination.is_ipv4() => SCOPE_LINK,
            _ => SCOPE_UNIVERSE,
        };
        let table = u8::try_from(self.table).unwrap_or(0);
        let family = family(self.destination);
        let kind_number = self.kind.number();
        let fixed = [family, self.prefix_length, 0, 0, table, PROTOCOL, scope, kind_number, 0, 0, 0, 0];
        let mut message = Message::new(kind, flags, &fixed).attribute(TABLE, &self.table.to_ne_bytes());
        if self.prefix_length > 0 {
            message = message.attribute(DESTINATION, &octets(self.destination));
        }
        if self.metric > 0 {
            message = message.attribute(PRIORITY, &self.metric.to_ne_bytes());
        }
        match self.hops.as_slice() {
            [] => message,
            [hop] => hop.put(message.attribute(DEVICE, &hop.device.to_ne_bytes()), self.destination),
            hops => message.nested(MULTIPATH, |message| {
                hops.iter().fold(message, |message, hop| hop.put_in_list(message, self.destination))
            }),
        }
    }
}

impl NextHop {
    /// The neighbour `gateway` behind a device.
    #[must_use]
    pub const fn by(gateway: IpAddr, device: u32) -> Self {
        Self { gateway: Some(gateway), device, weight: 1, is_down: false }
    }

    /// The hosts on the link of a device.
    #[must_use]
    pub const fn on_link(device: u32) -> Self {
        Self { gateway: None, device, weight: 1, is_down: false }
    }

    fn put(&self, message: Message, destination: IpAddr) -> Message {
        match self.gateway {
            None => message,
            // A neighbour of another family than the destination has a separate attribute.
            Some(gateway) if gateway.is_ipv4() != destination.is_ipv4() => {
                let family = u16::from(family(gateway)).to_ne_bytes();
                message.attribute(VIA, &[&family, octets(gateway).as_slice()].concat())
            }
            Some(gateway) => message.attribute(GATEWAY, &octets(gateway)),
        }
    }

    /// Adds `struct rtnexthop` and its attributes.
    fn put_in_list(&self, message: Message, destination: IpAddr) -> Message {
        let attributes = self.put(Message::new(0, 0, &[]), destination);
        let attributes = attributes.body();
        let length = u16::try_from(HOP_BYTES + attributes.len()).unwrap_or(u16::MAX);
        let [a, b] = length.to_ne_bytes();
        let [c, d, e, f] = self.device.to_ne_bytes();
        let weight = u8::try_from(self.weight.saturating_sub(1)).unwrap_or(u8::MAX);
        message.bytes(&[a, b, 0, weight, c, d, e, f]).bytes(attributes)
    }
}

/// The list in `RTA_MULTIPATH`.
fn next_hops(list: &[u8]) -> impl Iterator<Item = NextHop> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
        let entry = rest.get(..length)?;
        let hop = NextHop {
            gateway: gateway(Attributes(entry.get(HOP_BYTES..)?)),
            device: u32::from_ne_bytes(*entry.get(4..)?.first_chunk()?),
            weight: u16::from(*entry.get(3)?) + 1,
            is_down: is_down((*entry.get(2)?).into()),
        };
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(hop)
    })
}

fn gateway(attributes: Attributes<'_>) -> Option<IpAddr> {
    let via = || read_ip(attributes.get(VIA)?.get(2..)?);
    attributes.get(GATEWAY).and_then(read_ip).or_else(via)
}

const fn is_down(flags: u32) -> bool {
    flags & (DEAD | LINK_DOWN) != 0
}

impl RouteKind {
    const fn number(self) -> u8 {
        match self {
            Self::Unicast => 1,
            Self::Local => 2,
            Self::Broadcast => 3,
            Self::Anycast => 4,
            Self::Multicast => 5,
            Self::Blackhole => 6,
            Self::Unreachable => 7,
            Self::Prohibit => 8,
            Self::Unknown(number) => number,
        }
    }
}

impl From<u8> for RouteKind {
    fn from(number: u8) -> Self {
        match number {
            1 => Self::Unicast,
            2 => Self::Local,
            3 => Self::Broadcast,
            4 => Self::Anycast,
            5 => Self::Multicast,
            6 => Self::Blackhole,
            7 => Self::Unreachable,
            8 => Self::Prohibit,
            number => Self::Unknown(number),
        }
    }
}

/// The default table of routes, `RT_TABLE_MAIN`.
pub const MAIN: u32 = 254;
/// The table of the host's own addresses, `RT_TABLE_LOCAL`.
pub const LOCAL: u32 = 255;
/// `RTM_NEWROUTE`.
pub const NEW: u16 = 24;
/// `RTM_DELROUTE`.
pub const DELETE: u16 = 25;
const GET: u16 = 26;
/// `struct rtmsg`.
const FIXED_BYTES: usize = 12;
/// `struct rtnexthop`.
const HOP_BYTES: usize = 8;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const CREATE: u16 = 0x400;
const EXCLUSIVE: u16 = 0x200;
const REPLACE: u16 = 0x100;
/// `RTPROT_STATIC`.
const PROTOCOL: u8 = 4;
const SCOPE_UNIVERSE: u8 = 0;
const SCOPE_LINK: u8 = 253;
/// `RTM_F_CLONED`, `RTNH_F_DEAD`, `RTNH_F_LINKDOWN`.
const CLONED: u32 = 0x200;
const DEAD: u32 = 0x1;
const LINK_DOWN: u32 = 0x10;
const DESTINATION: u16 = 1;
const DEVICE: u16 = 4;
const GATEWAY: u16 = 5;
const PRIORITY: u16 = 6;
const MULTIPATH: u16 = 9;
const TABLE: u16 = 15;
const VIA: u16 = 18;
