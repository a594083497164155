//! Obstacles to AF_XDP on an interface.

use std::fmt;
use std::io;

use inband_linux::device::Device;
use inband_linux::ethtool;
use inband_linux::netlink::Netlink;
use inband_linux::qdisc::{self, Place, Qdisc};
use inband_linux::tcx::{self, Direction};
use inband_linux::xdp;
use inband_linux::xsk::{CHUNK_BYTES, ROOM_BYTES};

/// Why an interface has no AF_XDP sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It is off in the configuration.
    Off,
    /// A foreign program is on the device.
    Taken,
    /// A foreign AF_XDP socket is on a receive queue.
    Sockets,
    /// The driver runs no programs, or does not redirect frames.
    Driver,
    /// Its frames are longer than the memory's chunks.
    Mtu(u32),
    /// The driver removes VLAN tags and does not report them to programs.
    VlanTags,
    /// Foreign filters are on the device's egress.
    Filters,
    /// The device has a configured queue.
    Queue(String),
    /// The device came back while the switch ran.
    Back,
    /// The kernel refuses the sockets or the program.
    Refused(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("`switch.io`"),
            Self::Taken => f.write_str("there is another program at XDP"),
            Self::Sockets => f.write_str("there is another AF_XDP socket on its queue"),
            Self::Driver => f.write_str("its driver redirects no packets at XDP"),
            Self::Mtu(most) => write!(f, "its MTU is above {most}"),
            Self::VlanTags => f.write_str("its driver takes VLAN tags out (`ethtool -K NAME rxvlan off`)"),
            Self::Filters => f.write_str("filters of others at TC on what it sends"),
            Self::Queue(kind) => write!(f, "its queue is {kind}"),
            Self::Back => f.write_str("it came back while the switch ran"),
            Self::Refused(error) => f.write_str(error),
        }
    }
}

impl Obstacle {
    /// The obstacle of an error: `taken` where another holder has what was asked for.
    pub(super) fn of(error: io::Error, taken: Self) -> Self {
        if error.kind() == io::ErrorKind::ResourceBusy { taken } else { error.into() }
    }
}

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Checks that AF_XDP sockets can be used on the device.
///
/// # Errors
/// The obstacle.
pub(super) fn check(device: &Device) -> Result<(), Obstacle> {
    if device.mtu > MAX_MTU {
        return Err(Obstacle::Mtu(MAX_MTU));
    }
    if !xdp::redirects(device.index).unwrap_or(false) {
        return Err(Obstacle::Driver);
    }
    let tells_tags = || xdp::tells_vlan_tags(device.index).unwrap_or(false);
    if ethtool::takes_vlan_tags_out(&device.name).unwrap_or(true) && !tells_tags() {
        return Err(Obstacle::VlanTags);
    }
    Ok(())
}

/// The kernel's treatment of frames that the engine sends.
#[derive(Debug)]
pub(crate) struct Sending {
    /// `None`: unknown, so there may be filters on every device.
    qdiscs: Option<Vec<Qdisc>>,
}

impl Sending {
    /// Queries the kernel.
    pub(crate) fn look(netlink: &mut Netlink) -> Self {
        Self { qdiscs: qdisc::all(netlink).ok() }
    }

    /// Why the device must not send frames past the kernel's stack; `None`: nothing there has to see them.
    pub(crate) fn obstacle(&self, device: &Device) -> Option<Obstacle> {
        let here = |qdisc: &&Qdisc| qdisc.device == device.index;
        let Some(qdiscs) = &self.qdiscs else { return Some(Obstacle::Filters) };
        let is_filtered = qdiscs.iter().filter(here).any(|qdisc| qdisc.place == Place::Filters);
        if is_filtered || tcx::count(device.index, Direction::Egress).unwrap_or(u32::MAX) > 0 {
            return Some(Obstacle::Filters);
        }
        let is_chosen =
            |qdisc: &&Qdisc| qdisc.place == Place::Root && !qdisc::USUAL.contains(&qdisc.kind.as_str());
        let chosen = qdiscs.iter().filter(here).find(is_chosen)?;
        Some(Obstacle::Queue(chosen.kind.clone()))
    }
}

/// A frame with a VLAN tag, up to 18 bytes longer than this, fits behind its headroom.
const MAX_MTU: u32 = 2_970;
const _: () = assert!(MAX_MTU as usize + 18 + ROOM_BYTES <= CHUNK_BYTES);
