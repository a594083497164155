//! Checks of a switch's configuration, made before anything is changed.

use std::net::SocketAddr;

use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_node::config::{
    Datapath, Forwarding, FrameIo, InterfaceConfig, ReportConfig, ReportFilter, SwitchConfig, Xdp,
};

use crate::error::SwitchError;

/// Checks everything that does not depend on the machine.
///
/// # Errors
/// The first setting that is invalid, or not supported by this build.
pub fn check(config: &NodeConfig) -> Result<(), SwitchError> {
    metrics_address(config)?;
    check_datapath(&config.switch)?;
    if config.interfaces.len() < 2 {
        return Err(SwitchError::config(
            "interface",
            "has fewer than two entries: a switch needs at least two",
        ));
    }
    for (at, interface) in config.interfaces.iter().enumerate() {
        check_interface(at, interface)?;
        if config.switch.datapath == Datapath::Kernel && interface.priorities > 1 {
            let what = format!(
                "is {}: queues are for `datapath = \"engine\"`, Linux and the device's qdisc decide here",
                interface.priorities
            );
            return Err(SwitchError::entry("interface.priorities", at, what));
        }
        let id = interface.id;
        if config.interfaces.iter().take(at).any(|earlier| earlier.id == id) {
            return Err(SwitchError::entry("interface.id", at, format!("{id} is given twice")));
        }
        let name = &interface.device;
        if config.interfaces.iter().take(at).any(|earlier| earlier.device == *name) {
            let name = name.as_deref().unwrap_or_default();
            return Err(SwitchError::entry("interface.device", at, format!("`{name}` is given twice")));
        }
    }
    check_statics(config)
}

/// A setting of the other datapath that asks for what this one does not do.
fn check_datapath(switch: &SwitchConfig) -> Result<(), SwitchError> {
    match (switch.datapath, switch.io, switch.xdp) {
        (Datapath::Kernel, FrameIo::AfXdp, _) => Err(SwitchError::config(
            "switch.io",
            "`af-xdp` is for `datapath = \"engine\"`: Linux forwards here",
        )),
        (Datapath::Engine, _, Xdp::Native | Xdp::Generic) => Err(SwitchError::config(
            "switch.xdp",
            "is for `datapath = \"kernel\"`: with `engine` frames arrive as `switch.io` says",
        )),
        _ => Ok(()),
    }
}

/// Where metrics are served; `None`: nowhere.
///
/// # Errors
/// It is not an address and a port.
pub fn metrics_address(config: &NodeConfig) -> Result<Option<SocketAddr>, SwitchError> {
    let text = &config.switch.metrics;
    let mistake = |_| SwitchError::config("switch.metrics", format!("`{text}` is not an address and a port"));
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(mistake) }
}

/// Checks the interface at a position in the file.
fn check_interface(at: usize, interface: &InterfaceConfig) -> Result<(), SwitchError> {
    let id = interface.id;
    if interface.device.is_none() {
        return Err(SwitchError::entry("interface", at, format!("{id} has no `device`")));
    }
    if !(1..=8).contains(&interface.priorities) {
        let what = format!("is {} for interface {id}, expected 1 to 8", interface.priorities);
        return Err(SwitchError::entry("interface.priorities", at, what));
    }
    if interface.queue_bytes < MIN_QUEUE_BYTES {
        let what =
            format!("is {} for interface {id}, expected at least {MIN_QUEUE_BYTES}", interface.queue_bytes);
        return Err(SwitchError::entry("interface.queue_bytes", at, what));
    }
    Ok(())
}

fn check_statics(config: &NodeConfig) -> Result<(), SwitchError> {
    for (at, entry) in config.statics.iter().enumerate() {
        if entry.interfaces.is_empty() {
            return Err(SwitchError::entry("static.interfaces", at, "names no interface"));
        }
        let unknown = |id: &&u16| !config.interfaces.iter().any(|interface| interface.id == **id);
        if let Some(id) = entry.interfaces.iter().find(unknown) {
            return Err(SwitchError::entry(
                "static.interfaces",
                at,
                format!("names {id}, which is no interface"),
            ));
        }
    }
    if config.switch.datapath == Datapath::Kernel {
        return match config.statics.is_empty() && config.switch.forwarding != Forwarding::Static {
            true => Ok(()),
            false => Err(SwitchError::config(
                "switch.forwarding",
                "`static` is for `datapath = \"engine\"`: Linux forwards here",
            )),
        };
    }
    match config.switch.forwarding {
        Forwarding::Static if config.statics.is_empty() => {
            Err(SwitchError::config("switch.forwarding", "`static` needs [[static]]"))
        }
        Forwarding::Learn | Forwarding::Routes if !config.statics.is_empty() => {
            Err(SwitchError::config("static", "is for `switch.forwarding = \"static\"`"))
        }
        _ => Ok(()),
    }
}

