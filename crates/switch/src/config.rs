//! Checks of a switch's configuration, made before anything is changed.

use std::net::SocketAddr;

use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_node::config::{Datapath, Forwarding, FrameIo, InterfaceConfig, Rate, ReportConfig, ReportFilter};

use crate::error::SwitchError;

/// Checks everything that does not depend on the machine.
///
/// # Errors
/// The first setting that is invalid, or not supported by this build.
pub fn check(config: &NodeConfig) -> Result<(), SwitchError> {
    metrics_address(config)?;
    if config.switch.datapath == Datapath::Kernel && config.switch.io == FrameIo::AfXdp {
        return Err(SwitchError::config(
            "switch.io",
            "`af-xdp` is for `datapath = \"engine\"`: Linux forwards here",
        ));
    }
    if config.interfaces.len() < 2 {
        return Err(SwitchError::config("interface", "a switch needs at least two of [[interface]]"));
    }
    for (at, interface) in config.interfaces.iter().enumerate() {
        check_interface(interface)?;
        if config.switch.datapath == Datapath::Kernel && interface.priorities > 1 {
            return Err(SwitchError::config(
                "interface.priorities",
                "queues are for `datapath = \"engine\"`: Linux and the device's qdisc decide here",
            ));
        }
        let name = &interface.device;
        if config.interfaces.iter().take(at).any(|earlier| earlier.device == *name) {
            let name = name.as_deref().unwrap_or_default();
            return Err(SwitchError::config("interface.device", format!("`{name}` is given twice")));
        }
    }
    check_statics(config)
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

fn check_interface(interface: &InterfaceConfig) -> Result<(), SwitchError> {
    let id = interface.id;
    if interface.device.is_none() {
        return Err(SwitchError::config("interface", format!("interface {id} has no `device`")));
    }
    if !(1..=8).contains(&interface.priorities) {
        let what = format!("{} of interface {id} is not from 1 to 8", interface.priorities);
        return Err(SwitchError::config("interface.priorities", what));
    }
    if interface.queue_bytes < MIN_QUEUE_BYTES {
        let what = format!("{} of interface {id} is less than {MIN_QUEUE_BYTES}", interface.queue_bytes);
        return Err(SwitchError::config("interface.queue_bytes", what));
    }
    Ok(())
}

fn check_statics(config: &NodeConfig) -> Result<(), SwitchError> {
    for entry in &config.statics {
        if entry.interfaces.is_empty() {
            return Err(SwitchError::config("static.interfaces", "names no interface"));
        }
        let unknown = |id: &&u16| !config.interfaces.iter().any(|interface| interface.id == **id);
        if let Some(id) = entry.interfaces.iter().find(unknown) {
            return Err(SwitchError::config("static.interfaces", format!("there is no interface {id}")));
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
    let find = |interface: &InterfaceConfig| {
        let name = interface.device.as_deref().unwrap_or_default();
        let mistake = |what: String| Err(SwitchError::config("interface.device", what));
        let Some(device) = all.iter().find(|device| device.name == name) else {
            return mistake(format!("there is no device `{name}` in this network namespace"));
        };
        if !device.is_ethernet || device.address.len() != 6 {
            return mistake(format!("the frames of `{name}` are not those of Ethernet"));
        }
        if interface.mtu > device.mtu {
            let (mtu, most) = (interface.mtu, device.mtu);
            let what = format!("{mtu} of interface {} is more than the {most} of `{name}`", interface.id);
            return Err(SwitchError::config("interface.mtu", what));
        }
        Ok(device.clone())
    };
    config.interfaces.iter().map(find).collect()
}

/// Checks that no other device forwards what `devices` receive.
///
/// # Errors
/// A device that is a port of a bridge.
pub(crate) fn check_unbound(devices: &[Device]) -> Result<(), SwitchError> {
    match devices.iter().find(|device| device.master.is_some()) {
        Some(Device { name, .. }) => {
            let what = format!("`{name}` is a port of another device, which would forward as well");
            Err(SwitchError::config("interface.device", what))
        }
        None => Ok(()),
    }
}

/// Checks that a running switch can replace `old` by `new`.
///
/// # Errors
/// The first setting that cannot change while a switch runs.
pub(crate) fn check_reload(old: &NodeConfig, new: &NodeConfig) -> Result<(), SwitchError> {
    let same = |key: &'static str, is_same: bool| {
        let what = "cannot change while the switch runs; start it anew";
        if is_same { Ok(()) } else { Err(SwitchError::config(key, what)) }
    };
    same("node.id", old.node.id == new.node.id)?;
    same("switch.datapath", old.switch.datapath == new.switch.datapath)?;
    same("switch.forwarding", old.switch.forwarding == new.switch.forwarding)?;
    let mut pairs = fixed(old).into_iter().zip(fixed(new));
    pairs.try_for_each(|((key, old), (_, new))| same(key, old == new))
}

/// The remaining settings that cannot change while a switch runs, as text to be compared.
fn fixed(config: &NodeConfig) -> [(&'static str, String); 10] {
    let NodeConfig {
        node, encapsulation, source, probes, domains, sink, mtu, checksum, loss, switch, ..
    } = config;
    // The filter can change, as its thresholds in [smart] can.
    let report = ReportConfig { filter: ReportFilter::None, ..config.report.clone() };
    // So can the rates of interfaces and the capacity of their queues.
    let unchanging =
        |port: &InterfaceConfig| InterfaceConfig { rate: Rate(0), queue_bytes: 0, ..port.clone() };
    let interfaces: Vec<_> = config.interfaces.iter().map(unchanging).collect();
    [
        ("interface", format!("{interfaces:?}")),
        ("node", format!("{node:?}")),
        ("encapsulation", format!("{encapsulation:?}")),
        ("source", format!("{source:?} {probes:?}")),
        ("domain", format!("{domains:?}")),
        ("sink", format!("{sink:?} {loss:?}")),
        ("mtu", format!("{mtu:?}")),
        ("checksum", format!("{checksum:?}")),
        ("report", format!("{report:?}")),
        ("switch", format!("{switch:?}")),
    ]
}

/// The minimum size for one frame.
const MIN_QUEUE_BYTES: u32 = 1_600;

#[cfg(test)]
mod tests;
