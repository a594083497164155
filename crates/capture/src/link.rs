//! Link types, and the start of the packet in a captured frame. See <https://www.tcpdump.org/linktypes.html>.

use std::fmt;

use inband_wire::Link;
use inband_wire::ethernet::{self, EthernetPayload};

/// The first header of an interface's frames, numbered by the tcpdump group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback, address family in the capturing machine's byte order.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// An IP packet without a link header.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback, address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture.
    pub const LINUX_SLL: Self = Self(113);
    /// An IPv4 packet without a link header.
    pub const IPV4: Self = Self(228);
    /// An IPv6 packet without a link header.
    pub const IPV6: Self = Self(229);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
    /// The numbers Linux and the BSDs used for raw IP before 101 was assigned.
    const RAW_OLD: [Self; 2] = [Self(12), Self(14)];

    /// Whether [`start`] finds packets in its frames.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.name().is_some()
    }

    /// Its name; `None` where frames cannot be read.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NULL => "BSD loopback",
            Self::ETHERNET => "Ethernet",
            Self::RAW => "raw IP",
            old if Self::RAW_OLD.contains(&old) => "raw IP",
            Self::LOOP => "OpenBSD loopback",
            Self::LINUX_SLL => "Linux cooked",
            Self::IPV4 => "raw IPv4",
            Self::IPV6 => "raw IPv6",
            Self::LINUX_SLL2 => "Linux cooked v2",
            _ => return None,
        })
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "link type {}", self.0),
        }
    }
}

/// The first header of the packet in a frame of this link type and its offset; `None` when it is not IP, or
/// the link type is unknown.
pub fn start(link_type: LinkType, frame: &[u8]) -> Option<(Link, usize)> {
    match link_type {
        LinkType::ETHERNET => Some((Link::Ethernet, 0)),
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 => Some((Link::Ip, 0)),
        other if LinkType::RAW_OLD.contains(&other) => Some((Link::Ip, 0)),
        LinkType::LINUX_SLL => cooked(frame, 14, 16),
        LinkType::LINUX_SLL2 => cooked(frame, 0, 20),
        LinkType::NULL => loopback(frame, &[u32::from_le_bytes, u32::from_be_bytes]),
        LinkType::LOOP => loopback(frame, &[u32::from_be_bytes]),
        _ => None,
    }
}

/// A cooked header has an EtherType at `ethertype_at` and ends at `end`; VLAN tags may follow. Everything but
/// IP is ignored.
fn cooked(frame: &[u8], ethertype_at: usize, end: usize) -> Option<(Link, usize)> {
    let first = u16::from_be_bytes(*frame.get(ethertype_at..)?.first_chunk()?);
    let EthernetPayload { ethertype, at } = ethernet::behind(frame, first, end).ok()?;
    (matches!(ethertype, ethernet::IPV4 | ethernet::IPV6) && frame.len() >= at).then_some((Link::Ip, at))
}

/// Makes a link header, which ends where [`start`] found the packet, name the packet's IP version.
pub fn set_ip_version(link_type: LinkType, header: &mut [u8], is_ipv6: bool) {
    let ethertype = if is_ipv6 { ethernet::IPV6 } else { ethernet::IPV4 }.to_be_bytes();
    let last = header.len().saturating_sub(2);
    let at = match link_type {
        LinkType::LINUX_SLL if header.len() <= 16 => 14,
        LinkType::LINUX_SLL2 if header.len() <= 20 => 0,
        // The last tag.
        LinkType::LINUX_SLL | LinkType::LINUX_SLL2 => last,
        LinkType::NULL | LinkType::LOOP => return set_family(header, is_ipv6),
        _ => return,
    };
    if let Some(place) = header.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = ethertype;
    }
}

/// Sets the family in its byte order, unless it already has the version.
fn set_family(header: &mut [u8], is_ipv6: bool) {
    let Some(family) = header.first_chunk_mut::<4>() else { return };
    let is_little = u32::from_le_bytes(*family) < 256;
    let known = if is_little { u32::from_le_bytes(*family) } else { u32::from_be_bytes(*family) };
    if (known != INET) != is_ipv6 {
        let wanted = if is_ipv6 { INET6 } else { INET };
        *family = if is_little { wanted.to_le_bytes() } else { wanted.to_be_bytes() };
    }
}

/// A loopback header is one address family; its number for IPv6 differs between systems.
fn loopback(frame: &[u8], orders: &[fn([u8; 4]) -> u32]) -> Option<(Link, usize)> {
    let family = frame.first_chunk()?;
    let is_ip = orders.iter().any(|order| matches!(order(*family), 2 | 10 | 24 | 28 | 30));
    is_ip.then_some((Link::Ip, 4))
}

/// The address families of IPv4, everywhere, and of IPv6, on macOS; readers know those of all systems.
const INET: u32 = 2;
const INET6: u32 = 30;

#[cfg(test)]
mod tests;
