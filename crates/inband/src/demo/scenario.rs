//! The demo's fabric, its traffic, and its faults.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Error};
use inband_model::{HostName, Labels, NameList, NodeName, NodeUnits, QueueUnit, Tick};
use inband_node::NodeConfig;
use inband_node::config::{Instruction, Mode, PortRange, Protocol, WatchEntry};
use inband_sim::{
    Action, Bursts, Fabric, FabricConfig, FlowConfig, Incast, LeafSpine, Ledger, LinkConfig, MICROSECOND,
    MILLISECOND, Nanos, SECOND, TcpTraffic, Traffic, UdpTraffic, Writes,
};

/// A leaf-spine fabric with TCP and UDP flows. After 3 s a flow takes another spine; after 5 s three hosts
/// send more to a fourth than its link carries; both repeat every 30 s, with another flow. In a short run
/// they start after a third and after half of it.
#[derive(Debug)]
pub(super) struct Scenario {
    fabric: Fabric,
}

const TOPOLOGY: LeafSpine = LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 2 };
/// TCP flows, from host to host; they are rerouted in turn.
const TCP_FLOWS: [(usize, usize); 5] = [(0, 7), (2, 5), (3, 6), (4, 1), (6, 0)];
/// UDP flows, from host to host; the last sends in bursts to a host that also receives TCP.
const UDP_FLOWS: [(usize, usize); 3] = [(1, 4), (5, 2), (7, 0)];
/// 400 bytes every 2 ms: 2 Mbit/s.
const STEADY: UdpTraffic =
    UdpTraffic { payload_bytes: 400, interval_ns: 2 * MILLISECOND, datagrams: None, bursts: None };
/// 66 Mbit/s for about a tenth of the time.
const BURSTY: UdpTraffic = UdpTraffic {
    payload_bytes: 1_200,
    interval_ns: 150 * MICROSECOND,
    datagrams: None,
    bursts: Some(Bursts { on_ns: 20 * MILLISECOND, off_ns: 180 * MILLISECOND, regular: false }),
};
/// When one flow takes another spine, when three hosts send too much, and how often both repeat.
const REROUTED_AT: Nanos = 3 * SECOND;
const CONGESTED_AT: Nanos = 5 * SECOND;
const FAULTS_EVERY: Nanos = 30 * SECOND;
/// Largest error of a switch's clock.
const CLOCK_ERROR_NS: Nanos = 100;
/// Largest difference between two clocks.
pub(super) const CLOCKS_APART_NS: Nanos = 2 * CLOCK_ERROR_NS;
/// The host whose link is overloaded, and the hosts that overload it.
const VICTIM: usize = 1;
const SENDERS: [usize; 3] = [2, 4, 6];

impl Scenario {
    pub(super) fn new(duration: Duration, mode: Mode, seed: u64) -> Result<Self, Error> {
        let fast_ethernet = LinkConfig { bits_per_second: 100_000_000, propagation_ns: MICROSECOND };
        let config = FabricConfig {
            topology: TOPOLOGY,
            host_link: fast_ethernet,
            fabric_link: LinkConfig { bits_per_second: 1_000_000_000, ..fast_ethernet },
            seed,
            telemetry: Some(telemetry(mode)),
            clock_error_ns: CLOCK_ERROR_NS,
            clock_ns: nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
            ..FabricConfig::default()
        };
        let fabric = Fabric::new(config).context("cannot build the fabric")?;
        let mut scenario = Self { fabric };
        scenario.add_traffic(nanos(duration)).context("cannot plan the traffic")?;
        Ok(scenario)
    }

    /// Runs the fabric up to this time from its start.
    pub(super) fn run_until(&mut self, elapsed: Duration) {
        self.fabric.run_until(nanos(elapsed));
    }

    /// The payload of the next report datagram.
    pub(super) fn poll_report(&mut self) -> Option<Vec<u8>> {
        self.fabric.poll_report().map(|report| report.payload)
    }

    /// What became of the packets.
    pub(super) fn packets(&self) -> &Ledger {
        self.fabric.ledger()
    }

    /// Packets in queues and on links, not yet delivered or dropped.
    pub(super) fn packets_under_way(&self) -> u64 {
        self.fabric.in_flight()
    }

    /// The name of a node: `leaf1`, `spine2`.
    pub(super) fn node_name(&self, node_id: u32) -> String {
        let name = node_names().find(|(id, _)| *id == node_id).map(|(_, name)| name);
        name.unwrap_or_else(|| format!("node {node_id}"))
    }

    /// The size of the fabric, for people.
    pub(super) fn size(&self) -> String {
        let LeafSpine { leaves, spines, .. } = TOPOLOGY;
        format!("{leaves} leaves, {spines} spines, {} hosts", TOPOLOGY.hosts())
    }

