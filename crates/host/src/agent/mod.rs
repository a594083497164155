//! How does the host stay a source and a sink? Programs on its devices, and one engine for what they tell.

mod control;
mod end;
mod follow;
mod hear;
mod keeper;
mod losses;
mod notes;
mod port;
mod retry;
mod senders;
mod status;
mod tally;

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::Duration;

use aya::maps::{MapData, RingBuf};
use inband_linux::clock;
use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_node::Node;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::HostError;
use crate::lock::Lock;
use crate::plan::Plan;
use crate::programs::Programs;
use crate::settings::HostSettings;
use crate::shim::Shim;

use control::Control;
use keeper::Keeper;
use losses::Losses;
use notes::{Notes, in_full};
use port::Port;
use retry::Retry;
use senders::Senders;
pub use status::{FlowStatus, PeerStatus};
pub use tally::Tally;

/// INT on this host, until it is stopped.
pub struct Agent {
    settings: HostSettings,
    plan: Plan,
    ports: Vec<Port>,
    programs: Programs,
    events: RingBuf<MapData>,
    engine: Node,
    senders: Senders,
    control: Control,
    /// `None`: nobody wants to hear of drops, or the kernel does not tell.
    losses: Option<Losses>,
    netlink: Netlink,
    keeper: Keeper,
    /// When sinks that an agent has left on other devices are detached, nanoseconds of the monotonic clock; `None`: they are.
    release_others_at: Option<u64>,
    /// Keeps a second agent from the same shims.
    _lock: Lock,
    /// A packet at a time, behind headroom.
    buffer: Vec<u8>,
    /// When clocks and devices are looked at again, nanoseconds of the monotonic clock.
    next_look: u64,
    /// When it is measured again how busy devices are, of the same clock.
    next_measurement: u64,
    /// Of devices that could not be opened, by interface index: why, as it was told.
    failed: HashMap<u32, String>,
    retry: Retry,
    notes: Notes,
}

/// How long events are left to gather: only the first of them interrupts a processor to wake the agent.
const GATHER: Duration = Duration::from_millis(5);
/// How often clocks and devices are looked at, nanoseconds.
const LOOK_NS: u64 = 300_000_000;
/// How long INT is started after a turn, nanoseconds: an agent that hangs or is stopped stops it.
const HEARTBEAT_NS: u64 = 2_000_000_000;
/// How often it is measured how busy devices are, nanoseconds.
const MEASURE_NS: u64 = 100_000_000;

impl Agent {
    /// Starts INT on the devices that `settings` mean.
    ///
    /// # Errors
    /// A setting that cannot be followed, or something that the system refuses; everything is then as it was.
    ///
    /// `guard` is a command that calls [`keep_watch`](crate::keep_watch) in a process of its own.
    pub fn start(mut settings: HostSettings, guard: Command) -> Result<Self, HostError> {
        settings.check()?;
        let lock = Lock::take(&settings.host.shim)?;
        let (mut keeper, note) = Keeper::open(&settings.host, guard)?;
        keeper.linger(settings.host.linger_ms)?;
        keeper.leave_sinks(settings.has_permanent_peers());
        let linger_ns = u64::from(settings.host.linger_ms) * 1_000_000;
        let mut netlink = Netlink::open().map_err(|reason| HostError::system("reach netlink", reason))?;
        let (plan, _) = plan(&mut settings, &mut netlink)?;
        let engine = Node::new(&plan.node)?;
        let mut programs = Programs::load_within(settings.host.map_memory_mib)?;
        programs.set_watchlist(&plan.node, settings.host.control_port.get())?;
        programs.beat(clock::monotonic() + HEARTBEAT_NS)?;
        let mut control = Control::open(&settings.host, &plan.node)?;
        control.set_peers(&settings.peers, &mut programs)?;
        control.take_over(keeper.granted(), &mut programs, clock::monotonic())?;
        let events = programs.take_events()?;
        let (senders, unreachable) = Senders::open(&plan.node.report);
        Shim::remove_left(&mut netlink, &settings.host.shim)
            .map_err(|reason| HostError::system("remove what an agent has left behind", reason))?;
        let mut agent = Self {
            settings,
            plan,
            ports: Vec::new(),
            programs,
            events,
            engine,
            senders,
            control,
            losses: None,
            netlink,
            keeper,
            release_others_at: Some(clock::monotonic() + linger_ns),
            _lock: lock,
            buffer: Vec::new(),
            next_look: clock::monotonic() + LOOK_NS,
            next_measurement: 0,
            failed: HashMap::new(),
            retry: Retry::default(),
            notes: Notes::default(),
        };
        for note in note.into_iter().chain(unreachable) {
            agent.notes.warn(note);
        }
        agent.watch_drops()?;
        match agent.open_ports() {
            Ok(()) => Ok(agent),
            Err(error) => {
                agent.close_ports()?;
                Err(error)
            }
        }
    }

