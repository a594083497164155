//! A switch whose packets Linux forwards, with programs on its interfaces that do INT.
//!
//! A program on the ingress records when a packet arrives; one on the egress adds this node's metadata to
//! INT-MD. What the programs cannot do, such as the work of source and sink at an edge, comes here by a
//! device of this program, passes through the engine and leaves by the interface that Linux has chosen. Where
//! only a route is needed, a program before the stack forwards INT-MD alone. Device, programs and links end
//! with the process.

mod abi;
mod counters;
mod drops;
mod fast_path;
mod obstacle;
mod ports;
mod programs;
mod status;
mod way;

use std::io;

use inband_linux::clock::{self, Clock};
use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_linux::packet::PacketSocket;
use inband_node::frame::Frame;
use inband_node::{DeviceMetadata, NodeConfig, Passage, Profile, Verdict};
use inband_wire::int::Queue;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::claim::Claim;
use crate::config;
use crate::counts::{Cause, Counts};
use crate::error::SwitchError;
use crate::status::NO_DEVICE;
use crate::telemetry::Telemetry;
use crate::timer::Timer;

use self::abi::{Handed, PortSettings, Settings, narrowest};
use self::counters::KernelCounters;
use self::drops::{Dropped, Drops};
use self::fast_path::FastPath;
use self::programs::Programs;
use self::way::{QUEUE_FRAMES, Way};

/// One INT node on interfaces between which Linux forwards.
#[derive(Debug)]
pub struct KernelSwitch {
    config: NodeConfig,
    ports: Vec<Port>,
    programs: Programs,
    fast_path: FastPath,
    /// Drops by Linux; or why they are not available.
    drops: io::Result<Drops>,
    way: Way,
    telemetry: Telemetry,
    counters: KernelCounters,
    tick: Timer,
    compare: Timer,
    reloads: u64,
    /// Dropped last: until then no other switch has the devices.
    claim: Claim,
}

/// One interface.
#[derive(Debug)]
struct Port {
    id: u16,
    device: Device,
    counts: Counts,
    /// Whether the programs are attached, and count sent frames.
    is_attached: bool,
    /// Why the device is not in use; `None`: it is.
    absence: Option<String>,
    /// Indexes of its former devices, the latest first, whose drops are counted as well.
    former: Vec<u32>,
}

/// The interval of periodic work, nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// How often clocks are compared and losses are read, nanoseconds.
const COMPARE_NS: u64 = 500_000_000;
/// The longest wait of [`KernelSwitch::step`], nanoseconds.
const MAX_WAIT_NS: u64 = 100_000_000;
/// Maximum number of drops reported at a time.
const MAX_DROPS: usize = 4_096;
/// Maximum number of former devices of an interface.
const MAX_FORMER: usize = 64;
/// Maximum number of frames in one step.
const MAX_FRAMES: usize = 256;
impl KernelSwitch {
    /// Starts the switch that `config` describes, on the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// A mistake in the configuration, or a refusal of the system. Nothing has changed then.
    pub fn start(config: &NodeConfig) -> Result<Self, SwitchError> {
        config::check(config)?;
        let profile = Profile::compile(config)?;
        let mut netlink = Netlink::open().map_err(SwitchError::system("reach netlink"))?;
        let devices = config::devices(config, &mut netlink)?;
        let claim = Claim::on(&devices)?;
        let mut way = Way::open(netlink)?;
        let mut programs = Programs::load()?;
        programs.configure(&Settings::new(config, way.engine, Clock::Realtime.offset().ns))?;
        let narrowest = narrowest(devices.iter());
        for ((interface, device), number) in config.interfaces.iter().zip(&devices).zip(0..) {
            let settings = PortSettings::new(interface, device, number).with_narrowest(narrowest);
            programs.set_port(device.index, &settings)?;
        }
        // The engine is ready before the first packet is passed to it; sinks are attached before sources.
        devices.iter().try_for_each(|device| programs.attach(device.index))?;
        let fast_path = FastPath::start(config, &mut programs, &mut way.netlink)?;
        let ports = config.interfaces.iter().zip(devices);
        let ports = ports.map(|(interface, device)| {
            let id = interface.id;
            Port {
                id,
                device,
                counts: Counts::default(),
                is_attached: true,
                absence: None,
                former: Vec::new(),
            }
        });
        let ports: Vec<Port> = ports.collect();
        let ours = devices_of(&ports);
        let drops = Drops::start(&config.drop_reasons, ours, Clock::Realtime.offset().ns);
        clock::wake_in_time();
        Ok(Self {
            ports,
            programs,
            fast_path,
            drops,
            way,
            telemetry: Telemetry::start(config, profile)?,
            counters: KernelCounters::start().map_err(SwitchError::system("follow the kernel's tables"))?,
            tick: Timer::every(TICK_NS),
            compare: Timer::every(COMPARE_NS),
            reloads: 0,
            config: config.clone(),
            claim,
        })
    }