    fn add_traffic(&mut self, duration: Nanos) -> Result<(), Error> {
        for (index, (source, destination)) in (0..).zip(TCP_FLOWS) {
            // 3 segments every 4 ms: 8 Mbit/s, each flow with its own phase.
            let writes = Writes { bytes: 4_000, every_ns: 4 * MILLISECOND };
            let flow = self.fabric.add_flow(FlowConfig {
                source,
                destination,
                source_port: 40_000 + index,
                destination_port: 443,
                dscp: 0,
                start_ns: u64::from(index) * 700 * MICROSECOND,
                traffic: Traffic::Tcp(TcpTraffic { bytes: None, writes: Some(writes) }),
            })?;
            let first = usize::from(index) % TOPOLOGY.spines;
            self.fabric.schedule(0, Action::Pin { flow, spine: first });
            // The flows take turns, so that none of them flaps.
            let rerouted = times(REROUTED_AT.min(duration / 3), duration).skip(usize::from(index));
            for (turn, at) in rerouted.step_by(TCP_FLOWS.len()).enumerate() {
                self.fabric.schedule(at, Action::Pin { flow, spine: (first + 1 + turn) % TOPOLOGY.spines });
            }
        }
        for (index, (source, destination)) in (0..).zip(UDP_FLOWS) {
            let traffic = if usize::from(index) + 1 < UDP_FLOWS.len() { STEADY } else { BURSTY };
            self.fabric.add_flow(FlowConfig {
                source,
                destination,
                source_port: 50_000 + index,
                destination_port: 5_004,
                dscp: 46,
                start_ns: u64::from(index) * 300 * MICROSECOND,
                traffic: Traffic::Udp(traffic),
            })?;
        }
        let burst_ns = (duration / 10).min(SECOND);
        let congested_at = CONGESTED_AT.min(duration / 2);
        self.fabric.add_incast(&Incast {
            sources: SENDERS.to_vec(),
            destination: VICTIM,
            port: 9_000,
            start_ns: congested_at,
            every_ns: FAULTS_EVERY,
            burst_ns,
            bursts: times(congested_at, duration).count() as u64,
            payload_bytes: 1_200,
            // 3 x 36 Mbit/s with headers, to a link of 100 Mbit/s.
            interval_ns: 275 * MICROSECOND,
        })?;
        Ok(())
    }
}

/// The times of a fault that repeats during a run.
fn times(first: Nanos, duration: Nanos) -> impl Iterator<Item = Nanos> {
    (0..).map(move |again| first + again * FAULTS_EVERY).take_while(move |at| *at < duration)
}

/// The names of nodes and hosts.
pub(super) fn names() -> NameList {
    let nodes = node_names().map(|(id, name)| NodeName {
        queue_unit: UNITS.queue,
        utilization_full: UNITS.utilization_full,
        ..NodeName::new(id, name)
    });
    let hosts = (0..TOPOLOGY.hosts()).map(|host| HostName {
        address: TOPOLOGY.host_address(host).into(),
        name: format!("host{}", host + 1),
        labels: Labels::new(),
    });
    NameList { nodes: nodes.collect(), hosts: hosts.collect(), ..NameList::default() }
}

/// The units of every node of the fabric.
pub(super) const UNITS: NodeUnits = NodeUnits {
    queue: Some(QueueUnit::Bytes),
    cell_bytes: None,
    utilization_full: Some(10_000),
    timestamp: Tick::NANOSECOND,
    latency: Tick::NANOSECOND,
};

fn node_names() -> impl Iterator<Item = (u32, String)> {
    let leaves = (0..TOPOLOGY.leaves).map(|leaf| (TOPOLOGY.leaf_node_id(leaf), format!("leaf{}", leaf + 1)));
    let spines =
        (0..TOPOLOGY.spines).map(|spine| (TOPOLOGY.spine_node_id(spine), format!("spine{}", spine + 1)));
    leaves.chain(spines)
}

/// What every node of the fabric does: INT in data of TCP port 443 and in all UDP.
fn telemetry(mode: Mode) -> NodeConfig {
    let mut config = NodeConfig::new(0);
    config.source.mode = mode;
    config.source.instructions = [
        Instruction::NodeId,
        Instruction::Level1Interfaces,
        Instruction::HopLatency,
        Instruction::QueueOccupancy,
        Instruction::IngressTimestamp,
        Instruction::EgressTimestamp,
        Instruction::EgressUtilization,
    ]
    .into_iter()
    .collect();
    config.report.truncate = 192;
    config.watchlist = vec![
        WatchEntry {
            protocol: Some(Protocol(6)),
            destination_port: Some(PortRange(443..=443)),
            ..WatchEntry::default()
        },
        WatchEntry { protocol: Some(Protocol(17)), ..WatchEntry::default() },
    ];
    config
}

fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}
