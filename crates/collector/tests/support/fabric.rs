//! A simulated fabric whose nodes report every packet, its faults, and the addresses of its reports.

use std::net::SocketAddr;

use inband_node::NodeConfig;
use inband_node::config::{Instruction, Mode, WatchEntry};
use inband_sim::{Fabric, FabricConfig, FlowConfig, Incast, MICROSECOND, MILLISECOND, Traffic, UdpTraffic};

/// When the fabric's clocks start, nanoseconds since 1970.
pub(crate) const CLOCK_NS: u64 = 1_700_000_000_000_000_000;

/// A leaf-spine fabric whose nodes report every packet.
pub(crate) fn fabric(mode: Mode) -> Fabric {
    let mut telemetry = NodeConfig::new(0);
    telemetry.source.mode = mode;
    let instructions = [
        Instruction::NodeId,
        Instruction::Level1Interfaces,
        Instruction::HopLatency,
        Instruction::QueueOccupancy,
        Instruction::IngressTimestamp,
        Instruction::EgressTimestamp,
        Instruction::EgressUtilization,
    ];
    telemetry.source.instructions = instructions.into_iter().collect();
    telemetry.report.truncate = 512;
    telemetry.watchlist = vec![WatchEntry::default()];
    let config = FabricConfig { telemetry: Some(telemetry), clock_ns: CLOCK_NS, ..FabricConfig::default() };
    Fabric::new(config).unwrap()
}

/// Far fewer datagrams than the links can carry, between hosts of different leaves.
pub(crate) fn add_flows(fabric: &mut Fabric) {
    for (source, destination, port) in [(0, 7, 5_000), (2, 4, 5_001), (6, 1, 5_002), (3, 5, 5_003)] {
        let traffic = Traffic::Udp(UdpTraffic {
            payload_bytes: 333,
            interval_ns: 10 * MILLISECOND,
            datagrams: None,
            bursts: None,
        });
        let flow = FlowConfig {
            source,
            destination,
            source_port: port,
            destination_port: 80,
            dscp: 10,
            start_ns: 0,
            traffic,
        };
        fabric.add_flow(flow).unwrap();
    }
}

/// Two bursts of six hosts to one.
pub(crate) fn add_incast(fabric: &mut Fabric) {
    let incast = Incast {
        sources: (2..8).collect(),
        destination: 0,
        port: 7_000,
        start_ns: 100 * MILLISECOND,
        every_ns: 50 * MILLISECOND,
        burst_ns: 5 * MILLISECOND,
        bursts: 2,
        payload_bytes: 1_000,
        interval_ns: 40 * MICROSECOND,
    };
    fabric.add_incast(&incast).unwrap();
}

/// The source of the reports of a node.
pub(crate) fn address_of(node_id: u32) -> SocketAddr {
    let [a, b, c, d] = node_id.to_be_bytes();
    SocketAddr::from(([10, b.wrapping_add(a), c, d], 6_000))
}

/// The destination of reports.
pub(crate) fn session() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 32_766))
}
