//! The ports of an agent: devices that come and go, shims removed from outside, and the load of links.

use std::collections::HashMap;

use inband_linux::clock;
use inband_linux::device::Device;

use super::control::Control;
use super::keeper::Keeper;
use super::kernel::Kernel;
use super::notes::{Notes, in_full};
use super::port::{Port, RetiredSink};
use super::retry::Retry;
use crate::error::HostError;
use crate::plan::Plan;

/// The devices with INT, and those that should have it.
#[derive(Debug)]
pub(super) struct Ports {
    ports: Vec<Port>,
    /// Sinks of released devices, kept until no INT can come in by them.
    retired: Vec<RetiredSink>,
    /// How long they are kept, nanoseconds.
    linger_ns: u64,
    /// Devices that could not be opened, by interface index, with the reported reason.
    failed: HashMap<u32, String>,
    retry: Retry,
    /// When sinks that an earlier agent left on other devices are detached, nanoseconds of the monotonic
    /// clock; `None`: done.
    release_others_at: Option<u64>,
}

impl Ports {
    /// No port; sinks that an earlier agent left on other devices stay for `linger_ns`, as do those of
    /// devices released later.
    pub(super) fn new(linger_ns: u64, now: u64) -> Self {
        let release_others_at = now + linger_ns;
        Self {
            ports: Vec::new(),
            retired: Vec::new(),
            linger_ns,
            failed: HashMap::new(),
            retry: Retry::default(),
            release_others_at: Some(release_others_at),
        }
    }

    /// Opens a port on each device of the plan.
    pub(super) fn open(
        &mut self,
        plan: &Plan,
        kernel: &mut Kernel,
        control: &mut Control,
    ) -> Result<(), HostError> {
        for (device, id) in &plan.devices {
            self.ports.push(open(device, *id, plan, kernel, control, &mut None)?);
        }
        Ok(())
    }

    /// Every port.
    pub(super) fn all(&self) -> &[Port] {
        &self.ports
    }

    /// The port of an interface: of its device, or of either side of its shim.
    pub(super) fn of(&self, interface: u32) -> Option<&Port> {
        self.ports.iter().find(|port| port.device.index == interface || port.is_shim(interface))
    }

    /// Whether it is time to retry a device that could not be opened.
    pub(super) fn is_retry_due(&self) -> bool {
        self.retry.is_due(clock::monotonic())
    }

    /// Detaches what an earlier agent left on devices outside the plan, once no INT is sent there.
    pub(super) fn release_others(&mut self, all: &[Device], kernel: &Kernel) -> Result<(), HostError> {
        if self.release_others_at.is_none_or(|at| clock::monotonic() < at) {
            return Ok(());
        }
        self.release_others_at = None;
        let is_kept = |device: &&Device| {
            self.ports.iter().any(|port| port.device.index == device.index)
                || self.retired.iter().any(|retired| retired.device == device.index)
        };
        let kept: Vec<_> = all.iter().filter(is_kept).map(|device| device.index).collect();
        kernel.keeper.release_others(&kept)
    }

    /// Detaches sinks of released devices where no INT can come in.
    pub(super) fn release_retired(&mut self, kernel: &mut Kernel, now: u64) -> Result<(), HostError> {
        let over: Vec<_> = self.retired.extract_if(.., |retired| retired.until <= now).collect();
        over.into_iter().try_for_each(|retired| retired.close(kernel))
    }

    /// Recreates shims that were removed or set down from outside; meanwhile packets pass without INT.
    pub(super) fn renew_shims(
        &mut self,
        all: &[Device],
        plan: &Plan,
        kernel: &mut Kernel,
        notes: &mut Notes,
    ) {
        let is_there = |port: &Port| all.iter().any(|device| device.index == port.device.index);
        for port in &mut self.ports {
            if !is_there(port) || port.has_sound_shim(plan, all) {
                continue;
            }
            let name = port.device.name.clone();
            notes.warn(match port.renew_shim(plan, kernel) {
                Ok(()) => format!("the shim of {name} was gone or down: there is a new one"),
                Err(error) => format!("no INT on {name}, whose shim is gone: {}", in_full(&error)),
            });
        }
    }

