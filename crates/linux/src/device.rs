//! The network devices of a namespace: their state and settings.

use std::io;
use std::time::{Duration, Instant};

use crate::netlink::{Attributes, Message, Netlink};

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Interface index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The largest IP packet, bytes.
    pub mtu: u32,
    /// Whether it sends Ethernet frames.
    pub is_ethernet: bool,
    /// Whether it is up and has a carrier.
    pub is_running: bool,
    /// Whether the kernel has noticed that; until then it drops what is sent. Not set for devices without a
    /// carrier of their own, such as the loopback device.
    pub is_operational: bool,
    /// Its link-layer address.
    pub address: Vec<u8>,
    /// Interface index of the device it is a port of, such as a bridge; `None`: no such device.
    pub master: Option<u32>,
    /// Its kind, as in `veth` or `vlan`; empty: hardware, or unknown.
    pub kind: String,
    /// Interface index of the device at its other end or below it; `None`: none, or in another namespace.
    pub link: Option<u32>,
}

/// Every device of this network namespace.
///
/// # Errors
/// An error of the kernel.
pub fn all(netlink: &mut Netlink) -> io::Result<Vec<Device>> {
    let mut devices = Vec::new();
    netlink.dump(Message::new(GET_LINK, 0, &[0; LINK_BYTES]), |kind, body| {
        devices.extend(Device::read(body).filter(|_| kind == NEW_LINK));
    })?;
    Ok(devices)
}

/// The device named `name`; `None`: not found.
///
/// # Errors
/// An error of the kernel.
pub fn find(netlink: &mut Netlink, name: &str) -> io::Result<Option<Device>> {
    Ok(all(netlink)?.into_iter().find(|device| device.name == name))
}

/// Waits until the kernel has noticed that each of these devices is up; returns whether it has within
/// `patience`.
///
/// The kernel checks carriers some time after they change, on a busy machine a second later. Until then it
/// drops what is sent by the device, and a bridge does not forward by it.
///
/// # Errors
/// An error of the kernel.
pub fn await_operational(netlink: &mut Netlink, indices: &[u32], patience: Duration) -> io::Result<bool> {
    let since = Instant::now();
    loop {
        let devices = all(netlink)?;
        let is_operational =
            |index| devices.iter().any(|device| device.index == index && device.is_operational);
        if indices.iter().copied().all(is_operational) {
            return Ok(true);
        }
        if since.elapsed() >= patience {
            return Ok(false);
        }
        std::thread::sleep(WAIT_STEP);
    }
}

/// Sets a device up, or down.
///
/// # Errors
/// An error of the kernel.
pub fn set_up(netlink: &mut Netlink, index: u32, up: bool) -> io::Result<()> {
    let mut link = link(index);
    put(&mut link, FLAGS_AT, u32::from(up));
    put(&mut link, FLAGS_CHANGED_AT, UP);
    netlink.change(Message::new(SET_LINK, 0, &link))
}

/// Sets the largest IP packet a device sends, bytes.
///
/// # Errors
/// An error of the kernel.
pub fn set_mtu(netlink: &mut Netlink, index: u32, mtu: u32) -> io::Result<()> {
    netlink.change(Message::new(SET_LINK, 0, &link(index)).attribute(MTU, &mtu.to_ne_bytes()))
}

/// Sets the maximum number of frames waiting for a device.
///
/// # Errors
/// An error of the kernel.
pub fn set_queue_length(netlink: &mut Netlink, index: u32, frames: u32) -> io::Result<()> {
    netlink.change(Message::new(SET_LINK, 0, &link(index)).attribute(QUEUE_LENGTH, &frames.to_ne_bytes()))
}

/// Renames a device, which must be down.
///
/// # Errors
/// An error of the kernel.
pub fn rename(netlink: &mut Netlink, index: u32, name: &str) -> io::Result<()> {
    netlink.change(Message::new(SET_LINK, 0, &link(index)).attribute(NAME, &zero_terminated(name)))
}

/// Makes a device a port of `master`, such as a bridge; `None`: of no device.
///
/// # Errors
/// An error of the kernel.
pub fn set_master(netlink: &mut Netlink, index: u32, master: Option<u32>) -> io::Result<()> {
    let master = master.unwrap_or(0);
    netlink.change(Message::new(SET_LINK, 0, &link(index)).attribute(MASTER, &master.to_ne_bytes()))
}

