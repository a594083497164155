//! The simulated fabric, from one event to the next.

use std::collections::VecDeque;

use inband_node::{ConfigError, Counters, Node, NodeConfig};
use thiserror::Error;

use crate::egress_port::EgressPort;
use crate::event_queue::EventQueue;
use crate::host::Host;
use crate::ledger::Ledger;
use crate::link::LinkConfig;
use crate::packet::{Packet, TrueHop};
use crate::random::{Random, mix};
use crate::routing::Routing;
use crate::scenario::Action;
use crate::switch::{Switch, node_config};
use crate::time::{MICROSECOND, Nanos};
use crate::topology::{Device, LeafSpine, Port, TopologyError, host_mac, switch_mac};

mod actions;
mod flow;
mod forwarding;
mod packets;
mod traffic;

pub use flow::FlowError;
use flow::Flows;
use packets::Packets;

#[cfg(test)]
mod tests;

/// A leaf-spine fabric with its hosts and their traffic, in virtual time.
///
/// The fabric is passive: `run_until` advances time, `poll_report` returns the reports sent meanwhile.
/// The same configuration and the same calls produce the same frames at the same nanoseconds.
#[derive(Debug)]
pub struct Fabric {
    config: FabricConfig,
    now: Nanos,
    events: EventQueue<Event>,
    routing: Routing,
    switches: Vec<Switch>,
    hosts: Vec<Host>,
    flows: Flows,
    packets: Packets,
    reports: VecDeque<Report>,
    ledger: Ledger,
    random: Random,
    fingerprint: u64,
}

/// The configuration of a fabric.
#[derive(Clone, Debug)]
pub struct FabricConfig {
    /// Switches and hosts.
    pub topology: LeafSpine,
    /// Links between hosts and leaves.
    pub host_link: LinkConfig,
    /// Links between leaves and spines.
    pub fabric_link: LinkConfig,
    /// Capacity of the queue of each switch port.
    pub queue_bytes: usize,
    /// Time from the arrival of a frame's last bit at a switch until the frame is in its egress queue.
    pub forwarding_ns: Nanos,
    /// Random seed: for hashes, sequence numbers and burst lengths.
    pub seed: u64,
    /// Whether to hash every frame on every link; see [`Fabric::fingerprint`].
    pub fingerprint: bool,
    /// Template of the INT nodes on all switches, whose ids and interfaces come from the fabric; `None`: no
    /// INT.
    pub telemetry: Option<NodeConfig>,
    /// The switches' clocks at virtual time 0, nanoseconds.
    pub clock_ns: Nanos,
    /// Maximum clock offset of a switch, nanoseconds; each switch's offset is drawn from the seed.
    pub clock_error_ns: Nanos,
}

/// A report of a node in transit to the collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The node that sent it.
    pub node_id: u32,
    /// When it was sent.
    pub sent_at: Nanos,
    /// Payload of the UDP datagram.
    pub payload: Vec<u8>,
    /// The path of its packet up to and including this node: the contents of a correct report.
    pub true_path: Vec<TrueHop>,
}

/// The reason a fabric cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FabricError {
    /// The topology is out of range.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The configuration of the INT nodes is invalid.
    #[error("cannot configure the INT nodes")]
    Telemetry(#[from] ConfigError),
}

#[derive(Debug)]
enum Event {
    /// A packet reaches the egress queue of a switch, or a host.
    Arrival { port: Port, packet: Box<Packet> },
    /// The last bit of a frame has left a port.
    Sent { port: Port },
    /// The timer of a flow is due.
    Timer { flow: usize },
    /// A planned change is due.
    Action(Action),
}

impl FabricConfig {
    /// The clock of a switch at virtual time 0.
    fn clock_of(&self, switch: usize) -> Nanos {
        let number = u64::try_from(switch).unwrap_or(u64::MAX);
        let off = mix(self.seed ^ mix(number)) % (2 * self.clock_error_ns + 1);
        (self.clock_ns + off).saturating_sub(self.clock_error_ns)
    }
}

impl Default for FabricConfig {
    /// Four leaves, two spines, two hosts per leaf; gigabit links of 500 ns; 512 KiB in front of each port.
    fn default() -> FabricConfig {
        let gigabit = LinkConfig { bits_per_second: 1_000_000_000, propagation_ns: 500 };
        FabricConfig {
            topology: LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 2 },
            host_link: gigabit,
            fabric_link: gigabit,
            queue_bytes: 512 * 1024,
            forwarding_ns: MICROSECOND,
            seed: 1,
            fingerprint: false,
            telemetry: None,
            clock_ns: 0,
            clock_error_ns: 0,
        }
    }
}

