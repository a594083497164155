//! The shim, where the kernel splits packets into segments before INT is inserted.
//!
//! A shim is a bridge without offloads, which packets enter, and its only port, which they leave by as single
//! packets with complete checksums. A bridge hands each packet to its port at once: a packet is in the shim
//! while its sender sends it, so no packet of its flow overtakes it, and the socket continues to account for
//! it. The port is one of a pair of virtual Ethernet devices, because a bridge needs a port with a carrier;
//! nothing arrives at the other one.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use inband_linux::device::{self, ADDRESS, Device, LINK_BYTES, MTU, NAME, NEW_LINK};
use inband_linux::ethtool::{self, Offload};
use inband_linux::netlink::{Message, Netlink};
use inband_linux::veth::{self, End};

use crate::error::HostError;

/// Its devices by interface index; they stay until they are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shim {
    /// The side that packets enter: a bridge.
    pub(crate) near: u32,
    /// The side that packets leave: its port.
    pub(crate) far: u32,
}

/// The names of a shim's devices.
#[derive(Debug)]
struct Names {
    near: String,
    far: String,
    /// The other device of the port's pair.
    end: String,
}

/// The prefix of every shim's MAC addresses, to recognise it by: locally administered, "INB".
const MARK: [u8; 4] = [0x02, b'I', b'N', b'B'];
/// No packet is too large for a shim; the programs check whether it is too large for the device.
const SHIM_MTU: u32 = 65_535;
/// With so small an MTU a device has no IPv6, so that the kernel sends nothing by it.
const END_MTU: u32 = 68;
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
const MULTICAST_SNOOPING: u16 = 23;
const ALIAS: u16 = 20;
const AF_SPEC: u16 = 26;
const AF_INET6: u16 = 10;
const ADDR_GEN_MODE: u16 = 8;
const ADDR_GEN_NONE: u8 = 1;
const UP: u32 = 0x1;
const NO_ARP: u32 = 0x80;

impl Shim {
    /// Creates a shim named `prefix` and the first free numbers, for the device `leads_to`.
    ///
    /// # Errors
    /// An error of the kernel; nothing is left behind then.
    pub(crate) fn create(netlink: &mut Netlink, prefix: &str, leads_to: &str) -> Result<Self, HostError> {
        let fault = |reason| HostError::system(format!("create the shim {prefix}0"), reason);
        let taken = device::all(netlink).map_err(fault)?;
        let is_free = |name: &String| taken.iter().all(|device| device.name != *name);
        let mut names = (0..MAX_SHIMS).map(|number| Names::new(prefix, number));
        let free = names.find(|names| [&names.near, &names.far, &names.end].into_iter().all(is_free));
        let names = free.ok_or_else(|| fault(io::ErrorKind::AlreadyExists.into()))?;
        netlink.change(names.bridge()).map_err(fault)?;
        // A failure to remove what there is already has the same cause, and is found at the next start.
        veth::create(netlink, names.pair()).map_err(|reason| {
            let _ = remove_by_name(netlink, &names.near);
            fault(reason)
        })?;
        Self::set_up(netlink, &names, leads_to).map_err(|reason| {
            let _ = remove_by_name(netlink, &names.near);
            let _ = remove_by_name(netlink, &names.far);
            HostError::system(format!("set up the shim {}", names.near), reason)
        })
    }

    /// Makes the pair a port of the bridge, disables the bridge's offloads and all addresses, and sets all
    /// devices up.
    fn set_up(netlink: &mut Netlink, names: &Names, leads_to: &str) -> io::Result<Self> {
        let all = device::all(netlink)?;
        let index = |name: &str| all.iter().find(|device| device.name == name).map(|device| device.index);
        let indices = (index(&names.near), index(&names.far), index(&names.end));
        let (Some(near), Some(far), Some(end)) = indices else {
            return Err(io::ErrorKind::NotFound.into());
        };
        device::set_master(netlink, far, Some(near))?;
        for offload in [Offload::TcpSegmentation, Offload::Segmentation, Offload::SendChecksum] {
            ethtool::switch_off(&names.near, offload)?;
        }
        let alias = format!("inband: INT for what leaves by {leads_to}");
        for index in [end, far, near] {
            let message =
                Message::new(SET_LINK, 0, &link(index, UP | NO_ARP)).attribute(ALIAS, alias.as_bytes());
            let has_ipv6 = index != end;
            netlink.change(if has_ipv6 { message.nested(AF_SPEC, without_addresses) } else { message })?;
        }
        let shim = Self { near, far };
        shim.await_operational(netlink)?;
        Ok(shim)
    }

    /// Removes its devices; that they are gone is no error.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(crate) fn remove(self, netlink: &mut Netlink) -> io::Result<()> {
        // No more packets enter it before it leads nowhere.
        device::delete(netlink, self.near)?;
        device::delete(netlink, self.far)
    }

    /// Removes the shims named `prefix` that an agent left behind; returns their number.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(crate) fn remove_left(netlink: &mut Netlink, prefix: &str) -> io::Result<usize> {
        let number = |name: &str| name.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
        let all = device::all(netlink)?;
        let sides = all.iter().filter(|device| is_shim(device));
        let mut left: Vec<_> = sides.filter_map(|side| Some((number(&side.name)?, side.index))).collect();
        // A near side has an even number; removing one may remove its far side, too.
        left.sort_unstable();
        for (_, index) in &left {
            device::delete(netlink, *index)?;
        }
        Ok(left.into_iter().map(|(number, _)| number / 2).collect::<BTreeSet<_>>().len())
    }

    /// Waits until the bridge forwards by its port; on a busy machine that takes a while. Where it takes
    /// longer, packets go without INT meanwhile, counted as `shim_down`.
    fn await_operational(self, netlink: &mut Netlink) -> io::Result<()> {
        device::await_operational(netlink, &[self.near, self.far], MAX_WAIT).map(drop)
    }
}

/// Whether `device` is one of a shim's.
pub(crate) fn is_shim(device: &Device) -> bool {
    device.address.starts_with(&MARK)
}

impl Names {
    fn new(prefix: &str, number: u32) -> Self {
        let [near, far] = [0, 1].map(|side| format!("{prefix}{}", 2 * number + side));
        let end = format!("{far}e");
        Self { near, far, end }
    }

    /// The request for the bridge. It neither learns addresses, since nothing arrives, nor queries groups.
    fn bridge(&self) -> Message {
        Message::new(NEW_LINK, CREATE, &link(0, 0))
            .attribute(NAME, &[self.near.as_bytes(), &[0]].concat())
            .attribute(MTU, &SHIM_MTU.to_ne_bytes())
            .attribute(ADDRESS, &address(0))
            .nested(LINK_INFO, |info| {
                info.attribute(INFO_KIND, b"bridge")
                    .nested(INFO_DATA, |data| data.attribute(MULTICAST_SNOOPING, &[0]))
            })
    }

    /// The bridge's port, and the other device of its pair.
    fn pair(&self) -> [End<'_>; 2] {
        let end =
            |name, number, mtu| End { name, namespace: None, address: Some(address(number)), mtu: Some(mtu) };
        [end(&self.far, 1, SHIM_MTU), end(&self.end, 2, END_MTU)]
    }
}

/// The MAC address of one of a shim's devices.
const fn address(number: u8) -> [u8; 6] {
    let [a, b, c, d] = MARK;
    [a, b, c, d, 0, number]
}

/// No IPv6 addresses, which the kernel would announce.
fn without_addresses(spec: Message) -> Message {
    spec.nested(AF_INET6, |inet6| inet6.attribute(ADDR_GEN_MODE, &[ADDR_GEN_NONE]))
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
