//! How does the agent follow devices that come and go, clocks that are set, and how busy links are?

use inband_linux::clock;
use inband_linux::device::Device;

use crate::error::HostError;

use super::notes::in_full;
use super::port::Port;
use super::{Agent, plan};

impl Agent {
    /// Follows clocks that were set, and devices that come and go.
    pub(super) fn look_around(&mut self) -> Result<(), HostError> {
        let (mut plan, all) = match plan(&mut self.settings, &mut self.netlink) {
            Ok(planned) => planned,
            Err(error) => {
                self.notes.warn(format!("the devices stay as they are: {error}"));
                return Ok(());
            }
        };
        let known = self.plan.clock_offset;
        if !plan.clock_offset.has_moved_from(known.ns) {
            plan.clock_offset = known;
        } else if plan.devices == self.plan.devices {
            self.plan = plan;
            return self.configure_ports();
        }
        self.renew_shims(&all)?;
        self.release_others(&all)?;
        if plan.devices != self.plan.devices || self.retry.is_due(clock::monotonic()) {
            self.plan = plan;
            self.follow_devices()?;
        }
        Ok(())
    }

    /// Detaches what an agent has left on devices that are not meant any more, when nobody sends INT there.
    fn release_others(&mut self, all: &[Device]) -> Result<(), HostError> {
        if self.release_others_at.is_none_or(|at| clock::monotonic() < at) {
            return Ok(());
        }
        self.release_others_at = None;
        let is_kept = |device: &&Device| self.ports.iter().any(|port| port.device.index == device.index);
        let kept: Vec<_> = all.iter().filter(is_kept).map(|device| device.index).collect();
        self.keeper.release_others(&kept)
    }

    /// Makes shims anew that somebody has removed or set down; meanwhile packets pass without INT.
    fn renew_shims(&mut self, all: &[Device]) -> Result<(), HostError> {
        let is_there = |port: &Port| all.iter().any(|device| device.index == port.device.index);
        for port in &mut self.ports {
            if !is_there(port) || port.has_sound_shim(&self.plan, all) {
                continue;
            }
            let name = port.device.name.clone();
            let note =
                match port.renew_shim(&self.plan, &mut self.programs, (&mut self.netlink, &self.keeper)) {
                    Ok(()) => format!("the shim of {name} was gone or down: there is a new one"),
                    Err(error) => format!("no INT on {name}, whose shim is gone: {}", in_full(&error)),
                };
            self.notes.warn(note);
        }
        Ok(())
    }

    /// Gives up what is not in the plan any more, and takes up what is new in it.
    pub(super) fn follow_devices(&mut self) -> Result<(), HostError> {
        let is_planned =
            |port: &mut Port| self.plan.devices.iter().any(|(device, id)| port.is_of(device, *id));
        for port in self.ports.extract_if(.., |port| !is_planned(port)) {
            self.notes.tell(format!("no INT on {} any more", port.device.name));
            self.control.close_gate(port.device.index, clock::monotonic());
            self.keeper.forget(port.device.index)?;
            port.close(&mut self.programs, (&mut self.netlink, &self.keeper))?;
        }
        for (device, id) in &self.plan.devices {
            if self.ports.iter().any(|port| port.is_of(device, *id)) {
                continue;
            }
            let name = &device.name;
            let opened = Port::open(
                device.clone(),
                *id,
                &self.plan,
                &mut self.programs,
                (&mut self.netlink, &self.keeper),
            );
            let opened = opened.and_then(|port| match self.control.open_gate(device) {
                Ok(()) => Ok(port),
                Err(error) => {
                    self.keeper.forget(device.index)?;
                    port.close(&mut self.programs, (&mut self.netlink, &self.keeper))?;
                    Err(error)
                }
            });
            let (note, failure) = match &opened {
                Ok(_) => (format!("INT on {name}"), None),
                // A device that went again before it was taken up is not in the next plan.
                Err(error) => (format!("no INT on {name}: {}", in_full(error)), Some(in_full(error))),
            };
            // The same failure is told once, however often it is tried.
            if failure.is_none() || self.failed.get(&device.index) != failure.as_ref() {
                self.notes.tell(note);
            }
            self.failed.remove(&device.index);
            self.failed.extend(failure.map(|failure| (device.index, failure)));
            self.ports.extend(opened);
        }
        self.failed.retain(|index, _| self.plan.devices.iter().any(|(device, _)| device.index == *index));
        self.retry.tried(clock::monotonic(), self.failed.is_empty());
        self.configure_ports()
    }

    fn configure_ports(&mut self) -> Result<(), HostError> {
        if let Some(losses) = &mut self.losses {
            losses.configure(&self.plan)?;
        }
        self.ports.iter().try_for_each(|port| port.configure(&self.plan, &mut self.programs))
    }

    /// Measures how busy devices are, if anybody asks, and tells the programs.
    pub(super) fn measure(&mut self, now: u64) -> Result<(), HostError> {
        for port in &mut self.ports {
            if port.measure(&mut self.netlink, now) {
                port.configure(&self.plan, &mut self.programs)?;
            }
        }
        Ok(())
    }
}
