//! The agent, which makes the host a source and a sink: programs on its devices, and one engine for events.

mod control;
mod end;
mod follow;
mod hear;
mod keeper;
mod kernel;
mod losses;
mod notes;
mod port;
mod ports;
mod reporter;
mod retry;
mod senders;
mod status;
mod tally;

use std::io;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::Duration;

use aya::maps::{MapData, RingBuf};
use inband_linux::clock;
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
use kernel::Kernel;
use losses::Losses;
use notes::{Notes, in_full};
use ports::Ports;
use reporter::Reporter;
use senders::Senders;
pub use status::{FlowStatus, PeerStatus};
pub use tally::Tally;

/// INT on this host, until it is stopped.
pub struct Agent {
    settings: HostSettings,
    plan: Plan,
    ports: Ports,
    kernel: Kernel,
    /// Events of the programs.
    events: RingBuf<MapData>,
    reporter: Reporter,
    control: Control,
    /// `None`: drops are not requested, or the kernel does not report them.
    losses: Option<Losses>,
    /// Keeps a second agent away from the same shims.
    _lock: Lock,
    /// When clocks and devices are next checked, nanoseconds of the monotonic clock.
    next_look: u64,
    /// When the load of devices is next measured, of the same clock.
    next_measurement: u64,
    notes: Notes,
}

/// How long events gather: only the first of them interrupts a processor to wake the agent.
const GATHER: Duration = Duration::from_millis(5);
/// How often clocks and devices are checked, nanoseconds.
const LOOK_NS: u64 = 300_000_000;
/// How long INT is started after a turn, nanoseconds: it stops with an agent that hangs or is stopped.
const HEARTBEAT_NS: u64 = 2_000_000_000;
/// How often the load of devices is measured, nanoseconds.
const MEASURE_NS: u64 = 100_000_000;
const TOO_MANY_NAMESPACES: &str =
    "drops are reported in 256 network namespaces only: host.drop_namespaces matches more";

impl Agent {
    /// Starts INT on the devices that `settings` select.
    ///
    /// # Errors
    /// A setting that cannot be applied, or a refusal of the system; everything is then restored.
    ///
    /// `guard` is a command that calls [`keep_watch`](crate::keep_watch) in a process of its own.
    pub fn start(mut settings: HostSettings, guard: Command) -> Result<Self, HostError> {
        settings.check()?;
        let lock = Lock::take(&settings.host.shim)?;
        let (mut keeper, note) = Keeper::open(&settings.host, guard)?;
        keeper.linger(settings.host.linger_ms)?;
        let linger_ns = u64::from(settings.host.linger_ms) * 1_000_000;
        let mut netlink = Netlink::open().map_err(|reason| HostError::system("reach netlink", reason))?;
        let (plan, _) = kernel::plan(&mut settings, &mut netlink)?;
        let engine = Node::new(&plan.node)?;
        let mut programs = Programs::load_within(settings.host.map_memory_mib)?;
        programs.set_watchlist(&plan.node, settings.host.control_port.get())?;
        programs.beat(clock::boottime() + HEARTBEAT_NS)?;
        let mut control = Control::open(&settings.host, &plan.node)?;
        control.set_peers(&settings.peers, &mut programs, clock::monotonic())?;
        control.inherit_peers(&keeper.ended_always(), &mut programs, clock::monotonic())?;
        keeper.leave_sinks(control.has_permanent_peers());
        let inherited_until = control.take_over(keeper.granted(), &mut programs, clock::monotonic())?;
        keeper.keep_tables(&mut programs, inherited_until)?;
        let events = programs.take_events()?;
        let (senders, unreachable) = Senders::open(&plan.node.report);
        Shim::remove_left(&mut netlink, &settings.host.shim)
            .map_err(|reason| HostError::system("remove what an agent has left behind", reason))?;
        let mut agent = Self {
            settings,
            plan,
            ports: Ports::new(linger_ns, clock::monotonic()),
            kernel: Kernel { programs, netlink, keeper, suspended_ns: clock::suspended() },
            events,
            reporter: Reporter::new(engine, senders),
            control,
            losses: None,
            _lock: lock,
            next_look: clock::monotonic() + LOOK_NS,
            next_measurement: 0,
            notes: Notes::default(),
        };
        for note in note.into_iter().chain(unreachable) {
            agent.notes.warn(note);
        }
        agent.watch_drops()?;
        match agent.ports.open(&agent.plan, &mut agent.kernel, &mut agent.control) {
            Ok(()) => {
                // The start may have taken longer than a heartbeat lasts.
                agent.kernel.programs.beat(clock::boottime() + HEARTBEAT_NS)?;
                Ok(agent)
            }
            Err(error) => {
                agent.ports.close(&mut agent.kernel)?;
                Err(error)
            }
        }
    }

