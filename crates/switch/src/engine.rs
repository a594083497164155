//! The switch: receives, decides, queues, does the node's INT work, sends.

mod arrive;
mod depart;
mod intake;
mod presence;
mod routing;
mod timers;

use std::time::Duration;

use inband_linux::clock;
use inband_linux::netlink::Netlink;
use inband_node::config::{Forwarding, FrameIo};
use inband_node::{NodeConfig, Profile};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::claim::Claim;
use crate::config;
use crate::counts::Cause;
use crate::error::SwitchError;
use crate::guard::{Guard, OwnAddresses};
use crate::packet::Pool;
use crate::port::Port;
use crate::rings::{Opened, ProgramClock, Sending};
use crate::status::{PortStatus, Status};
use crate::telemetry::Telemetry;

use self::intake::Intake;
use self::routing::Routing;
use self::timers::Timers;

/// One INT node on live interfaces, of the network namespace it was started in.
#[derive(Debug)]
pub struct Switch {
    config: NodeConfig,
    intake: Intake,
    routing: Routing,
    ports: Vec<Port>,
    telemetry: Telemetry,
    pool: Pool,
    timers: Timers,
    reloads: u64,
    guard: Guard,
    /// Dropped last: until then no other switch has the devices.
    claim: Claim,
}

/// The longest wait of [`Switch::step`].
const MAX_WAIT: Duration = Duration::from_millis(100);
/// When a device is asked again to take frames that it had no room for, nanoseconds.
const RETRY_NS: u64 = 1_000_000;

impl Switch {
    /// Starts the switch that `config` describes, on the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// A mistake in the configuration, or a refusal of the system. Nothing has changed then.
    pub fn start(config: &NodeConfig) -> Result<Self, SwitchError> {
        config::check(config)?;
        let profile = Profile::compile(config)?;
        let mut netlink = Netlink::open().map_err(SwitchError::system("reach netlink"))?;
        let devices = config::devices(config, &mut netlink)?;
        config::check_unbound(&devices)?;
        let claim = Claim::on(&devices)?;
        let is_router = config.switch.forwarding == Forwarding::Routes;
        let own = OwnAddresses::none()?;
        let guard = Guard::attach(&devices, &own, is_router)?;
        let Opened { memory, rings } = Opened::open(config, &devices, &own)?;
        let routing = Routing::start(config, &devices, own)?;
        let opened = config.interfaces.iter().zip(&devices).zip(rings);
        let ports = opened
            .map(|((interface, device), rings)| Port::open(interface, device, rings))
            .collect::<Result<_, _>>()?;
        clock::wake_in_time();
        let mut switch = Self {
            intake: Intake::new(),
            routing,
            ports,
            telemetry: Telemetry::start(config, profile)?,
            pool: Pool::sharing(memory),
            timers: Timers::new(),
            reloads: 0,
            config: config.clone(),
            guard,
            claim,
        };
        switch.look_at_sending();
        Ok(switch)
    }

    /// Handles what is pending; if nothing is, waits up to a tenth of a second for a frame.
    ///
    /// # Errors
    /// An error of the system about an interface.
    pub fn step(&mut self) -> Result<(), SwitchError> {
        if let Some((resolved, tables)) = self.routing.adopt_tables() {
            self.follow_devices(&tables);
            resolved.into_iter().for_each(|packet| self.dispatch(packet));
        }
        let received = self.receive();
        let now = clock::realtime();
        self.advance_all(now);
        if self.timers.tick(now) {
            self.tick(now);
        }
        for port in &mut self.ports {
            port.flush(&mut self.pool);
        }
        if received == 0 { self.wait() } else { Ok(()) }
    }

    /// Does the periodic work.
    fn tick(&mut self, now: u64) {
        for packet in self.routing.take_expired(now) {
            self.give_up(packet);
        }
        self.intake.clock = ProgramClock::read();
        self.telemetry.handle_timeout(now);
        self.drain_outputs(now);
        for port in &mut self.ports {
            port.counts.receive_losses += port.take_losses();
        }
        if self.timers.looks(now) {
            self.look_at_sending();
            if self.ports.iter().any(|port| port.absence.is_some()) {
                self.follow_devices(&self.routing.tables());
            }
        }
        if self.timers.refresh(now) {
            self.routing.refresh(&self.ports);
        }
    }

    /// Checks how the kernel would treat outgoing frames, which those past its stack would miss.
    fn look_at_sending(&mut self) {
        // With `af-xdp` they are meant to miss it; without rings none do.
        let is_demanded = self.config.switch.io == FrameIo::AfXdp;
        if is_demanded || self.ports.iter().all(|port| port.rings.is_err()) {
            return;
        }
        // On failure the next check retries.
        let Ok(mut netlink) = Netlink::open() else { return };
        let sending = Sending::look(&mut netlink);
        for port in self.ports.iter_mut().filter(|port| port.rings.is_ok()) {
            port.detour = sending.obstacle(&port.device);
        }
    }