impl Fabric {
    /// Builds an idle fabric.
    ///
    /// # Errors
    /// `FabricError` identifies what cannot be built.
    pub fn new(config: FabricConfig) -> Result<Fabric, FabricError> {
        let topology = config.topology.check()?;
        let switches =
            (0..topology.switches()).map(|switch| build_switch(&config, switch)).collect::<Result<_, _>>()?;
        let hosts = (0..topology.hosts()).map(|host| build_host(&config, host)).collect();
        Ok(Fabric {
            now: 0,
            events: EventQueue::new(),
            routing: Routing::new(topology, mix(config.seed)),
            switches,
            hosts,
            flows: Flows::default(),
            packets: Packets::default(),
            reports: VecDeque::new(),
            ledger: Ledger::default(),
            random: Random::new(config.seed),
            fingerprint: 0,
            config,
        })
    }

    /// Processes every event due at `until` or earlier.
    pub fn run_until(&mut self, until: Nanos) {
        while let Some((at, event)) = self.events.pop_until(until) {
            self.now = at;
            match event {
                Event::Arrival { port, packet } => self.handle_arrival(port, packet),
                Event::Sent { port } => self.handle_sent(port),
                Event::Timer { flow } => self.handle_timer(flow),
                Event::Action(action) => self.handle_action(&action),
            }
        }
        self.now = self.now.max(until);
    }

    /// The next report, in the order they were sent.
    ///
    /// Up to 2^20 reports are pending; the excess is counted in [`Ledger::reports_discarded`].
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// The counters of the INT nodes, by node id; empty without INT.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, &Counters)> {
        self.switches.iter().filter_map(|switch| Some((switch.node_id, switch.node.as_ref()?.counters())))
    }

    /// The current virtual time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The configuration of the fabric.
    pub fn config(&self) -> &FabricConfig {
        &self.config
    }

    /// The fate of the packets so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Packets in queues and on links, counted one by one.
    pub fn in_flight(&self) -> u64 {
        let is_arrival = |event: &&Event| matches!(event, Event::Arrival { .. });
        let on_links = self.events.pending().filter(is_arrival).count();
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        let queued: usize =
            ports.chain(self.hosts.iter().map(|host| &host.port)).map(|port| port.queue.len()).sum();
        (on_links + queued) as u64
    }

    /// A hash over every frame sent on every link so far with its time and port; 0 unless the configuration
    /// requests it.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn egress_port(&mut self, port: Port) -> &mut EgressPort {
        match port.device {
            Device::Switch(switch) => &mut self.switches[switch].ports[port.number],
            Device::Host(host) => &mut self.hosts[host].port,
        }
    }
}

fn build_switch(config: &FabricConfig, switch: usize) -> Result<Switch, FabricError> {
    let build_port = |peer: &Port| {
        let link = match peer.device {
            Device::Host(_) => config.host_link,
            Device::Switch(_) => config.fabric_link,
        };
        EgressPort::new(*peer, link, config.queue_bytes)
    };
    let (node_id, peers) = (config.topology.node_id(switch), config.topology.peers(switch));
    let devices: Vec<_> = peers.iter().map(|peer| peer.device).collect();
    let node = match &config.telemetry {
        Some(template) => Some(Node::new(&node_config(template, node_id, &devices))?),
        None => None,
    };
    Ok(Switch { node_id, mac: switch_mac(switch), ports: peers.iter().map(build_port).collect(), node })
}

fn build_host(config: &FabricConfig, host: usize) -> Host {
    let (leaf, number) = config.topology.attachment(host);
    let peer = Port { device: Device::Switch(leaf), number };
    Host {
        address: config.topology.host_address(host),
        mac: host_mac(host),
        router_mac: switch_mac(leaf),
        port: EgressPort::new(peer, config.host_link, HOST_QUEUE_BYTES),
        next_identification: 0,
    }
}

/// Maximum number of pending reports.
const MAX_REPORTS: usize = 1 << 20;
/// Capacity of the queue of a host's interface.
const HOST_QUEUE_BYTES: usize = 4 * 1024 * 1024;
