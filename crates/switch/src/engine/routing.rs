//! Routing: the forwarding table, the kernel's tables it follows, and packets waiting for a neighbour.

use std::sync::Arc;

use inband_linux::device::Device;
use inband_node::NodeConfig;

use crate::error::SwitchError;
use crate::follow::{Follower, Tables};
use crate::forward::{Arrival, Decision, Forwarding, Neighbour};
use crate::guard::OwnAddresses;
use crate::packet::Packet;
use crate::port::Port;
use crate::waiting::{Wait, Waiting};

/// The routing of a switch.
#[derive(Debug)]
pub(super) struct Routing {
    forwarding: Forwarding,
    follower: Follower,
    /// The version of the kernel's tables in use.
    version: u64,
    waiting: Waiting,
}

impl Routing {
    /// Reads the kernel's tables for the first time, and follows them.
    pub(super) fn start(
        config: &NodeConfig,
        devices: &[Device],
        own: OwnAddresses,
    ) -> Result<Self, SwitchError> {
        let follower = Follower::start(own)?;
        let mut forwarding = Forwarding::new(config, devices);
        let version = follower.version();
        forwarding.adopt(&follower.tables());
        Ok(Self { forwarding, follower, version, waiting: Waiting::default() })
    }

    /// Applies another configuration's entries.
    pub(super) fn reload(&mut self, config: &NodeConfig) {
        self.forwarding.reload(config);
    }

    /// Forwards to another device in place of that of a port.
    pub(super) fn set_device(&mut self, port: usize, device: &Device) {
        self.forwarding.set_device(port, device);
    }

    /// The kernel's tables.
    pub(super) fn tables(&self) -> Arc<Tables> {
        self.follower.tables()
    }

    /// Whether the switch sends ICMP messages as a router does.
    pub(super) fn is_router(&self) -> bool {
        self.forwarding.is_router()
    }

    pub(super) fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        self.forwarding.decide(arrival)
    }

    /// The source address of messages to senders behind `port`.
    pub(super) fn source(&self, port: &Port, is_v4: bool) -> Option<std::net::IpAddr> {
        self.follower.tables().source(port.device.index, is_v4)
    }

    /// Holds a packet until `neighbour` is known; returns it where there is no room.
    pub(super) fn wait_for(&mut self, neighbour: Neighbour, packet: Packet, now: u64) -> Option<Packet> {
        match self.waiting.push(neighbour, packet, now) {
            Wait::First => {
                self.follower.look_for(vec![neighbour]);
                None
            }
            Wait::Queued => None,
            Wait::Refused(packet) => Some(packet),
        }
    }

    /// Whether packets wait for a neighbour.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Adopts the kernel's current tables; returns the packets whose neighbour is now known, and the tables.
    /// `None`: they have not changed.
    pub(super) fn adopt_tables(&mut self) -> Option<(Vec<Packet>, Arc<Tables>)> {
        let version = self.follower.version();
        if version == self.version {
            return None;
        }
        self.version = version;
        let tables = self.follower.tables();
        self.forwarding.adopt(&tables);
        Some((self.waiting.take_resolved(&tables), tables))
    }

    /// Takes the packets that have waited too long for their neighbour at `now`.
    pub(super) fn take_expired(&mut self, now: u64) -> Vec<Packet> {
        self.waiting.take_expired(now)
    }

    /// Takes all packets that wait for their neighbour.
    pub(super) fn take_waiting(&mut self) -> Vec<Packet> {
        self.waiting.take_all()
    }

    /// The number of packets from a port that wait for their neighbour.
    pub(super) fn waiting_from(&self, ingress: usize) -> usize {
        self.waiting.count(ingress)
    }

    /// Lets the kernel check whether the neighbours behind `ports` still exist, if the switch is a router.
    pub(super) fn refresh(&self, ports: &[Port]) {
        if self.forwarding.is_router() {
            let tables = self.follower.tables();
            let is_ours = |device: u32| ports.iter().any(|port| port.device.index == device);
            let neighbours = tables.passing_neighbours().filter(|(device, _)| is_ours(*device));
            self.follower.look_for(neighbours.collect());
        }
    }

    /// The numbers of routes and neighbours in the kernel's tables.
    pub(super) fn sizes(&self) -> (usize, usize) {
        self.follower.tables().sizes()
    }

    /// The latest version of the kernel's tables.
    pub(super) fn version(&self) -> u64 {
        self.follower.version()
    }
}
