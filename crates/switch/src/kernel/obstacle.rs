//! Obstacles to bypassing the kernel's stack: something there has to see the packets.

use std::fmt;
use std::fs;
use std::io;

use inband_linux::device::Device;
use inband_linux::netlink::Netlink;
use inband_linux::qdisc::{self, Place, Qdisc};
use inband_linux::tcx::{self, Direction};
use inband_linux::{ipsec, netfilter};
use inband_node::config::{InterfaceConfig, Xdp};

use super::abi::leaves_int_to_engine;

/// Why packets do not bypass the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// It is off in the configuration.
    Off,
    /// The engine does all INT of the interface.
    Edge,
    /// The device is a port of another one.
    Port,
    /// Other devices receive packets from the device.
    Below(String),
    /// There are netfilter rules.
    Netfilter,
    /// There are IPsec policies.
    Ipsec,
    /// Source addresses are checked against routes (reverse path filter).
    ReversePath,
    /// The choice between equal paths depends on fields that the program does not read.
    PathHash,
    /// Foreign filters are on the device.
    Filters,
    /// The device has a configured queue.
    Queue(String),
    /// The device does not send redirected packets.
    TakesNone,
    /// The kernel refused to attach the program.
    Refused(String),
    /// There is no interface that packets could leave by.
    NoWay,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("`switch.xdp`"),
            Self::Edge => f.write_str("the engine does its INT"),
            Self::Port => f.write_str("port of another device"),
            Self::Below(name) => write!(f, "{name} is above it"),
            Self::Netfilter => f.write_str("tables of netfilter"),
            Self::Ipsec => f.write_str("policies of IPsec"),
            Self::ReversePath => f.write_str("rp_filter is on"),
            Self::PathHash => f.write_str("fib_multipath_hash_policy is above 1"),
            Self::Filters => f.write_str("filters of others at TC"),
            Self::Queue(kind) => write!(f, "its queue is {kind}"),
            Self::TakesNone => f.write_str("its driver takes no packets from XDP"),
            Self::Refused(error) => write!(f, "{error}"),
            Self::NoWay => f.write_str("no interface to leave by"),
        }
    }
}

/// The kernel's treatment of packets.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    devices: &'a [Device],
    /// Whether the configuration demands bypassing the stack even where something there would see packets.
    is_demanded: bool,
    /// `None`: unknown, so there may be filters on every device.
    qdiscs: Option<Vec<Qdisc>>,
    /// An obstacle on all interfaces.
    everywhere: Option<Obstacle>,
}

impl<'a> Facts<'a> {
    /// Queries the kernel. Failed queries count as obstacles.
    pub(super) fn gather(mode: Xdp, netlink: &mut Netlink, devices: &'a [Device]) -> Self {
        let is_demanded = mode != Xdp::Auto;
        let everywhere = if is_demanded {
            None
        } else if netfilter::has_tables().unwrap_or(true) {
            Some(Obstacle::Netfilter)
        } else if ipsec::has_policies().unwrap_or(true) {
            Some(Obstacle::Ipsec)
        } else if ["ipv4", "ipv6"].iter().any(|ip| exceeds(&format!("{ip}/fib_multipath_hash_policy"), 1)) {
            Some(Obstacle::PathHash)
        } else {
            None
        };
        Self { devices, is_demanded, qdiscs: qdisc::all(netlink).ok(), everywhere }
    }

    /// Why packets that bypass the stack neither arrive nor leave by the interface.
    pub(super) fn against(&self, interface: &InterfaceConfig, index: u32) -> Option<Obstacle> {
        let device = self.devices.iter().find(|device| device.index == index)?;
        if leaves_int_to_engine(interface) {
            return Some(Obstacle::Edge);
        }
        if device.master.is_some() {
            return Some(Obstacle::Port);
        }
        let is_above = |other: &&Device| {
            other.link == Some(device.index) && DEVICES_ABOVE.contains(&other.kind.as_str())
        };
        if let Some(above) = self.devices.iter().find(is_above) {
            return Some(Obstacle::Below(above.name.clone()));
        }
        if self.is_demanded {
            return None;
        }
        if let Some(everywhere) = &self.everywhere {
            return Some(everywhere.clone());
        }
        let is_checked = |name: &str| exceeds(&format!("ipv4/conf/{name}/rp_filter"), 0);
        if is_checked("all") || is_checked(&device.name) {
            return Some(Obstacle::ReversePath);
        }
        self.has_filters(device.index).then_some(Obstacle::Filters)
    }

    /// Why packets that may arrive by the interface do not leave by it.
    pub(super) fn against_leaving(&self, index: u32) -> Option<Obstacle> {
        let device = self.devices.iter().find(|device| device.index == index)?;
        let is_chosen = |qdisc: &&Qdisc| {
            qdisc.device == device.index
                && qdisc.place == Place::Root
                && !qdisc::USUAL.contains(&qdisc.kind.as_str())
        };
        if self.is_demanded {
            return None;
        }
        let Some(qdiscs) = &self.qdiscs else { return Some(Obstacle::Filters) };
        qdiscs.iter().find(is_chosen).map(|chosen| Obstacle::Queue(chosen.kind.clone()))
    }

    /// Whether there are filters on the device besides the switch's own, one program in each direction.
    fn has_filters(&self, device: u32) -> bool {
        let is_filtered = |qdisc: &Qdisc| qdisc.device == device && qdisc.place == Place::Filters;
        let others = |direction| tcx::count(device, direction).unwrap_or(u32::MAX) > 1;
        self.qdiscs.as_ref().is_none_or(|qdiscs| qdiscs.iter().any(is_filtered))
            || others(Direction::Ingress)
            || others(Direction::Egress)
    }
}

/// Whether a network setting of the kernel in this thread's namespace is above `most`, or cannot be read; a
/// missing one is off.
fn exceeds(path: &str, most: u32) -> bool {
    match fs::read_to_string(format!("/proc/sys/net/{path}")) {
        Ok(text) => text.trim().parse::<u32>().map_or(true, |value| value > most),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Kinds of devices that receive packets from another one.
const DEVICES_ABOVE: [&str; 5] = ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"];

#[cfg(test)]
mod tests;