/// Creates a device that needs only a kind and a name, such as a `bridge` or `dummy`.
///
/// # Errors
/// An error of the kernel.
pub fn create(netlink: &mut Netlink, kind: &str, name: &str) -> io::Result<()> {
    netlink.change(
        Message::new(NEW_LINK, CREATE, &link(0))
            .attribute(NAME, &zero_terminated(name))
            .nested(LINK_INFO, |info| info.attribute(INFO_KIND, kind.as_bytes())),
    )
}

/// Deletes a device; a missing one is no error.
///
/// # Errors
/// An error of the kernel.
pub fn delete(netlink: &mut Netlink, index: u32) -> io::Result<()> {
    match netlink.change(Message::new(DELETE_LINK, 0, &link(index))) {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(()),
        other => other,
    }
}

impl Device {
    /// Reads the body of a message about a link, `struct ifinfomsg` and its attributes.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let attributes = Attributes(body.get(LINK_BYTES..)?);
        let flags = u32::from_ne_bytes(*body.get(8..)?.first_chunk()?);
        let kind = attributes.get(LINK_INFO).and_then(|about| Attributes(about).text(INFO_KIND));
        Some(Self {
            index: u32::from_ne_bytes(*body.get(4..)?.first_chunk()?),
            name: attributes.text(NAME)?.to_owned(),
            mtu: attributes.number(MTU)?,
            is_ethernet: u16::from_ne_bytes(*body.get(2..)?.first_chunk()?) == ETHERNET,
            is_running: flags & RUNNING == RUNNING,
            is_operational: attributes.get(OPERATIONAL_STATE) == Some(&[OPERATIONAL_UP]),
            address: attributes.get(ADDRESS).unwrap_or_default().to_vec(),
            master: attributes.number(MASTER),
            kind: kind.unwrap_or_default().to_owned(),
            link: attributes.number(LINK).filter(|_| attributes.get(LINK_NAMESPACE).is_none()),
        })
    }
}

/// A `struct ifinfomsg` that names a device.
pub(crate) fn link(index: u32) -> [u8; LINK_BYTES] {
    let mut bytes = [0; LINK_BYTES];
    put(&mut bytes, INDEX_AT, index);
    bytes
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(room) = bytes.get_mut(at..at + 4) {
        room.copy_from_slice(&value.to_ne_bytes());
    }
}

pub(crate) fn zero_terminated(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// The interval of checks of a device that is to become operational.
const WAIT_STEP: Duration = Duration::from_millis(5);
/// `struct ifinfomsg`.
pub const LINK_BYTES: usize = 16;
const INDEX_AT: usize = 4;
const FLAGS_AT: usize = 8;
const FLAGS_CHANGED_AT: usize = 12;
/// `IFF_UP`.
const UP: u32 = 0x1;
/// `RTM_NEWLINK`.
pub const NEW_LINK: u16 = 16;
/// `RTM_DELLINK`.
pub const DELETE_LINK: u16 = 17;
const SET_LINK: u16 = 19;
/// `NLM_F_CREATE | NLM_F_EXCL`.
pub(crate) const CREATE: u16 = 0x600;
pub(crate) const LINK_INFO: u16 = 18;
pub(crate) const INFO_KIND: u16 = 1;
pub(crate) const INFO_DATA: u16 = 2;
const MASTER: u16 = 10;
/// `IFLA_LINK` and `IFLA_LINK_NETNSID`.
const LINK: u16 = 5;
const LINK_NAMESPACE: u16 = 37;
/// `IFLA_TXQLEN`.
const QUEUE_LENGTH: u16 = 13;
const GET_LINK: u16 = 18;
/// `IFLA_ADDRESS`.
pub const ADDRESS: u16 = 1;
/// `IFLA_IFNAME`.
pub const NAME: u16 = 3;
/// `IFLA_MTU`.
pub const MTU: u16 = 4;
/// `IFF_UP` and `IFF_LOWER_UP`.
const RUNNING: u32 = 0x1_0001;
/// `IFLA_OPERSTATE`. The flag `IFF_RUNNING` is also set for a device that the kernel has not checked yet.
const OPERATIONAL_STATE: u16 = 16;
/// `IF_OPER_UP`.
const OPERATIONAL_UP: u8 = 6;
/// `ARPHRD_ETHER`.
const ETHERNET: u16 = 1;