    /// Releases devices that are not in the plan, and opens those that are new in it.
    pub(super) fn follow(
        &mut self,
        plan: &Plan,
        kernel: &mut Kernel,
        control: &mut Control,
        notes: &mut Notes,
    ) -> Result<(), HostError> {
        let is_planned = |port: &mut Port| plan.devices.iter().any(|(device, id)| port.is_of(device, *id));
        for port in self.ports.extract_if(.., |port| !is_planned(port)) {
            notes.tell(format!("no INT on {} any more", port.device.name));
            control.close_gate(port.device.index, clock::monotonic());
            kernel.keeper.forget(port.device.index);
            let until = kernel.keeper.keeps_until(clock::monotonic(), self.linger_ns);
            self.retired.push(port.retire(until, kernel)?);
        }
        for (device, id) in &plan.devices {
            if self.ports.iter().any(|port| port.is_of(device, *id)) {
                continue;
            }
            let mut retired = self.retired.extract_if(.., |retired| retired.device == device.index).next();
            let opened = open(device, *id, plan, kernel, control, &mut retired);
            self.retired.extend(retired);
            let name = &device.name;
            let (note, failure) = match &opened {
                Ok(_) => (format!("INT on {name}"), None),
                // A device that disappeared before it was opened is not in the next plan.
                Err(error) => (format!("no INT on {name}: {}", in_full(error)), Some(in_full(error))),
            };
            // The same failure is reported once, whatever the number of attempts.
            if failure.is_none() || self.failed.get(&device.index) != failure.as_ref() {
                notes.tell(note);
            }
            self.failed.remove(&device.index);
            self.failed.extend(failure.map(|failure| (device.index, failure)));
            self.ports.extend(opened);
        }
        self.failed.retain(|index, _| plan.devices.iter().any(|(device, _)| device.index == *index));
        self.retry.tried(clock::monotonic(), self.failed.is_empty());
        Ok(())
    }

    /// Passes a new guard the links and shims of every device.
    pub(super) fn hold(&self, keeper: &Keeper) -> Result<(), HostError> {
        self.ports.iter().try_for_each(|port| port.hold(keeper))
    }

    /// Configures how the programs treat the packets of every device.
    pub(super) fn configure(&self, plan: &Plan, kernel: &mut Kernel) -> Result<(), HostError> {
        self.ports.iter().try_for_each(|port| port.configure(plan, &mut kernel.programs))
    }

    /// Measures the load of devices, if it is used, and passes it to the programs.
    pub(super) fn measure(&mut self, plan: &Plan, kernel: &mut Kernel, now: u64) -> Result<(), HostError> {
        for port in &mut self.ports {
            if port.measure(&mut kernel.netlink, now) {
                port.configure(plan, &mut kernel.programs)?;
            }
        }
        Ok(())
    }

    /// Stops starting INT on every device.
    pub(super) fn close_sources(&mut self) {
        self.ports.iter_mut().for_each(Port::close_source);
    }

    /// Closes every port; only pins keep the sinks after that.
    pub(super) fn close(&mut self, kernel: &mut Kernel) -> Result<(), HostError> {
        self.close_sources();
        let mut result = kernel.keeper.dismiss();
        for port in self.ports.drain(..) {
            result = result.and(port.close(kernel));
        }
        for retired in self.retired.drain(..) {
            result = result.and(retired.close(kernel));
        }
        result
    }
}

/// Opens a port, with the sink that was kept for its device if there is one, and the sockets where other
/// agents ask. If either fails, neither stays, and the sink is kept as before.
fn open(
    device: &Device,
    id: u16,
    plan: &Plan,
    kernel: &mut Kernel,
    control: &mut Control,
    retired: &mut Option<RetiredSink>,
) -> Result<Port, HostError> {
    let until = retired.as_ref().map(|retired| retired.until);
    let sink = retired.take().and_then(|mut retired| retired.take());
    let mut port = Port::new(device.clone(), id, plan, sink);
    let opened = port.connect(plan, kernel).and_then(|()| control.open_gate(device));
    let Err(error) = opened else { return Ok(port) };
    kernel.keeper.forget(device.index);
    match until {
        Some(until) => *retired = Some(port.retire(until, kernel)?),
        None => port.close(kernel)?,
    }
    Err(error)
}
