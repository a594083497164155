//! The programs in the kernel, and their maps.

use std::io;
use std::os::fd::AsFd;

use aya::maps::{Array, DevMap, PerCpuArray, ProgramArray};
use aya::programs::{SchedClassifier, Xdp};
use aya::{Ebpf, include_bytes_aligned};
use inband_host::object;
use inband_linux::bpf::Attached;
use inband_linux::tcx::{self, Direction, Order};
use inband_linux::verification::uninterrupted;
use inband_linux::xdp::{self, XdpMode};

use super::abi::{PortSettings, Settings};
use super::ports::Ports;
use crate::error::SwitchError;

/// The programs in the kernel; what is attached is detached when this value is dropped.
#[derive(Debug)]
pub(super) struct Programs {
    ebpf: Ebpf,
    ports: Ports,
    /// By index of the device.
    links: Vec<(u32, Attached)>,
}

/// The counters of each interface, `enum count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Count {
    ReceivedPackets,
    ReceivedBytes,
    SentPackets,
    SentBytes,
    ToEngine,
    FromEngine,
    NotHanded,
    NotHandedDropped,
    Pushed,
    HopsExceeded,
    MtuExceeded,
    NoHeadroom,
    Forwarded,
    LeftWithout,
    LostInt,
    TooLong,
    Malformed,
}

/// `struct counts`, of one processor.
type Counts = [u64; 24];
const ARRIVE: &str = "arrive";
const LEAVE: &str = "leave";
const WRITE: &str = "write";
const FORWARD: &str = "forward";

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/switch.bpf.o");

impl Programs {
    /// Loads the programs; they are idle.
    pub(super) fn load() -> Result<Self, SwitchError> {
        let mut ebpf = object::load(OBJECT, |_| ()).map_err(fault("load the programs"))?;
        let ports = Ports::of(&mut ebpf).map_err(fault("load the programs"))?.ok_or_else(missing)?;
        let mut programs = Self { ebpf, ports, links: Vec::new() };
        for name in [ARRIVE, LEAVE, WRITE] {
            let classifier = programs.classifier(name)?;
            uninterrupted(|| classifier.load()).map_err(fault("load a program"))?;
        }
        programs.continue_with_write()?;
        Ok(programs)
    }

    /// Lets `leave` end with `write`.
    fn continue_with_write(&mut self) -> Result<(), SwitchError> {
        let write = self.classifier(WRITE)?.fd().and_then(|write| Ok(write.try_clone()?));
        let write = write.map_err(fault("load a program"))?;
        let map = self.ebpf.map_mut("WRITE").ok_or_else(missing)?;
        let mut next = ProgramArray::try_from(map).map_err(fault("load a program"))?;
        next.set(0, &write, 0).map_err(fault("load a program"))
    }

    /// Applies settings to the programs.
    pub(super) fn configure(&mut self, settings: &Settings) -> Result<(), SwitchError> {
        let bytes: [u8; size_of::<Settings>()] = zerocopy::transmute!(*settings);
        let map = self.ebpf.map_mut("CONFIG").ok_or_else(missing)?;
        let mut array: Array<_, [u8; size_of::<Settings>()]> =
            Array::try_from(map).map_err(fault("configure the programs"))?;
        array.set(0, bytes, 0).map_err(fault("configure the programs"))
    }

    /// Makes the device with this index an interface of the switch, or changes its settings.
    pub(super) fn set_port(&mut self, device: u32, settings: &PortSettings) -> Result<(), SwitchError> {
        self.ports.set(device, settings).map_err(fault("add an interface"))
    }

    /// Attaches both programs to the device with this index, until they are dropped: before other programs on
    /// the ingress, and behind them on the egress.
    pub(super) fn attach(&mut self, device: u32) -> Result<(), SwitchError> {
        for (name, direction, order) in
            [(LEAVE, Direction::Egress, Order::Last), (ARRIVE, Direction::Ingress, Order::First)]
        {
            let program = self.classifier(name)?.fd().map_err(fault("attach a program"))?;
            let link = tcx::attach(program.as_fd(), device, direction, order)
                .map_err(SwitchError::system("attach a program"))?;
            self.links.push((device, link.into()));
        }
        Ok(())
    }

    /// Forgets a device, which is gone.
    pub(super) fn forget(&mut self, device: u32) {
        self.links.retain(|(known, _)| *known != device);
        self.ports.forget(device);
    }

    /// Loads the program of the fast path; it is not attached.
    pub(super) fn load_forward(&mut self) -> Result<(), SwitchError> {
        let program = self.ebpf.program_mut(FORWARD).ok_or_else(missing)?;
        let program: &mut Xdp = program.try_into().map_err(fault("use a program"))?;
        uninterrupted(|| program.load()).map_err(fault("load a program"))
    }

    /// Attaches the program of the fast path to the device's ingress, until the link is dropped.
    pub(super) fn attach_forward(&mut self, device: u32, mode: XdpMode) -> io::Result<Attached> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let program = self.ebpf.program_mut(FORWARD).ok_or_else(missing)?;
        let program: &mut Xdp = program.try_into().map_err(io::Error::other)?;
        xdp::attach(program.fd().map_err(io::Error::other)?.as_fd(), device, mode).map(Attached::from)
    }

    /// Allows the fast path to send by the device of interface `number`.
    pub(super) fn set_way(&mut self, number: u32, device: u32) -> Result<(), SwitchError> {
        let map = self.ebpf.map_mut("WAYS").ok_or_else(missing)?;
        let mut ways = DevMap::try_from(map).map_err(fault("add an interface"))?;
        ways.set(number, device, None, 0).map_err(fault("add an interface"))
    }

    /// Detaches the programs from all interfaces; none of them runs after that, and their counters stay.
    pub(super) fn detach(&mut self) {
        self.links.clear();
    }

    /// The sum of an interface's counter over all processors; 0 where it cannot be read.
    pub(super) fn count(&self, number: u32, count: Count) -> u64 {
        let counters = self.ebpf.map("COUNTERS").and_then(|map| PerCpuArray::<_, Counts>::try_from(map).ok());
        let values = counters.and_then(|counters| counters.get(&number, 0).ok());
        let of = |counts: &Counts| counts.get(count as usize).copied().unwrap_or_default();
        values.map_or(0, |values| values.iter().map(of).sum())
    }

    fn classifier(&mut self, name: &str) -> Result<&mut SchedClassifier, SwitchError> {
        let found = self.ebpf.program_mut(name).ok_or_else(missing)?;
        found.try_into().map_err(fault("use a program"))
    }
}

fn missing() -> SwitchError {
    let reason = io::Error::new(io::ErrorKind::NotFound, "a part of them is missing");
    SwitchError::system("use the programs")(reason)
}

/// An error of the loader with its causes: a kernel's refusal is a page long.
fn fault<E>(what: &'static str) -> impl FnOnce(E) -> SwitchError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |reason| SwitchError::system(what)(io::Error::other(reason))
}

#[cfg(test)]
mod tests;
