//! The agent's plan: what follows from the settings and the devices.

use inband_linux::clock::Offset;
use inband_linux::device::Device;
use inband_node::NodeConfig;
use inband_node::config::{IntVersion, InterfaceConfig};

use crate::config::HostInt;
use crate::coverage::Coverage;
use crate::error::HostError;
use crate::pattern;
use crate::settings::HostSettings;
use crate::shim::is_shim;

/// The settings, applied to the devices that they select.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The engine's configuration; its interfaces are the host itself and every device.
    pub(crate) node: NodeConfig,
    /// The devices and their interface identifiers.
    pub(crate) devices: Vec<(Device, u16)>,
    /// The prefix of the names of shims.
    pub(crate) shim: String,
    /// Interface identifier of the host itself.
    pub(crate) host_interface: u16,
    pub(crate) clock_offset: Offset,
    interval_us: u32,
    room: u32,
    coverage: Coverage,
}

impl Plan {
    /// Finds the devices that `settings` select among `all`.
    ///
    /// # Errors
    /// A device without Ethernet frames, or with the identifier of another one.
    pub(crate) fn new(
        settings: &HostSettings,
        all: &[Device],
        clock_offset: Offset,
    ) -> Result<Self, HostError> {
        let host = &settings.host;
        let is_meant = |device: &&Device| {
            host.devices.iter().any(|pattern| pattern::matches(pattern, &device.name)) && !is_shim(device)
        };
        let mut interfaces = vec![InterfaceConfig {
            edge: true,
            accept_int: Some(true),
            mtu: u32::MAX,
            ..InterfaceConfig::new(host.interface)
        }];
        let mut devices = Vec::new();
        for device in all.iter().filter(is_meant) {
            if !device.is_ethernet {
                return Err(unsupported("host.devices", &device.name, "devices with frames of Ethernet"));
            }
            let interface = interface(settings, device)?;
            if interfaces.iter().any(|other| other.id == interface.id) {
                let instead = "an identifier that no other interface has, in [[interface]]";
                return Err(unsupported("interface.id", &interface.id.to_string(), instead));
            }
            devices.push((device.clone(), interface.id));
            interfaces.push(interface);
        }
        let node = settings.node(interfaces);
        let room = match host.room_hops {
            0 => 0,
            hops => HostInt::room_for(&node, hops),
        };
        let (shim, host_interface) = (host.shim.clone(), host.interface);
        let (interval_us, coverage) = (host.interval_us, host.coverage);
        Ok(Self { node, devices, shim, host_interface, clock_offset, interval_us, room, coverage })
    }

    /// The INT settings of the device with interface identifier `egress`.
    pub(crate) fn host(&self, egress: u16) -> HostInt {
        // host-int-0.5/packet-10: a host has one port, the device.
        let is_host_int = self.node.int_version() == IntVersion::Host0_5;
        HostInt {
            node: self.node.clone(),
            ingress: if is_host_int { egress } else { self.host_interface },
            egress,
            clock_offset: self.clock_offset.ns,
            interval_us: self.interval_us,
            room: self.room,
            coverage: self.coverage,
            egress_utilization: None,
        }
    }
}

/// The configured interface of `device`, or one with its index; its MTU is at most the device's.
fn interface(settings: &HostSettings, device: &Device) -> Result<InterfaceConfig, HostError> {
    let is_it = |interface: &&InterfaceConfig| interface.device.as_deref() == Some(&device.name);
    if let Some(interface) = settings.interfaces.iter().find(is_it) {
        return Ok(InterfaceConfig { edge: false, mtu: device.mtu, ..interface.clone() });
    }
    let Ok(id) = u16::try_from(device.index) else {
        let instead = "an identifier for it, in [[interface]]";
        return Err(unsupported("interface.device", &device.name, instead));
    };
    Ok(InterfaceConfig { mtu: device.mtu, device: Some(device.name.clone()), ..InterfaceConfig::new(id) })
}

fn unsupported(key: &'static str, value: &str, instead: &'static str) -> HostError {
    HostError::Unsupported { key, value: format!("\"{value}\""), instead }
}
