//! One device with its programs.

use std::os::fd::{AsFd, OwnedFd};

use inband_linux::bpf;
use inband_linux::device::Device;
use inband_linux::netlink::Netlink;
use inband_node::config::Mode;
use inband_wire::int::Instructions;
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::keeper::Keeper;
use super::kernel::Kernel;
use crate::config::{HostInt, Wiring};
use crate::error::HostError;
use crate::load::Load;
use crate::plan::Plan;
use crate::programs::{Program, Programs};
use crate::shim::Shim;

/// A device that leads into the domain, with its programs.
///
/// The source is attached last and detached first: a packet with INT never leaves a host whose own sink, and
/// perhaps lease, is missing.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) device: Device,
    /// Its interface identifier.
    pub(super) id: u16,
    shim: Option<Shim>,
    steer: Option<OwnedFd>,
    source: Option<OwnedFd>,
    sink: Option<OwnedFd>,
    /// `None`: the device's load is not used.
    load: Option<Load>,
}

impl Port {
    /// A port of `device`, with no program but the sink that the device may still have.
    pub(super) fn new(device: Device, id: u16, plan: &Plan, sink: Option<OwnedFd>) -> Self {
        let asks = plan.node.source.instructions.bitmap().contains(Instructions::EGRESS_UTILIZATION);
        let load = asks.then(|| Load::of(&device.name));
        Self { device, id, shim: None, steer: None, source: None, sink, load }
    }

    /// Attaches the programs: first the sink, last the one that steers packets to the source.
    pub(super) fn connect(&mut self, plan: &Plan, kernel: &mut Kernel) -> Result<(), HostError> {
        let device = self.device.index;
        self.configure(plan, &mut kernel.programs)?;
        match &self.sink {
            // A device has a program once at most.
            Some(sink) => kernel.keeper.hold(device, sink.as_fd())?,
            None => self.sink = Some(kernel.keeper.attach_sink(&mut kernel.programs, device)?),
        }
        // Postcards do not change packets.
        if plan.node.source.mode != Mode::Xd {
            self.open_shim(plan, kernel)?;
        }
        self.steer = Some(kernel.programs.attach(Program::Steer, self.device.index)?);
        Ok(())
    }

    /// Creates the shim; its far side has its program before anything is sent there.
    fn open_shim(&mut self, plan: &Plan, kernel: &mut Kernel) -> Result<(), HostError> {
        let device = self.device.index;
        let shim = Shim::create(&mut kernel.netlink, &plan.shim, &self.device.name)?;
        self.shim = Some(shim);
        kernel.keeper.remove_shim(device, shim)?;
        let source = self.source.insert(last_to_close(kernel.programs.attach(Program::Source, shim.far)?)?);
        kernel.keeper.hold(device, source.as_fd())?;
        self.configure(plan, &mut kernel.programs)
    }

    /// Passes a new guard the device's links and shim.
    pub(super) fn hold(&self, keeper: &Keeper) -> Result<(), HostError> {
        let device = self.device.index;
        if let Some(shim) = self.shim {
            keeper.remove_shim(device, shim)?;
        }
        self.sink.iter().chain(&self.source).try_for_each(|link| keeper.hold(device, link.as_fd()))
    }

    /// Configures how the programs treat this device's packets.
    pub(super) fn configure(&self, plan: &Plan, programs: &mut Programs) -> Result<(), HostError> {
        let wiring = Wiring {
            device: self.device.index,
            shim_in: self.shim.as_ref().map_or(0, |shim| shim.near),
            shim_out: self.shim.as_ref().map_or(0, |shim| shim.far),
        };
        let host = HostInt { egress_utilization: self.utilization(), ..plan.host(self.id) };
        let config = host.wired(&wiring)?;
        if let Some(shim) = &self.shim {
            programs.set_config(shim.far, &config)?;
        }
        programs.set_config(self.device.index, &config)
    }

    /// The load of the device, hundredths of a percent; `None`: not used, or unknown.
    pub(super) fn utilization(&self) -> Option<u32> {
        self.load.as_ref().and_then(Load::utilization)
    }

    /// Measures the load of the device; returns whether it has changed.
    pub(super) fn measure(&mut self, netlink: &mut Netlink, now: u64) -> bool {
        let before = self.utilization();
        if let Some(load) = &mut self.load {
            // A device that is gone has no load, and is closed when the devices are next checked.
            let _ = load.look(netlink, self.device.index, now);
        }
        self.utilization() != before
    }

