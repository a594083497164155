//! The nodes of the network, their links and clocks, and the flows that cross it.

use std::net::Ipv4Addr;

use inband_model::Flow;

use super::HOPS;
use super::numbers::{Numbers, mix};

/// The state that is constant while packets pass.
#[derive(Debug, Clone)]
pub(super) struct Fabric {
    seed: u64,
    flows: Vec<(u16, u16, Flow)>,
    clocks: Vec<Clock>,
}

/// Clock error of a node, nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Clock {
    offset: u64,
    /// Amplitude and period of its drift.
    swing: u64,
    period: u64,
}

/// The path of a flow: node numbers, from 0, with ingress and egress interface at each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) flow: Flow,
    pub(super) nodes: [usize; HOPS],
    pub(super) interfaces: [(u16, u16); HOPS],
    pub(super) queue: u8,
}

impl Fabric {
    pub(super) fn new(numbers: &mut Numbers, flows: usize) -> Self {
        let flows = (0..flows).map(|_| flow(numbers)).collect();
        let clock = |_| Clock {
            offset: numbers.below(1_001),
            swing: numbers.below(100),
            period: 20_000_000_000 + numbers.below(60_000_000_000),
        };
        let clocks = (0..LEAVES + AGGREGATES + CORES).map(clock).collect();
        Self { seed: numbers.next(), flows, clocks }
    }

    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The path of a flow, whose hash selects among equal ones.
    pub(super) fn route(&self, flow: usize) -> Route {
        let (from, to, flow) = self.flows[flow];
        let hash = mix(flow.id().0 ^ self.seed);
        let (aggregate, uplink) = (hash % PER_POD_AGGREGATES, hash / PER_POD_AGGREGATES % UPLINKS);
        let core = aggregate * UPLINKS + uplink;
        let (from_pod, from_leaf) = split(from);
        let (to_pod, to_leaf) = split(to);
        let aggregate_of = |pod: u64| LEAVES as u64 + pod * PER_POD_AGGREGATES + aggregate;
        let nodes = [
            from_pod * PER_POD_LEAVES + from_leaf,
            aggregate_of(from_pod),
            (LEAVES + AGGREGATES) as u64 + core,
            aggregate_of(to_pod),
            to_pod * PER_POD_LEAVES + to_leaf,
        ];
        let (leaf_up, aggregate_up) = (HOSTS + 1 + aggregate, PER_POD_LEAVES + 1 + uplink);
        let interfaces = [
            (port_of(from), leaf_up),
            (from_leaf + 1, aggregate_up),
            (from_pod + 1, to_pod + 1),
            (aggregate_up, to_leaf + 1),
            (leaf_up, port_of(to)),
        ];
        let narrow = |port: u64| u16::try_from(port).unwrap_or(0);
        Route {
            flow,
            nodes: nodes.map(|node| usize::try_from(node).unwrap_or(0)),
            interfaces: interfaces.map(|(ingress, egress)| (narrow(ingress), narrow(egress))),
            queue: if flow.destination_port == 4791 { 3 } else { 0 },
        }
    }

    /// Mean number of cells queued at an interface at this time: mostly few, occasionally many.
    pub(super) fn load(&self, node: usize, interface: u16, time: u64) -> u64 {
        let link = (node as u64) << 16 | u64::from(interface);
        let draw = mix(link ^ mix(time / LOAD_CHANGES_NS) ^ self.seed);
        match draw % 1_000 {
            0..=1 => 700 + draw % 1_500,
            2..=30 => 40 + draw % 160,
            _ => 1 + draw % 6,
        }
    }

    /// Delay of a packet between two adjacent nodes, nanoseconds.
    pub(super) fn link(&self, from: usize, to: usize) -> u64 {
        let (low, high) = (from.min(to), from.max(to));
        let length = mix(self.seed ^ (low as u64) << 32 ^ high as u64);
        if is_core(high) { 200 + length % 1_300 } else { 30 + length % 220 }
    }

    /// A node's clock at a given time.
    pub(super) fn read_clock(&self, node: usize, time: u64, numbers: &mut Numbers) -> u64 {
        let Clock { offset, swing, period } = self.clocks[node];
        let phase = time % period;
        let drift = phase.min(period - phase) * 2 * swing / period;
        time + offset + drift + numbers.below(9) - 500
    }
}

/// The id of a node: leaves from 1, then aggregates, then cores.
pub(super) fn id(node: usize) -> u32 {
    u32::try_from(node + 1).unwrap_or(u32::MAX)
}

pub(super) fn is_core(node: usize) -> bool {
    node >= LEAVES + AGGREGATES
}

/// A flow between hosts of two pods, with the host numbers.
fn flow(numbers: &mut Numbers) -> (u16, u16, Flow) {
    let hosts = LEAVES as u64 * HOSTS;
    let from = numbers.below(hosts);
    let pod = hosts / PODS;
    let to = (from / pod * pod + pod + numbers.below(hosts - pod)) % hosts;
    let [from, to] = [from, to].map(|host| u16::try_from(host).unwrap_or(0));
    let pick = usize::try_from(numbers.below(SERVICES.len() as u64)).unwrap_or(0);
    let (protocol, destination_port) = SERVICES[pick];
    let flow = Flow {
        source: address(from).into(),
        destination: address(to).into(),
        protocol,
        source_port: u16::try_from(32_768 + numbers.below(28_232)).unwrap_or(0),
        destination_port,
    };
    (from, to, flow)
}

/// 10.pod.leaf.host
fn address(host: u16) -> Ipv4Addr {
    let (pod, leaf) = split(host);
    let part = |part: u64| u8::try_from(part).unwrap_or(0);
    Ipv4Addr::new(10, part(pod), part(leaf), part(port_of(host)))
}

/// Pod and leaf of a host.
fn split(host: u16) -> (u64, u64) {
    let leaf = u64::from(host) / HOSTS;
    (leaf / PER_POD_LEAVES, leaf % PER_POD_LEAVES)
}

/// The interface of a host on its leaf.
fn port_of(host: u16) -> u64 {
    u64::from(host) % HOSTS + 1
}

pub(super) const LEAVES: usize = 512;
const AGGREGATES: usize = 128;
const CORES: usize = 32;
pub(super) const FLOWS: usize = 200_000;
const PODS: u64 = 16;
const PER_POD_LEAVES: u64 = LEAVES as u64 / PODS;
const PER_POD_AGGREGATES: u64 = AGGREGATES as u64 / PODS;
/// Number of cores that an aggregate is connected to.
const UPLINKS: u64 = CORES as u64 / PER_POD_AGGREGATES;
/// Number of hosts on a leaf.
const HOSTS: u64 = 40;
/// Interval in which the load of a link is constant.
const LOAD_CHANGES_NS: u64 = 250_000_000;
/// Protocols and ports that hosts serve.
const SERVICES: [(u8, u16); 10] = [
    (6, 443),
    (6, 443),
    (6, 443),
    (6, 80),
    (6, 9_092),
    (6, 6_379),
    (6, 5_432),
    (6, 2_049),
    (17, 4_791),
    (17, 53),
];
