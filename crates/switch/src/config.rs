//! What a switch checks in its configuration before it touches anything.

use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_node::config::{Datapath, Forwarding, FrameIo, InterfaceConfig};

use crate::error::SwitchError;

/// Checks what can be checked without looking at the machine.
///
/// # Errors
/// The first setting that is wrong, or is not part of this build.
pub(crate) fn check(config: &NodeConfig) -> Result<(), SwitchError> {
    if config.switch.datapath == Datapath::Kernel {
        return Err(SwitchError::config(
            "switch.datapath",
            "`kernel`, also the default, is not part of this build; `datapath = \"engine\"` is",
        ));
    }
    if config.switch.io == FrameIo::AfXdp {
        return Err(SwitchError::config(
            "switch.io",
            "`af-xdp` is not part of this build; `af-packet` is, and what `auto` selects",
        ));
    }
    if config.interfaces.len() < 2 {
        return Err(SwitchError::config("interface", "a switch needs at least two of [[interface]]"));
    }
    for (at, interface) in config.interfaces.iter().enumerate() {
        check_interface(interface)?;
        let name = &interface.device;
        if config.interfaces.iter().take(at).any(|earlier| earlier.device == *name) {
            let name = name.as_deref().unwrap_or_default();
            return Err(SwitchError::config("interface.device", format!("`{name}` is given twice")));
        }
    }
    check_statics(config)
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
/// One that is not there, or cannot be a switch's.
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
        if device.master.is_some() {
            return mistake(format!("`{name}` is a port of another device, which would forward as well"));
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

/// What one frame needs at least.
const MIN_QUEUE_BYTES: u32 = 1_600;