    /// Whether this is the port of `device`, with the identifier `id`.
    pub(super) fn is_of(&self, device: &Device, id: u16) -> bool {
        (self.device.index, self.id) == (device.index, id)
    }

    /// Whether packets can pass the shim, judging by `all` devices, or no shim is needed.
    pub(super) fn has_sound_shim(&self, plan: &Plan, all: &[Device]) -> bool {
        let is_running = |index| all.iter().any(|device| device.index == index && device.is_running);
        match &self.shim {
            Some(shim) => is_running(shim.near) && is_running(shim.far),
            None => plan.node.source.mode == Mode::Xd,
        }
    }

    /// Replaces a shim that was removed or set down from outside; the sink stays.
    pub(super) fn renew_shim(&mut self, plan: &Plan, kernel: &mut Kernel) -> Result<(), HostError> {
        self.source = None;
        self.remove_shim(kernel)?;
        // Until the new one is up, packets pass without INT.
        self.configure(plan, &mut kernel.programs)?;
        self.open_shim(plan, kernel)
    }

    fn remove_shim(&mut self, kernel: &mut Kernel) -> Result<(), HostError> {
        let Some(shim) = self.shim.take() else { return Ok(()) };
        let name = || format!("remove the shim of {}", self.device.name);
        shim.remove(&mut kernel.netlink).map_err(|reason| HostError::system(name(), reason))?;
        kernel.programs.forget_config(shim.far)
    }

    /// Whether the interface index is one of this port's shim.
    pub(super) fn is_shim(&self, interface: u32) -> bool {
        self.shim.is_some_and(|shim| shim.near == interface || shim.far == interface)
    }

    /// Stops starting INT.
    pub(super) fn close_source(&mut self) {
        self.steer = None;
    }

    /// Detaches the remaining programs and removes the shim.
    ///
    /// The guard must have released it before.
    pub(super) fn close(self, kernel: &mut Kernel) -> Result<(), HostError> {
        self.retire(0, kernel)?.close(kernel)
    }

    /// Removes the shim and detaches everything but the sink, which stays until `until`, nanoseconds of the
    /// monotonic clock.
    ///
    /// The guard must have released it before.
    pub(super) fn retire(mut self, until: u64, kernel: &mut Kernel) -> Result<RetiredSink, HostError> {
        self.close_source();
        self.source = None;
        self.remove_shim(kernel)?;
        Ok(RetiredSink { device: self.device.index, until, sink: self.sink.take() })
    }
}

/// The sink of a device without INT, kept while other hosts may have leases, or packets in flight.
#[derive(Debug)]
pub(super) struct RetiredSink {
    /// Interface index.
    pub(super) device: u32,
    /// Nanoseconds of the monotonic clock.
    pub(super) until: u64,
    sink: Option<OwnedFd>,
}

impl RetiredSink {
    /// The link of the sink, unless its device is gone.
    pub(super) fn take(&mut self) -> Option<OwnedFd> {
        let sink = self.sink.take()?;
        let is_attached = bpf::interface(sink.as_fd()).is_ok_and(|device| device == Some(self.device));
        is_attached.then_some(sink)
    }

    /// Detaches the sink.
    pub(super) fn close(self, kernel: &mut Kernel) -> Result<(), HostError> {
        drop(self.sink);
        match kernel.keeper.release_sink(self.device)? {
            true => kernel.programs.forget_config(self.device),
            false => Ok(()),
        }
    }
}

/// Gives a link a descriptor that is closed after all others when the agent is killed: packets in the shim
/// then still leave it, and no more enter.
fn last_to_close(link: OwnedFd) -> Result<OwnedFd, HostError> {
    match fcntl_dupfd_cloexec(&link, HIGH_DESCRIPTOR) {
        Ok(high) => Ok(high),
        // The process may not have that many descriptors.
        Err(Errno::INVAL | Errno::MFILE) => Ok(link),
        Err(reason) => Err(HostError::system("move a descriptor", reason)),
    }
}

/// Above the descriptors an agent uses otherwise, below the default limit of a process.
const HIGH_DESCRIPTOR: i32 = 900;
