//! IP addresses of devices.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::netlink::{Attributes, Message, Netlink};

/// An address of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Interface index of the device.
    pub device: u32,
    /// The address.
    pub ip: IpAddr,
    /// Length of its network prefix, bits.
    pub prefix_length: u8,
}

/// Every address of this network namespace.
///
/// # Errors
/// An error of the kernel.
pub fn all(netlink: &mut Netlink) -> io::Result<Vec<Address>> {
    let mut addresses = Vec::new();
    netlink.dump(Message::new(GET, 0, &[0; FIXED_BYTES]), |kind, body| {
        addresses.extend(Address::read(body).filter(|_| kind == NEW));
    })?;
    Ok(addresses)
}

impl Address {
    /// Reads the body of a message about an address, `struct ifaddrmsg` and its attributes.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let attributes = Attributes(body.get(FIXED_BYTES..)?);
        // On a link between two hosts `IFA_ADDRESS` is the peer's.
        let ip = attributes.get(LOCAL).or_else(|| attributes.get(ADDRESS)).and_then(read_ip)?;
        Some(Self {
            device: u32::from_ne_bytes(*body.get(4..)?.first_chunk()?),
            ip,
            prefix_length: *body.get(1)?,
        })
    }

    /// Adds the address to its device; it is usable at once, without duplicate address detection.
    ///
    /// # Errors
    /// An error of the kernel, for example that it already exists.
    pub fn add(&self, netlink: &mut Netlink) -> io::Result<()> {
        netlink.change(self.message(NEW, CREATE))
    }

    /// Removes the address from its device.
    ///
    /// # Errors
    /// An error of the kernel, for example that it does not exist.
    pub fn remove(&self, netlink: &mut Netlink) -> io::Result<()> {
        netlink.change(self.message(DELETE, 0))
    }

    fn message(&self, kind: u16, flags: u16) -> Message {
        let [a, b, c, d] = self.device.to_ne_bytes();
        let fixed = [family(self.ip), self.prefix_length, NO_DUPLICATE_DETECTION, 0, a, b, c, d];
        let octets = octets(self.ip);
        let message = Message::new(kind, flags, &fixed).attribute(LOCAL, &octets).attribute(ADDRESS, &octets);
        match self.ip {
            // The last address of a /31 is a host, not broadcast (RFC 3021).
            IpAddr::V4(ip) if kind == NEW && self.prefix_length < 31 => {
                let host_bits = u32::MAX.checked_shr(self.prefix_length.into()).unwrap_or(0);
                message.attribute(BROADCAST, &(u32::from(ip) | host_bits).to_be_bytes())
            }
            _ => message,
        }
    }
}

/// The address in an attribute: 4 or 16 bytes.
pub(crate) fn read_ip(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(octets).into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(|octets| Ipv6Addr::from(octets).into())
}

pub(crate) fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

/// `AF_INET` or `AF_INET6`.
pub(crate) const fn family(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(_) => 2,
        IpAddr::V6(_) => 10,
    }
}

/// `RTM_NEWADDR`.
pub const NEW: u16 = 20;
/// `RTM_DELADDR`.
pub const DELETE: u16 = 21;
const GET: u16 = 22;
/// `struct ifaddrmsg`.
const FIXED_BYTES: usize = 8;
/// `NLM_F_CREATE | NLM_F_EXCL`.
const CREATE: u16 = 0x600;
const ADDRESS: u16 = 1;
const LOCAL: u16 = 2;
const BROADCAST: u16 = 4;
/// `IFA_F_NODAD`.
const NO_DUPLICATE_DETECTION: u8 = 0x02;
