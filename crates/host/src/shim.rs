//! The shim, where the kernel splits packets into segments before INT is inserted.
//!
//! A shim is a pair of virtual Ethernet devices. Packets sent into its near side, which offers no offloads,
//! leave the far side as single packets with complete checksums.

use std::io;
use std::time::Duration;

use inband_linux::device::{self, ADDRESS, Device, LINK_BYTES, MTU, NAME, NEW_LINK};
use inband_linux::ethtool::{self, Offload};
use inband_linux::netlink::{Message, Netlink};

use crate::error::HostError;

/// A pair of devices; it stays until it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shim {
    /// Interface index of the side that packets enter.
    pub(crate) near: u32,
    /// Interface index of the side that packets leave.
    pub(crate) far: u32,
    /// The name of the near side.
    pub(crate) name: String,
}

/// The prefix of every shim's MAC address, to recognise it by: locally administered, "INB".
const MARK: [u8; 4] = [0x02, b'I', b'N', b'B'];
/// No packet is too large for a shim; the programs check whether it is too large for the device.
const SHIM_MTU: u32 = 65_535;
/// Maximum number of shim names tried to find a free one.
const MAX_SHIMS: u32 = 4096;
/// Maximum wait for a new shim.
const MAX_WAIT: Duration = Duration::from_secs(5);

const SET_LINK: u16 = 19;
const DELETE_LINK: u16 = 17;
/// `NLM_F_CREATE | NLM_F_EXCL`.
const CREATE: u16 = 0x600;
const LINK_INFO: u16 = 18;
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;
const VETH_PEER: u16 = 1;
const ALIAS: u16 = 20;
const AF_SPEC: u16 = 26;
const AF_INET6: u16 = 10;
const ADDR_GEN_MODE: u16 = 8;
const ADDR_GEN_NONE: u8 = 1;
const UP: u32 = 0x1;
const NO_ARP: u32 = 0x80;

impl Shim {
    /// Creates a shim of two devices named `prefix` and the first free number, for the device `leads_to`.
    ///
    /// # Errors
    /// An error of the kernel; nothing is left behind then.
    pub(crate) fn create(netlink: &mut Netlink, prefix: &str, leads_to: &str) -> Result<Self, HostError> {
        let fault = |reason| HostError::system(format!("create the shim {prefix}0"), reason);
        let taken = device::all(netlink).map_err(fault)?;
        let is_free = |name: &String| taken.iter().all(|device| device.name != *name);
        let pairs = (0..MAX_SHIMS).map(|pair| [0, 1].map(|side| format!("{prefix}{}", 2 * pair + side)));
        let free = pairs.into_iter().find(|names| names.iter().all(is_free));
        let [near, far] = free.ok_or_else(|| fault(io::ErrorKind::AlreadyExists.into()))?;
        netlink.change(pair(&near, &far)).map_err(fault)?;
        let made = Self::find(netlink, &near, &far).and_then(|shim| {
            shim.set_up(netlink, leads_to)?;
            Ok(shim)
        });
        made.map_err(|reason| {
            // A failure to remove it has the same cause, and is found at the next start.
            let _ = remove_by_name(netlink, &near);
            HostError::system(format!("set up the shim {near}"), reason)
        })
    }

    /// Removes both sides; that they are gone is no error.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(crate) fn remove(&self, netlink: &mut Netlink) -> io::Result<()> {
        remove(netlink, self.near)
    }

    /// Removes the shims named `prefix` that an agent left behind; returns their number.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(crate) fn remove_left(netlink: &mut Netlink, prefix: &str) -> io::Result<usize> {
        let number = |name: &str| name.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
        let is_near = |name: &str| number(name).is_some_and(|number| number % 2 == 0);
        let all = device::all(netlink)?;
        let left = all.iter().filter(|device| is_shim(device) && is_near(&device.name));
        let mut removed = 0;
        for device in left {
            remove_by_name(netlink, &device.name)?;
            removed += 1;
        }
        Ok(removed)
    }

    fn find(netlink: &mut Netlink, near: &str, far: &str) -> io::Result<Self> {
        let all = device::all(netlink)?;
        let index = |name| all.iter().find(|device| device.name == name).map(|device| device.index);
        let (Some(near_index), Some(far_index)) = (index(near), index(far)) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        Ok(Self { near: near_index, far: far_index, name: near.to_owned() })
    }

    /// Disables offloads on the near side and addresses on both, and sets both up.
    fn set_up(&self, netlink: &mut Netlink, leads_to: &str) -> io::Result<()> {
        for offload in [Offload::TcpSegmentation, Offload::Segmentation, Offload::SendChecksum] {
            ethtool::switch_off(&self.name, offload)?;
        }
        let alias = format!("inband: INT for what leaves by {leads_to}");
        for side in [self.near, self.far] {
            let message = Message::new(SET_LINK, 0, &link(side, UP | NO_ARP))
                .attribute(ALIAS, alias.as_bytes())
                .nested(AF_SPEC, |spec| {
                    spec.nested(AF_INET6, |inet6| inet6.attribute(ADDR_GEN_MODE, &[ADDR_GEN_NONE]))
                });
            netlink.change(message)?;
        }
        self.await_operational(netlink)
    }

    /// Waits until the kernel accepts packets on the near side; on a busy machine that takes a while. Where
    /// it takes longer, packets go without INT meanwhile, counted as `shim_down`.
    fn await_operational(&self, netlink: &mut Netlink) -> io::Result<()> {
        if !device::await_operational(netlink, &[self.near], MAX_WAIT)? {
            return Ok(());
        }
        // The kernel starts its queue next, under a lock that every change waits for.
        netlink.change(Message::new(SET_LINK, 0, &link(self.near, UP | NO_ARP)))
    }
}

/// Whether `device` is one side of a shim.
pub(crate) fn is_shim(device: &Device) -> bool {
    device.address.starts_with(&MARK)
}

/// Removes the shim whose near side has the interface index `near`; that it is gone is no error.
///
/// # Errors
/// An error of the kernel.
pub(crate) fn remove(netlink: &mut Netlink, near: u32) -> io::Result<()> {
    match netlink.change(Message::new(DELETE_LINK, 0, &link(near, 0))) {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(()),
        other => other,
    }
}

/// The request for a pair of devices.
fn pair(near: &str, far: &str) -> Message {
    let [a, b, c, d] = MARK;
    let side = |message: Message, name: &str, number: u8| {
        message
            .attribute(NAME, &[name.as_bytes(), &[0]].concat())
            .attribute(MTU, &SHIM_MTU.to_ne_bytes())
            .attribute(ADDRESS, &[a, b, c, d, 0, number])
    };
    side(Message::new(NEW_LINK, CREATE, &link(0, 0)), near, 0).nested(LINK_INFO, |info| {
        info.attribute(INFO_KIND, b"veth")
            .nested(INFO_DATA, |data| data.nested(VETH_PEER, |peer| side(peer.bytes(&link(0, 0)), far, 1)))
    })
}

fn remove_by_name(netlink: &mut Netlink, name: &str) -> io::Result<()> {
    netlink
        .change(Message::new(DELETE_LINK, 0, &link(0, 0)).attribute(NAME, &[name.as_bytes(), &[0]].concat()))
}

/// `struct ifinfomsg` of a device, with flags to set.
fn link(index: u32, flags: u32) -> [u8; LINK_BYTES] {
    let mut bytes = [0; LINK_BYTES];
    for (at, value) in [(4, index), (8, flags), (12, flags)] {
        if let Some(room) = bytes.get_mut(at..at + 4) {
            room.copy_from_slice(&value.to_ne_bytes());
        }
    }
    bytes
}