/// The devices of the interfaces, in their order.
///
/// # Errors
/// A device that does not exist, or cannot belong to a switch.
pub(crate) fn devices(config: &NodeConfig, netlink: &mut Netlink) -> Result<Vec<Device>, SwitchError> {
    let all = device::all(netlink).map_err(SwitchError::system("list the devices"))?;
    let find = |(at, interface): (usize, &InterfaceConfig)| {
        let name = interface.device.as_deref().unwrap_or_default();
        let mistake = |what: String| Err(SwitchError::entry("interface.device", at, what));
        let Some(device) = all.iter().find(|device| device.name == name) else {
            return mistake(format!("`{name}` is no device in this network namespace"));
        };
        check_ethernet(at, device)?;
        if interface.mtu > device.mtu {
            let (mtu, most) = (interface.mtu, device.mtu);
            let id = interface.id;
            let what = format!("is {mtu} for interface {id}, expected at most {most}, that of `{name}`");
            return Err(SwitchError::entry("interface.mtu", at, what));
        }
        Ok(device.clone())
    };
    config.interfaces.iter().enumerate().map(find).collect()
}

/// Checks that a device, that of the interface at a position in the file, has Ethernet frames.
///
/// # Errors
/// It has others.
pub(crate) fn check_ethernet(at: usize, device: &Device) -> Result<(), SwitchError> {
    if device.is_ethernet && device.address.len() == 6 {
        return Ok(());
    }
    let what = format!("`{}` has frames that are not those of Ethernet", device.name);
    Err(SwitchError::entry("interface.device", at, what))
}

/// Checks that no other device forwards what `devices`, in the order of the file, receive.
///
/// # Errors
/// A device that is a port of a bridge.
pub(crate) fn check_unbound(devices: &[Device]) -> Result<(), SwitchError> {
    match devices.iter().enumerate().find(|(_, device)| device.master.is_some()) {
        Some((at, Device { name, .. })) => {
            let what = format!("`{name}` is a port of another device, which would forward as well");
            Err(SwitchError::entry("interface.device", at, what))
        }
        None => Ok(()),
    }
}

/// Checks that a running switch can replace `old` by `new`.
///
/// # Errors
/// The first setting that cannot change while a switch runs.
pub(crate) fn check_reload(old: &NodeConfig, new: &NodeConfig) -> Result<(), SwitchError> {
    let what = "cannot change while the switch runs; start it anew";
    let same = |key: &'static str, is_same: bool| {
        if is_same { Ok(()) } else { Err(SwitchError::config(key, what)) }
    };
    same("node.id", old.node.id == new.node.id)?;
    let switch = changed(switch_settings(&old.switch), switch_settings(&new.switch));
    switch.map_or(Ok(()), |key| same(key, false))?;
    same("interface", old.interfaces.len() == new.interfaces.len())?;
    for (at, (old, new)) in old.interfaces.iter().zip(&new.interfaces).enumerate() {
        if let Some(key) = changed(interface_settings(old), interface_settings(new)) {
            return Err(SwitchError::entry(key, at, what));
        }
    }
    changed(settings(old), settings(new)).map_or(Ok(()), |key| same(key, false))
}

/// The key of the first setting that differs.
fn changed<const N: usize>(old: [Setting; N], new: [Setting; N]) -> Option<&'static str> {
    old.into_iter().zip(new).find(|((_, old), (_, new))| old != new).map(|((key, _), _)| key)
}

/// A setting that cannot change while a switch runs: its key, and its value as text to be compared.
type Setting = (&'static str, String);

fn switch_settings(config: &SwitchConfig) -> [Setting; 5] {
    let SwitchConfig { datapath, forwarding, io, xdp, metrics } = config;
    [
        ("switch.datapath", format!("{datapath:?}")),
        ("switch.forwarding", format!("{forwarding:?}")),
        ("switch.io", format!("{io:?}")),
        ("switch.xdp", format!("{xdp:?}")),
        ("switch.metrics", metrics.clone()),
    ]
}

fn interface_settings(config: &InterfaceConfig) -> [Setting; 7] {
    // The rate and the capacity of queues can change.
    let InterfaceConfig { id, level2_id, device, edge, accept_int, mtu, rate: _, queue_bytes: _, priorities } =
        config;
    [
        ("interface.id", id.to_string()),
        ("interface.device", format!("{device:?}")),
        ("interface.level2_id", level2_id.to_string()),
        ("interface.edge", edge.to_string()),
        ("interface.accept_int", format!("{accept_int:?}")),
        ("interface.mtu", mtu.to_string()),
        ("interface.priorities", priorities.to_string()),
    ]
}

fn settings(config: &NodeConfig) -> [Setting; 8] {
    let NodeConfig { node, encapsulation, source, probes, domains, sink, mtu, checksum, loss, .. } = config;
    // The filter can change, as its thresholds in [smart] can.
    let report = ReportConfig { filter: ReportFilter::None, ..config.report.clone() };
    [
        ("node", format!("{node:?}")),
        ("encapsulation", format!("{encapsulation:?}")),
        ("source", format!("{source:?} {probes:?}")),
        ("domain", format!("{domains:?}")),
        ("sink", format!("{sink:?} {loss:?}")),
        ("mtu", format!("{mtu:?}")),
        ("checksum", format!("{checksum:?}")),
        ("report", format!("{report:?}")),
    ]
}

/// The minimum size for one frame.
const MIN_QUEUE_BYTES: u32 = 1_600;

#[cfg(test)]
mod tests;