    /// Handles what is pending; if nothing is, waits up to a tenth of a second for a frame.
    ///
    /// # Errors
    /// An error of the system about an interface.
    pub fn step(&mut self) -> Result<(), SwitchError> {
        let mut count = 0;
        while count < MAX_FRAMES && self.take_in()? {
            count += 1;
        }
        let now = clock::realtime();
        if self.tick.is_due(now) {
            self.tick(now)?;
        }
        if count == 0 { self.wait(now) } else { Ok(()) }
    }

    /// Does the periodic work.
    fn tick(&mut self, now: u64) -> Result<(), SwitchError> {
        self.telemetry.handle_timeout(now);
        self.counters.count_changes();
        self.report_drops();
        self.drain_outputs(now);
        if self.compare.is_due(now) {
            self.configure()?;
            self.way.read_losses();
            self.follow_devices()?;
        }
        Ok(())
    }

    /// Passes the configuration and the clock offsets to the programs.
    fn configure(&mut self) -> Result<(), SwitchError> {
        let offset = Clock::Realtime.offset().ns;
        if let Ok(drops) = &mut self.drops {
            drops.set_clock(offset).map_err(SwitchError::system("hear of drops"))?;
        }
        self.programs.configure(&Settings::new(&self.config, self.way.engine, offset))
    }

    /// Lets the node report packets that Linux dropped.
    fn report_drops(&mut self) {
        for _ in 0..MAX_DROPS {
            let Some(dropped) = self.drops.as_mut().ok().and_then(Drops::poll) else { return };
            let passage = self.passage_of_drop(&dropped);
            self.telemetry.handle_ip_drop(&dropped.packet, &passage, dropped.code);
            self.drain_outputs(dropped.time);
        }
    }

    fn passage_of_drop(&self, dropped: &Dropped) -> Passage {
        let id = |device: u32| self.ports.iter().find(|port| port.device.index == device).map(|port| port.id);
        let is_incoming = dropped.device == dropped.ingress;
        let metadata = DeviceMetadata { ingress_timestamp: Some(dropped.time), ..DeviceMetadata::default() };
        Passage {
            ingress: id(dropped.ingress).unwrap_or(u16::MAX),
            // A packet dropped on its ingress has no egress.
            egress: id(dropped.device).filter(|_| !is_incoming).unwrap_or_default(),
            metadata,
        }
    }

    /// Follows devices that disappear and come back, and updates which packets may bypass the stack.
    fn follow_devices(&mut self) -> Result<(), SwitchError> {
        let all = match device::all(&mut self.way.netlink) {
            // The next look comes soon.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            all => all.map_err(SwitchError::system("list the devices"))?,
        };
        for at in 0..self.ports.len() {
            self.follow_device(at, &all);
        }
        let updated = self.fast_path.update(&self.config, &mut self.programs, &mut self.way.netlink, &all);
        // A device that has disappeared meanwhile is no error: the next look comes soon.
        if updated.is_err() && self.misses_a_device() { Ok(()) } else { updated }
    }