    /// The devices INT is on, by name.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.ports.all().iter().map(|port| port.device.name.as_str())
    }

    /// Waits for at most `patience`, and handles what is pending.
    ///
    /// # Errors
    /// A refusal of the system; what happens to packets is counted.
    pub fn turn(&mut self, patience: Duration) -> Result<(), HostError> {
        self.wait(patience)?;
        self.hear_events();
        let (now, until) = (clock::monotonic(), clock::boottime() + HEARTBEAT_NS);
        self.notice_suspension()?;
        self.kernel.programs.beat(until)?;
        for note in self.control.hear(&mut self.kernel.programs, now)? {
            self.notes.warn(note);
        }
        if let Some(losses) = &mut self.losses {
            let (of, senders) = ((&self.plan, self.ports.all()), || self.control.senders());
            losses.hear(of, &mut self.reporter.engine, senders, now)?;
            if losses.beyond() > 0 {
                self.notes.warn(TOO_MANY_NAMESPACES.to_owned());
            }
        }
        self.reporter.handle_timeout(now.wrapping_add(self.plan.clock_offset.ns));
        if now >= self.next_measurement {
            self.next_measurement = now + MEASURE_NS;
            self.ports.measure(&self.plan, &mut self.kernel, now)?;
        }
        if now >= self.next_look {
            self.next_look = now + LOOK_NS;
            self.control.keep_leases(&mut self.kernel.programs, now)?;
            self.kernel.keeper.leave_sinks(self.control.has_permanent_peers());
            self.look_around()?;
        }
        Ok(())
    }

    /// Applies other settings from the next packet on; no state is lost.
    ///
    /// # Errors
    /// A setting that cannot be applied, or only with a restart; the agent then continues unchanged.
    pub fn reload(&mut self, mut settings: HostSettings) -> Result<(), HostError> {
        settings.check()?;
        let (plan, _) = self.kernel.plan(&mut settings)?;
        if let Some(key) = self.settings.key_of_restart(&settings) {
            return Err(HostError::Restart { key });
        }
        self.reporter.engine.reload(&plan.node)?;
        self.kernel.programs.set_watchlist(&plan.node, settings.host.control_port.get())?;
        self.control.set_peers(&settings.peers, &mut self.kernel.programs, clock::monotonic())?;
        self.renew_guard();
        self.kernel.keeper.linger(settings.host.linger_ms)?;
        self.kernel.keeper.leave_sinks(self.control.has_permanent_peers());
        (self.settings, self.plan) = (settings, plan);
        self.watch_drops()?;
        self.follow_devices()
    }

    /// Takes the oldest note for users.
    pub fn poll_note(&mut self) -> Option<String> {
        self.notes.poll()
    }

    /// The counters since the start.
    ///
    /// # Errors
    /// Counters that the kernel does not return.
    pub fn tally(&self) -> Result<Tally, HostError> {
        let clock = self.settings.host.clock;
        let tally = Tally::read(&self.kernel.programs, &self.reporter, &self.control, clock)?;
        let Some(losses) = &self.losses else { return Ok(tally) };
        Ok(Tally { drops: losses.by_reason().clone(), drops_not_held: losses.not_held()?, ..tally })
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
            // A signal; its handler is checked between two turns.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(reason) => Err(HostError::system("wait for events", reason)),
        }
    }

    /// Watches drops as the settings ask; a kernel that does not report them does not prevent INT.
    fn watch_drops(&mut self) -> Result<(), HostError> {
        match (&mut self.losses, self.settings.host.drops) {
            (losses, false) => *losses = None,
            (Some(losses), true) => {
                losses.configure(&self.plan)?;
                losses.watch(&self.settings.host.drop_namespaces)?;
            }
            (None, true) => match Losses::open(&self.plan, &self.settings.host.drop_namespaces) {
                Ok(losses) => self.losses = Some(losses),
                Err(error) => self.notes.warn(format!("note: drops are not reported: {}", in_full(&error))),
            },
        }
        Ok(())
    }
}
