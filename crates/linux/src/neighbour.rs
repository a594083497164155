//! The kernel's neighbours: link-layer addresses of IP addresses.

use std::io;
use std::net::IpAddr;

use crate::address::{family, octets, read_ip};
use crate::netlink::{Attributes, Message, Netlink};

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Interface index of the device it is behind.
    pub device: u32,
    /// Its IP address.
    pub ip: IpAddr,
    /// Its Ethernet address; `None`: unknown, or expired.
    pub address: Option<[u8; 6]>,
    /// Whether its resolution has failed.
    pub has_failed: bool,
    /// Whether it is a permanent entry: the kernel does not resolve it.
    pub is_permanent: bool,
}

/// Every neighbour of this network namespace.
///
/// # Errors
/// An error of the kernel.
pub fn all(netlink: &mut Netlink) -> io::Result<Vec<Neighbour>> {
    let mut neighbours = Vec::new();
    netlink.dump(Message::new(GET, 0, &[0; FIXED_BYTES]), |kind, body| {
        neighbours.extend(Neighbour::read(body).filter(|_| kind == NEW));
    })?;
    Ok(neighbours)
}

/// Makes the kernel resolve the neighbour `ip` behind `device`, as if it had a packet for it. A permanent
/// entry is not permanent afterwards.
///
/// # Errors
/// An error of the kernel.
pub fn look_for(netlink: &mut Netlink, device: u32, ip: IpAddr) -> io::Result<()> {
    netlink.change(message(NEW, CREATE | REPLACE, device, ip, 0, USE))
}

/// Removes the neighbour `ip` behind `device`.
///
/// # Errors
/// An error of the kernel, for example that it does not exist.
pub fn remove(netlink: &mut Netlink, device: u32, ip: IpAddr) -> io::Result<()> {
    netlink.change(message(DELETE, 0, device, ip, 0, 0))
}

impl Neighbour {
    /// Reads the body of a message about a neighbour, `struct ndmsg` and its attributes; `None` also for entries of
    /// bridges.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let attributes = Attributes(body.get(FIXED_BYTES..)?);
        let state = u16::from_ne_bytes(*body.get(8..)?.first_chunk()?);
        let address = attributes.get(LINK_ADDRESS).and_then(|bytes| bytes.try_into().ok());
        Some(Self {
            device: u32::from_ne_bytes(*body.get(4..)?.first_chunk()?),
            ip: attributes.get(DESTINATION).and_then(read_ip)?,
            address: address.filter(|_| state & VALID != 0),
            has_failed: state & FAILED != 0,
            is_permanent: state & PERMANENT != 0,
        })
    }

    /// Adds the neighbour permanently; replaces one with the same address.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn replace(&self, netlink: &mut Netlink) -> io::Result<()> {
        let message = message(NEW, CREATE | REPLACE, self.device, self.ip, PERMANENT, 0);
        netlink.change(message.attribute(LINK_ADDRESS, &self.address.unwrap_or_default()))
    }
}

fn message(kind: u16, message_flags: u16, device: u32, ip: IpAddr, state: u16, flags: u8) -> Message {
    let [a, b, c, d] = device.to_ne_bytes();
    let [e, f] = state.to_ne_bytes();
    let fixed = [family(ip), 0, 0, 0, a, b, c, d, e, f, flags, 0];
    Message::new(kind, message_flags, &fixed).attribute(DESTINATION, &octets(ip))
}

/// `RTM_NEWNEIGH`.
pub const NEW: u16 = 28;
/// `RTM_DELNEIGH`.
pub const DELETE: u16 = 29;
const GET: u16 = 30;
/// `struct ndmsg`.
const FIXED_BYTES: usize = 12;
const CREATE: u16 = 0x400;
const REPLACE: u16 = 0x100;
/// `NTF_USE`.
const USE: u8 = 0x01;
const DESTINATION: u16 = 1;
const LINK_ADDRESS: u16 = 2;
/// `NUD_FAILED` and `NUD_PERMANENT`.
const FAILED: u16 = 0x20;
const PERMANENT: u16 = 0x80;
/// `NUD_VALID`: reachable, stale, delay, probe, permanent or without ARP.
const VALID: u16 = 0x02 | 0x04 | 0x08 | 0x10 | 0x80 | 0x40;