    /// The devices INT is on, by name.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.ports.iter().map(|port| port.device.name.as_str())
    }

    /// Waits for at most `patience`, and does what there is to do.
    ///
    /// # Errors
    /// What the system refuses; what happens to packets is counted.
    pub fn turn(&mut self, patience: Duration) -> Result<(), HostError> {
        self.wait(patience)?;
        self.hear_events();
        let now = clock::monotonic();
        self.programs.beat(now + HEARTBEAT_NS)?;
        for note in self.control.hear(&mut self.programs, now)? {
            self.notes.warn(note);
        }
        if let Some(losses) = &mut self.losses {
            losses.hear((&self.plan, &self.ports), &mut self.engine, now)?;
        }
        self.engine.handle_timeout(now.wrapping_add(self.plan.clock_offset.ns));
        self.send_reports();
        if now >= self.next_measurement {
            self.next_measurement = now + MEASURE_NS;
            self.measure(now)?;
        }
        if now >= self.next_look {
            self.next_look = now + LOOK_NS;
            self.control.keep_leases(&mut self.programs, now)?;
            self.look_around()?;
        }
        Ok(())
    }

    /// Follows other settings from the next packet on; nothing that is known is lost.
    ///
    /// # Errors
    /// A setting that cannot be followed, or not without a restart; everything goes on as before.
    pub fn reload(&mut self, mut settings: HostSettings) -> Result<(), HostError> {
        settings.check()?;
        let (plan, _) = plan(&mut settings, &mut self.netlink)?;
        if let Some(key) = self.settings.key_of_restart(&settings) {
            return Err(HostError::Restart { key });
        }
        self.engine.reload(&plan.node)?;
        self.programs.set_watchlist(&plan.node, settings.host.control_port.get())?;
        self.control.set_peers(&settings.peers, &mut self.programs)?;
        self.keeper.linger(settings.host.linger_ms)?;
        self.keeper.leave_sinks(settings.has_permanent_peers());
        (self.settings, self.plan) = (settings, plan);
        self.watch_drops()?;
        self.follow_devices()
    }

    /// Takes the oldest thing that users may want to know.
    pub fn poll_note(&mut self) -> Option<String> {
        self.notes.poll()
    }

    /// What happened so far.
    ///
    /// # Errors
    /// Counters that the kernel does not give.
    pub fn tally(&self) -> Result<Tally, HostError> {
        let clock = self.settings.host.clock;
        let tally = Tally::read(&self.programs, &self.engine, &self.senders, &self.control, clock)?;
        let Some(losses) = &self.losses else { return Ok(tally) };
        Ok(Tally { drops: losses.by_reason().clone(), drops_not_held: losses.not_held()?, ..tally })
    }

    fn open_ports(&mut self) -> Result<(), HostError> {
        for (device, id) in self.plan.devices.clone() {
            let with = (&mut self.netlink, &self.keeper);
            let port = Port::open(device, id, &self.plan, &mut self.programs, with)?;
            let device = port.device.clone();
            self.ports.push(port);
            self.control.open_gate(&device)?;
        }
        Ok(())
    }

    fn wait(&self, patience: Duration) -> Result<(), HostError> {
        let patience = if self.control.is_waiting() { patience.min(GATHER) } else { patience };
        let patience = Timespec::try_from(patience).unwrap_or_default();
        let losses = self.losses.iter().map(Losses::as_fd);
        let all = std::iter::once(self.events.as_fd()).chain(self.control.sockets()).chain(losses);
        let mut fds: Vec<_> = all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut fds, Some(&patience)).map_err(io::Error::from) {
            Ok(_) => {
                if fds.first().is_some_and(|events| events.revents().contains(PollFlags::IN)) {
                    std::thread::sleep(GATHER);
                }
                Ok(())
            }
            // A signal; whoever sent it is heard between two turns.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(reason) => Err(HostError::system("wait for events", reason)),
        }
    }

    /// Hears of drops as the settings say; that the kernel does not tell is no reason not to do the rest.
    fn watch_drops(&mut self) -> Result<(), HostError> {
        match (&mut self.losses, self.settings.host.drops) {
            (losses, false) => *losses = None,
            (Some(losses), true) => losses.configure(&self.plan)?,
            (None, true) => match Losses::open(&self.plan) {
                Ok(losses) => self.losses = Some(losses),
                Err(error) => self.notes.warn(format!("note: drops are not reported: {}", in_full(&error))),
            },
        }
        Ok(())
    }
}

/// What follows from the settings, whose node id is found out, and the devices that are there.
fn plan(settings: &mut HostSettings, netlink: &mut Netlink) -> Result<(Plan, Vec<Device>), HostError> {
    let all = device::all(netlink).map_err(|reason| HostError::system("list the devices", reason))?;
    settings.resolve_id(netlink, &all)?;
    Ok((Plan::new(settings, &all, settings.host.clock.offset())?, all))
}