    fn misses_a_device(&mut self) -> bool {
        let all = device::all(&mut self.way.netlink).unwrap_or_default();
        let is_there = |port: &Port| all.iter().any(|device| device.index == port.device.index);
        !self.ports.iter().filter(|port| port.absence.is_none()).all(is_there)
    }

    fn follow_device(&mut self, at: usize, all: &[Device]) {
        let Some(port) = self.ports.get_mut(at) else { return };
        if port.absence.is_none() && all.iter().any(|device| device.index == port.device.index) {
            return;
        }
        let Some(device) = all.iter().find(|device| device.name == port.device.name) else {
            port.absence = Some(NO_DEVICE.to_owned());
            return;
        };
        let taken = self.take_back(at, device);
        if let Some(port) = self.ports.get_mut(at) {
            port.absence = taken.err().map(|error| error.words());
        }
    }

    /// Uses the device that has the name of an interface's former device.
    fn take_back(&mut self, at: usize, device: &Device) -> Result<(), SwitchError> {
        let (Some(port), Some(interface)) = (self.ports.get(at), self.config.interfaces.get(at)) else {
            return Ok(());
        };
        config::check_ethernet(at, device)?;
        self.claim.renew(at, device)?;
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let narrowest = narrowest(self.ports.iter().map(|port| &port.device));
        let settings = PortSettings::new(interface, device, number).with_narrowest(narrowest);
        let old = port.device.index;
        self.programs.forget(old);
        self.programs.forget(device.index);
        self.programs.set_port(device.index, &settings)?;
        self.programs.attach(device.index)?;
        if let Ok(drops) = &mut self.drops {
            drops.replace_device(old, device.index).map_err(SwitchError::system("hear of drops"))?;
        }
        self.fast_path.set_device(at, device.index);
        if let Some(port) = self.ports.get_mut(at) {
            port.former.truncate(MAX_FORMER - 1);
            port.former.insert(0, old);
            port.device = device.clone();
        }
        Ok(())
    }

    /// Takes a frame from the programs, if there is one, and sends the engine's output for it.
    fn take_in(&mut self) -> Result<bool, SwitchError> {
        let mut buffer = std::mem::take(&mut self.way.buffer);
        let taken = match self.way.receive(&mut buffer) {
            Ok(Some((handed, range))) => {
                self.handle(handed, &mut buffer, range);
                Ok(true)
            }
            Ok(None) => Ok(false),
            // A foreign frame.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(true),
            Err(error) => Err(SwitchError::system("receive frames of the programs")(error)),
        };
        self.way.buffer = buffer;
        taken
    }

    fn handle(&mut self, handed: Handed, buffer: &mut [u8], range: std::ops::Range<usize>) {
        let Some(egress) = self.ports.iter().position(|port| port.device.index == handed.egress) else {
            self.way.foreign += 1;
            return;
        };
        let now = clock::realtime();
        let passage = self.passage(handed, egress, now);
        let Some(mut frame) = Frame::new(buffer, range) else { return };
        let verdict = self.telemetry.handle_frame(&mut frame, &passage);
        if let (Verdict::Forward, Some(port)) = (verdict, self.ports.get_mut(egress)) {
            port.send(&self.way.socket, frame.bytes());
        }
        self.drain_outputs(now);
    }

