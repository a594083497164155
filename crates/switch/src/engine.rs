//! The switch: receives, decides, queues, does the node's INT work, sends.

mod arrive;
mod depart;
mod wait;

use std::time::Duration;

use inband_linux::frames::Batch;
use inband_linux::netlink::Netlink;
use inband_linux::{clock, device};
use inband_node::{Core, Node, NodeConfig, Profile};

use crate::config;
use crate::counts::Cause;
use crate::error::SwitchError;
use crate::follow::Follower;
use crate::forward::Forwarding;
use crate::guard::Guard;
use crate::packet::{Packet, Pool};
use crate::port::Port;
use crate::reports::Senders;
use crate::status::{PortStatus, Status};
use crate::waiting::Waiting;

/// One INT node on live interfaces, of the network namespace it was started in.
#[derive(Debug)]
pub struct Switch {
    config: NodeConfig,
    node: Node,
    ports: Vec<Port>,
    forwarding: Forwarding,
    follower: Follower,
    /// The version of the tables in use.
    tables: u64,
    waiting: Waiting,
    senders: Senders,
    pool: Pool,
    /// `None` while its frames are taken in.
    batch: Option<Batch>,
    /// Room for the frames of one super-packet.
    whole: Vec<Packet>,
    tail_drop: u8,
    /// How many messages may be sent to senders of packets until the budget is filled up again.
    messages: u32,
    tick_at: u64,
    refresh_at: u64,
    reloads: u64,
    /// Whether reports wait for others.
    groups_reports: bool,
}

/// How often what is not about packets is seen to, nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Messages to senders of packets in that time: 1,000 a second.
const MESSAGES: u32 = 10;
/// How often neighbours are asked whether they are still there, nanoseconds.
const REFRESH_NS: u64 = 15_000_000_000;
/// The longest that [`Switch::step`] waits.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

impl Switch {
    /// Starts the switch that `config` describes, on the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// What is wrong in the configuration; what the system does not allow. Nothing has changed then.
    pub fn start(config: &NodeConfig) -> Result<Self, SwitchError> {
        config::check(config)?;
        let profile = Profile::compile(config)?;
        let mut netlink = Netlink::open().map_err(SwitchError::system("reach netlink"))?;
        let devices = config::devices(config, &mut netlink)?;
        config::check_unbound(&devices)?;
        let guard = Guard::attach(&devices)?;
        let follower = Follower::start(guard)?;
        let opened = config.interfaces.iter().zip(&devices);
        let ports =
            opened.map(|(interface, device)| Port::open(interface, device)).collect::<Result<_, _>>()?;
        let mut forwarding = Forwarding::new(config, &devices);
        let tables = follower.version();
        forwarding.adopt(&follower.tables());
        clock::wake_in_time();
        Ok(Self {
            node: Node::on_core(profile, Core::ONLY)?,
            ports,
            forwarding,
            follower,
            tables,
            waiting: Waiting::default(),
            senders: Senders::open(&config.report),
            pool: Pool::default(),
            batch: Some(Batch::new()),
            whole: Vec::new(),
            tail_drop: config.drop_reasons.table.tail_drop(),
            messages: MESSAGES,
            tick_at: 0,
            refresh_at: 0,
            reloads: 0,
            groups_reports: config.report.sessions().iter().any(|session| session.group.get() > 1),
            config: config.clone(),
        })
    }

    /// Does what there is to do; where there is nothing, waits for a frame for at most a tenth of a second.
    ///
    /// # Errors
    /// What the system says about an interface.
    pub fn step(&mut self) -> Result<(), SwitchError> {
        self.adopt_tables();
        let received = self.receive()?;
        let now = clock::realtime();
        self.advance_all(now);
        if now >= self.tick_at || now + TICK_NS < self.tick_at {
            self.tick(now);
        }
        for port in &mut self.ports {
            port.flush(&mut self.pool);
        }
        if received == 0 { self.wait() } else { Ok(()) }
    }

    /// What is done from time to time.
    fn tick(&mut self, now: u64) {
        self.tick_at = now + TICK_NS;
        self.messages = MESSAGES;
        self.give_up_waiting(now);
        self.node.handle_timeout(now);
        self.drain_outputs(now);
        for port in &mut self.ports {
            // Counts that cannot be read now are read the next time.
            port.counts.receive_losses += u64::from(port.socket.take_losses().unwrap_or(0));
        }
        if now >= self.refresh_at {
            self.refresh_at = now + REFRESH_NS;
            if self.forwarding.is_router() {
                let tables = self.follower.tables();
                let is_ours = |device: u32| self.ports.iter().any(|port| port.device.index == device);
                self.follower.look_for(tables.neighbours().filter(|(device, _)| is_ours(*device)).collect());
            }
        }
    }

    /// Takes over the flow watchlist, the filters and triggers, the drop reasons, the static entries, and rate and size
    /// of queues from the next packet on. No packet is lost.
    ///
    /// # Errors
    /// What is wrong in the configuration, or cannot change while the switch runs; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        config::check(config)?;
        config::check_reload(&self.config, config)?;
        let profile = self.node.profile().reload(config)?;
        self.node.adopt(profile);
        self.forwarding.reload(config);
        for (port, interface) in self.ports.iter_mut().zip(&config.interfaces) {
            port.configure(interface);
        }
        self.config = config.clone();
        self.reloads += 1;
        Ok(())
    }

    /// Completes reports that wait for more, and sends what waits for the devices.
    pub fn finish(&mut self) {
        self.node.flush_reports();
        self.drain_outputs(clock::realtime());
        for port in &mut self.ports {
            port.flush(&mut self.pool);
        }
    }

    /// What the switch says of itself.
    #[must_use]
    pub fn status(&self) -> Status {
        let (routes, neighbours) = self.follower.tables().sizes();
        let Senders { sent, failed, refused, .. } = self.senders;
        Status {
            node_id: self.config.node.id,
            io: "af-packet",
            interfaces: self.ports.iter().map(port_status).collect(),
            outcomes: self.node.counters().iter().map(|(outcome, count)| (outcome.name(), count)).collect(),
            reports: [("sent", sent), ("failed", failed), ("refused", refused)].into(),
            routes,
            neighbours,
            table_version: self.follower.version(),
            reloads: self.reloads,
            ..Status::default()
        }
    }

    /// Whether an interface's device is still there.
    ///
    /// # Errors
    /// It is not, or the kernel does not say.
    fn check_device(&self, port: usize) -> Result<(), SwitchError> {
        let Some(port) = self.ports.get(port) else { return Ok(()) };
        let fault = || SwitchError::system(format!("receive frames of {}", port.device.name));
        let all = Netlink::open().and_then(|mut netlink| device::all(&mut netlink)).map_err(fault())?;
        if all.iter().any(|device| device.index == port.device.index) {
            return Ok(());
        }
        Err(fault()(std::io::ErrorKind::NotFound.into()))
    }
}

fn port_status(port: &Port) -> PortStatus {
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
        drops: drops.map(|(cause, count)| (Cause::name(cause), count)).collect(),
    }
}
