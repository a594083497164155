//! Programs that see received packets before the kernel's stack.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::bpf::XDP;
use crate::netlink::{Attributes, Message, Netlink};
use crate::tcx;

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum XdpMode {
    /// In the kernel, on packets that the driver has received, `XDP_FLAGS_SKB_MODE`.
    Generic = 1 << 1,
    /// In the driver, `XDP_FLAGS_DRV_MODE`.
    Native = 1 << 2,
}

/// Attaches `program` to the interface until the link is closed.
///
/// # Errors
/// An error of the kernel: that there is a program already, or that the driver runs none.
pub fn attach(program: BorrowedFd<'_>, interface: u32, mode: XdpMode) -> io::Result<OwnedFd> {
    tcx::create_link(program, interface, XDP, mode as u32)
}

/// Whether a device sends packets that programs on other devices redirect to it; `false` if unknown.
///
/// # Errors
/// An error of the kernel.
pub fn takes_redirected(interface: u32) -> io::Result<bool> {
    Ok(about(interface)?.features & SENDS_REDIRECTED != 0)
}

/// Whether the driver can redirect packets for programs. `false` also where this is unknown.
///
/// # Errors
/// An error of the kernel.
pub fn redirects(interface: u32) -> io::Result<bool> {
    Ok(about(interface)?.features & REDIRECTS != 0)
}

/// Whether programs can query the driver for a VLAN tag that it has removed from a frame.
///
/// # Errors
/// An error of the kernel.
pub fn tells_vlan_tags(interface: u32) -> io::Result<bool> {
    Ok(about(interface)?.metadata & VLAN_TAG != 0)
}

/// The XDP features of a device.
#[derive(Debug, Default)]
struct About {
    features: u32,
    /// The metadata that programs can query.
    metadata: u32,
}

fn about(interface: u32) -> io::Result<About> {
    let mut netlink = Netlink::open_generic()?;
    let mut about = About::default();
    let Some(family) = family(&mut netlink)? else { return Ok(about) };
    let question = Message::new(family, 0, &[GET_DEVICE, 1, 0, 0]);
    netlink.query(question.attribute(DEVICE, &interface.to_ne_bytes()), |_, body| {
        let attributes = Attributes(body.get(GENERIC_BYTES..).unwrap_or_default());
        // Both have 64 bits, of which the lower half is enough.
        let low = |kind| {
            let bytes: Option<&[u8; 8]> = attributes.get(kind).and_then(|value| value.first_chunk());
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes) & u64::from(u32::MAX))
        };
        about.features = u32::try_from(low(FEATURES)).unwrap_or_default();
        about.metadata = u32::try_from(low(METADATA)).unwrap_or_default();
    })?;
    Ok(about)
}

/// The number of the kernel's netlink family `netdev`; `None`: missing.
fn family(netlink: &mut Netlink) -> io::Result<Option<u16>> {
    let mut family = None;
    let question = Message::new(CONTROL, 0, &[GET_FAMILY, 1, 0, 0]).attribute(FAMILY_NAME, b"netdev\0");
    let asked = netlink.query(question, |_, body| {
        let attributes = Attributes(body.get(GENERIC_BYTES..).unwrap_or_default());
        let number = attributes.get(FAMILY_ID).and_then(|id| id.first_chunk());
        family = number.map(|id| u16::from_ne_bytes(*id));
    });
    match asked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        asked => asked.map(|()| family),
    }
}

/// `struct genlmsghdr`.
const GENERIC_BYTES: usize = 4;
/// `GENL_ID_CTRL`, `CTRL_CMD_GETFAMILY`, `CTRL_ATTR_FAMILY_ID`, `CTRL_ATTR_FAMILY_NAME`.
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// `NETDEV_CMD_DEV_GET`, `NETDEV_A_DEV_IFINDEX`, `NETDEV_A_DEV_XDP_FEATURES`, `NETDEV_A_DEV_XDP_RX_METADATA_FEATURES`.
const GET_DEVICE: u8 = 1;
const DEVICE: u16 = 1;
const FEATURES: u16 = 3;
const METADATA: u16 = 5;
/// `NETDEV_XDP_RX_METADATA_VLAN_TAG`, `NETDEV_XDP_ACT_REDIRECT`, `NETDEV_XDP_ACT_NDO_XMIT`.
const VLAN_TAG: u32 = 1 << 2;
const REDIRECTS: u32 = 1 << 1;
const SENDS_REDIRECTED: u32 = 1 << 2;