    fn passage(&mut self, handed: Handed, egress: usize, now: u64) -> Passage {
        let id = |port: &Port| port.id;
        let came_at = Some(handed.came_at).filter(|came_at| *came_at > 0);
        let latency = came_at.filter(|_| !handed.may_wait).map(|came_at| now.saturating_sub(came_at));
        let queue = Some(handed.queue).filter(|occupancy| *occupancy != u32::MAX);
        let reads_counters = self.telemetry.reads_counters();
        let metadata = DeviceMetadata {
            ingress_timestamp: came_at,
            egress_timestamp: Some(now),
            hop_latency: latency.map(|ns| u32::try_from(ns).unwrap_or(u32::MAX - 1)),
            queue: queue.map(|occupancy| Queue { id: 0, occupancy }),
            counters: reads_counters.then(|| self.counters.read(handed.ingress, handed.egress)),
            ..DeviceMetadata::default()
        };
        let ingress = self.ports.iter().find(|port| port.device.index == handed.ingress);
        Passage {
            ingress: ingress.map_or(u16::MAX, id),
            egress: self.ports.get(egress).map_or(u16::MAX, id),
            metadata,
        }
    }

    /// Sends the node's output.
    fn drain_outputs(&mut self, now: u64) {
        while let Some(own) = self.telemetry.poll_packet(now) {
            if let Some(port) = self.ports.iter_mut().find(|port| port.id == own.egress) {
                port.send(&self.way.socket, &own.bytes);
            }
        }
    }

    /// Waits until there is something to do.
    fn wait(&self, now: u64) -> Result<(), SwitchError> {
        let until = self.telemetry.next_probe_at().unwrap_or(u64::MAX).min(self.tick.at().max(now + TICK_NS));
        let left = until.saturating_sub(now).min(MAX_WAIT_NS);
        let left = i64::try_from(left).unwrap_or_default();
        let timeout = Timespec { tv_sec: 0, tv_nsec: left };
        match poll(&mut [PollFd::new(&self.way.tun, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(SwitchError::system("wait for frames")(error.into())),
        }
    }

    /// Applies the flow watchlist, the filters and triggers, and the drop reasons from the next packet on. No
    /// packet is lost.
    ///
    /// # Errors
    /// A mistake in the configuration, or a change that needs a restart; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        config::check(config)?;
        config::check_reload(&self.config, config)?;
        self.telemetry.reload(config)?;
        // Settings that the node keeps are kept in the programs, too.
        let kept = self.config.clone();
        self.config = NodeConfig {
            watchlist: config.watchlist.clone(),
            report: config.report.clone(),
            smart: config.smart.clone(),
            drop_reasons: config.drop_reasons.clone(),
            ..kept
        };
        if let Ok(drops) = &mut self.drops {
            drops.configure(&config.drop_reasons);
        }
        self.configure()?;
        self.reloads += 1;
        Ok(())
    }

    /// Detaches the programs, handles the frames they have passed on, and completes pending reports.
    pub fn finish(&mut self) {
        self.fast_path.detach();
        // Frames they would pass on later would be counted but never handled.
        self.programs.detach();
        self.ports.iter_mut().for_each(|port| port.is_attached = false);
        for _ in 0..QUEUE_FRAMES {
            if !self.take_in().unwrap_or(false) {
                break;
            }
        }
        if let Ok(drops) = &mut self.drops {
            // If it stays attached, it is idle, and ends with the process.
            let _ = drops.finish();
        }
        self.report_drops();
        self.telemetry.flush();
        self.drain_outputs(clock::realtime());
        self.way.read_losses();
    }
}

/// The indexes of the devices.
fn devices_of(ports: &[Port]) -> impl Iterator<Item = u32> {
    ports.iter().map(|port| port.device.index)
}

impl Port {
    /// Sends a frame by the device; counts refused frames, and sent ones where no program counts them.
    fn send(&mut self, socket: &PacketSocket, frame: &[u8]) {
        match socket.send(frame, self.device.index) {
            Ok(_) if self.is_attached => {}
            Ok(_) => {
                self.counts.sent_packets += 1;
                self.counts.sent_bytes += frame.len() as u64;
            }
            Err(error) => self.counts.drop(Cause::of_refusal(&error)),
        }
    }
}