    /// Waits until there is something to do.
    fn wait(&self) -> Result<(), SwitchError> {
        let now = clock::realtime();
        let longest = now + u64::try_from(MAX_WAIT.as_nanos()).unwrap_or(u64::MAX);
        let mut until = self.ports.iter().filter_map(Port::next_at).fold(longest, u64::min);
        until = self.telemetry.next_probe_at().map_or(until, |at| until.min(at));
        if self.routing.has_waiting() || self.telemetry.groups_reports() {
            until = until.min(self.timers.tick_at());
        }
        if self.ports.iter().any(Port::is_sending) {
            until = until.min(now + RETRY_NS);
        }
        let left = i64::try_from(until.saturating_sub(now)).unwrap_or(0);
        let timeout = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        let flags = |is_blocked| if is_blocked { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut ports: Vec<PollFd<'_>> = Vec::with_capacity(2 * self.ports.len());
        for port in self.ports.iter().filter(|port| port.absence.is_none()) {
            ports.push(PollFd::new(&port.socket, flags(port.is_blocked && !port.sends_by_rings())));
            let Ok(rings) = &port.rings else { continue };
            ports.extend(rings.sockets().iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
            if port.is_blocked
                && port.sends_by_rings()
                && let Some(sending) = rings.sending()
            {
                ports.push(PollFd::from_borrowed_fd(sending, PollFlags::OUT));
            }
        }
        match poll(&mut ports, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(SwitchError::system("wait for frames")(error.into())),
        }
    }

    /// Applies the flow watchlist, the filters and triggers, the drop reasons, the static entries, and rate
    /// and size of queues from the next packet on. No packet is lost.
    ///
    /// # Errors
    /// A mistake in the configuration, or a change that needs a restart; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        config::check(config)?;
        config::check_reload(&self.config, config)?;
        self.telemetry.reload(config)?;
        self.routing.reload(config);
        for (port, interface) in self.ports.iter_mut().zip(&config.interfaces) {
            port.configure(interface);
        }
        self.config = config.clone();
        self.reloads += 1;
        Ok(())
    }

    /// Completes pending reports, sends what is due, and drops what waits.
    pub fn finish(&mut self) {
        for packet in self.routing.take_waiting() {
            self.drop(packet, None, None, Cause::Ended);
        }
        self.telemetry.flush();
        self.drain_outputs(clock::realtime());
        loop {
            let before = self.waiting_packets();
            self.advance_all(clock::realtime());
            self.ports.iter_mut().for_each(|port| port.flush(&mut self.pool));
            // Nothing arrives any more, so each round but the last has fewer.
            if self.waiting_packets() >= before {
                break;
            }
        }
        // Those about the last packets.
        self.telemetry.flush();
        self.drain_outputs(clock::realtime());
        for port in &mut self.ports {
            port.end(&mut self.pool);
            port.counts.receive_losses += port.take_losses();
        }
    }

    fn waiting_packets(&self) -> usize {
        self.ports.iter().map(Port::waiting_packets).sum()
    }

    /// The status of the switch.
    #[must_use]
    pub fn status(&self) -> Status {
        let (routes, neighbours) = self.routing.sizes();
        Status {
            node_id: self.config.node.id,
            io: if self.ports.iter().any(|port| port.rings.is_ok()) { "af-xdp" } else { "af-packet" },
            frames: self.ports.iter().map(|port| (port.device.name.clone(), port.frame_io())).collect(),
            interfaces: self.ports.iter().enumerate().map(|(at, port)| self.port_status(at, port)).collect(),
            outcomes: self.telemetry.outcomes(),
            reports: self.telemetry.reports(),
            routes,
            neighbours,
            table_version: self.routing.version(),
            reloads: self.reloads,
            ..Status::default()
        }
    }

    fn port_status(&self, at: usize, port: &Port) -> PortStatus {
        let counts = &port.counts;
        let drops = counts.drops().filter(|(_, count)| *count > 0);
        PortStatus {
            id: port.id,
            device: port.device.name.clone(),
            received_packets: counts.received_packets,
            received_bytes: counts.received_bytes,
            receive_losses: counts.receive_losses,
            to_host: counts.to_host,
            sent_packets: counts.sent_packets,
            sent_bytes: counts.sent_bytes,
            waiting_bytes: port.all_waiting_bytes(),
            waiting_packets: port.waiting_packets(),
            unresolved_packets: self.routing.waiting_from(at),
            drops: drops.map(|(cause, count)| (Cause::name(cause), count)).collect(),
            absence: port.absence.clone(),
        }
    }
}
