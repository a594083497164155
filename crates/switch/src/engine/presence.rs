//! Devices that disappear, come back, or change their MTU while the switch runs.

use inband_linux::device::Device;

use super::Switch;
use crate::config;
use crate::error::SwitchError;
use crate::follow::Tables;
use crate::status::NO_DEVICE;

impl Switch {
    /// Adopts what has changed about the devices.
    pub(super) fn follow_devices(&mut self, tables: &Tables) {
        for at in 0..self.ports.len() {
            self.follow_device(at, tables);
        }
        let mut is_new = false;
        for port in &mut self.ports {
            is_new |= tables.device(port.device.index).is_some_and(|device| port.adopt_mtu(device.mtu));
        }
        if is_new {
            let ports = &self.ports;
            let mtu = |id: u16| ports.iter().find(|port| port.id == id).map(|port| port.mtu);
            self.telemetry.adopt_mtus(mtu);
        }
    }

    fn follow_device(&mut self, at: usize, tables: &Tables) {
        let Some(port) = self.ports.get_mut(at) else { return };
        if port.absence.is_none() {
            if tables.device(port.device.index).is_some() {
                return;
            }
            port.leave(&mut self.pool);
        }
        let Some(device) = tables.named(&port.device.name) else {
            port.absence = Some(NO_DEVICE.to_owned());
            return;
        };
        let taken = self.take_back(at, device);
        if let Some(port) = self.ports.get_mut(at) {
            port.absence = taken.err().map(|error| error.words());
        }
    }

    /// Uses the device that has the name of a port's former device.
    fn take_back(&mut self, at: usize, device: &Device) -> Result<(), SwitchError> {
        config::check_ethernet(at, device)?;
        config::check_unbound(std::slice::from_ref(device))?;
        self.claim.renew(at, device)?;
        self.guard.attach_again(at, device)?;
        if let Some(port) = self.ports.get_mut(at) {
            port.come_back(device)?;
        }
        self.routing.set_device(at, device);
        Ok(())
    }
}
