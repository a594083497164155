//! Synthetic reports of a network: 672 nodes, 200,000 flows, clocks that differ.
//!
//! 512 leaves, 128 aggregates and 32 cores in 16 pods. Every packet crosses five nodes: leaf, aggregate,
//! core, aggregate, leaf. Few flows send most packets (Zipf), a flow keeps its path, queues fill and drain
//! with the load of their link, and every node has a clock with an offset, a slow drift and jitter. The same
//! seed gives the same reports.

mod datagram;
mod fabric;
mod numbers;

use inband_model::{HopColumns, HopRecord, Nanos, NodeId, Origin};

pub use self::datagram::Encoder;

use self::fabric::{Fabric, Route};
use self::numbers::Numbers;

/// Generates reports in the order in which they arrive.
#[derive(Debug, Clone)]
pub struct Network {
    fabric: Fabric,
    numbers: Numbers,
    /// When the latest report arrived.
    now: u64,
    /// Mean time between two reports, nanoseconds.
    pause: u64,
    /// The next sequence number of both halves of each leaf.
    sequences: Vec<[u32; 2]>,
}

/// The volume and start time of the traffic.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    /// Number of active flows.
    pub flows: usize,
    /// Start time, nanoseconds since 1970.
    pub start_ns: u64,
    /// Mean time between two reports.
    pub pause_ns: u64,
}

impl Network {
    /// A network whose `reports` reports arrive within ten minutes.
    #[must_use]
    pub fn new(seed: u64, reports: u64) -> Self {
        Self::with(seed, Traffic { pause_ns: TEN_MINUTES_NS / reports.max(1), ..Traffic::default() })
    }

    /// A network with this traffic.
    #[must_use]
    pub fn with(seed: u64, traffic: Traffic) -> Self {
        let mut numbers = Numbers::new(seed);
        let fabric = Fabric::new(&mut numbers, traffic.flows.max(1));
        let sequences = (0..fabric::LEAVES).map(|_| [numbers.below(1 << 20), numbers.below(1 << 20)]);
        let sequences = sequences.map(|pair| pair.map(|number| u32::try_from(number).unwrap_or(0))).collect();
        Self { fabric, numbers, now: traffic.start_ns, pause: traffic.pause_ns, sequences }
    }

    /// The hops of the next `reports` reports.
    pub fn reports(&mut self, reports: usize) -> HopColumns {
        let mut columns = HopColumns::default();
        for _ in 0..reports {
            columns.extend_from_slice(&self.report());
        }
        columns
    }

    /// The hops of the next report, first hop first.
    pub fn report(&mut self) -> [HopRecord; HOPS] {
        let flow = self.numbers.zipf(self.fabric.flows());
        self.report_of(flow)
    }

    /// The hops of the next report, which is about this flow, counted from 0.
    pub fn report_of(&mut self, flow: usize) -> [HopRecord; HOPS] {
        self.now += 1 + self.numbers.exponential(self.pause);
        let route = self.fabric.route(flow);
        let half = usize::from(route.interfaces[HOPS - 1].1 % 2);
        let sequence = &mut self.sequences[route.nodes[HOPS - 1]][half];
        *sequence = sequence.wrapping_add(1);
        let common = HopRecord {
            received_at: Nanos(self.now),
            reporter: NodeId(fabric::id(route.nodes[HOPS - 1])),
            hw_id: u8::from(half == 1),
            sequence: *sequence,
            origin: Origin::MdStack,
            tracked_flow: true,
            flow: Some(route.flow),
            hop_count: 5,
            ..HopRecord::default()
        };
        let (congested, hops) = self.hops(&route, common);
        hops.map(|hop| HopRecord { congested_queue: congested, ..hop })
    }

    /// The metadata each node writes for a packet, and whether a queue was congested.
    fn hops(&mut self, route: &Route, common: HopRecord) -> (bool, [HopRecord; HOPS]) {
        let (numbers, fabric) = (&mut self.numbers, &self.fabric);
        let depths = std::array::from_fn::<_, HOPS, _>(|hop| {
            let load = fabric.load(route.nodes[hop], route.interfaces[hop].1, self.now);
            numbers.exponential(load).min(MAX_CELLS)
        });
        let latencies = depths.map(|cells| NODE_NS + numbers.exponential(160) + cells * CELL_NS);
        let links = std::array::from_fn::<_, HOPS, _>(|hop| match hop {
            0 => 0,
            _ => fabric.link(route.nodes[hop - 1], route.nodes[hop]) + numbers.below(9),
        });
        // From the last node to the collector.
        let delivery = DELIVERY_NS + numbers.exponential(8_000);
        let mut time = self.now - delivery - latencies.iter().sum::<u64>() - links.iter().sum::<u64>();
        let mut depth = 0;
        let hops = std::array::from_fn(|hop| {
            let node = route.nodes[hop];
            time += links[hop];
            let ingress = fabric.read_clock(node, time, numbers);
            time += latencies[hop];
            // Most devices subtract their timestamps; cores measure latency separately.
            let jitter = if fabric::is_core(node) { numbers.below(17) } else { 8 };
            depth = depth.max(depths[hop]);
            HopRecord {
                hop_index: u8::try_from(hop).unwrap_or(0),
                node_id: NodeId(fabric::id(node)),
                ingress_interface: Some(route.interfaces[hop].0),
                egress_interface: Some(route.interfaces[hop].1),
                latency: Some(Nanos(latencies[hop])),
                queue_id: Some(route.queue),
                queue_occupancy: u32::try_from(depths[hop]).ok(),
                ingress_timestamp: Some(ingress),
                egress_timestamp: Some(ingress + latencies[hop] + jitter - 8),
                ..common
            }
        });
        (depth >= CONGESTED_CELLS, hops)
    }
}

impl Default for Traffic {
    fn default() -> Self {
        Self { flows: fabric::FLOWS, start_ns: START_NS, pause_ns: TEN_MINUTES_NS / 2_000_000 }
    }
}

/// Number of hops of a report.
pub const HOPS: usize = 5;
/// When the first report arrives, nanoseconds since 1970: shortly after an hour began.
pub const START_NS: u64 = 1_700_000_000_000_000_000 / HOUR_NS * HOUR_NS + 60_000_000_000;
const HOUR_NS: u64 = 3_600_000_000_000;
const TEN_MINUTES_NS: u64 = 600_000_000_000;
/// The minimum time in a node, and the time added by each cell of its queue.
const NODE_NS: u64 = 550;
const CELL_NS: u64 = 51;
/// The minimum time from the last node to the collector.
const DELIVERY_NS: u64 = 25_000;
/// Capacity of a queue in cells, and the cell count at which it is congested.
const MAX_CELLS: u64 = 8_192;
const CONGESTED_CELLS: u64 = 1_024;

#[cfg(test)]
mod tests;
