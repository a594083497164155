//! Reports of nodes match the simulated events.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use inband_node::NodeConfig;
use inband_node::config::{
    EncapsulationKind, Instruction, Mode, PortRange, Protocol, SinkMetadata, WatchEntry,
};
use inband_sim::{
    Action, Fabric, FabricConfig, FlowConfig, Incast, MICROSECOND, MILLISECOND, Report, TcpTraffic, Traffic,
    UdpTraffic,
};
use inband_wire::int::{HeaderType, HopMetadata, Md};
use inband_wire::report::ReportGroup;
use inband_wire::{Dissection, Strictness, dissect};

const CLOCK_NS: u64 = 1_700_000_000_000_000_000;

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
    config.report.truncate = 512;
    config.watchlist = vec![WatchEntry::default()];
    config
}

/// A busy fabric with INT in every packet: TCP, UDP, an incast, and a link that fails.
fn run(telemetry: NodeConfig) -> (Fabric, Vec<Report>) {
    let config = FabricConfig { telemetry: Some(telemetry), clock_ns: CLOCK_NS, ..FabricConfig::default() };
    let mut fabric = Fabric::new(config).unwrap();
    for (source, destination, port) in [(0, 7, 5000), (2, 4, 5001), (6, 1, 5002)] {
        let traffic = Traffic::Tcp(TcpTraffic { bytes: Some(200_000), writes: None });
        fabric.add_flow(flow(source, destination, port, traffic)).unwrap();
    }
    let traffic = Traffic::Udp(UdpTraffic {
        payload_bytes: 333,
        interval_ns: 50 * MICROSECOND,
        datagrams: Some(100),
        bursts: None,
    });
    fabric.add_flow(flow(3, 5, 6000, traffic)).unwrap();
    fabric
        .add_incast(&Incast {
            sources: vec![2, 4, 6],
            destination: 0,
            port: 7000,
            start_ns: MILLISECOND,
            every_ns: MILLISECOND,
            burst_ns: 500 * MICROSECOND,
            bursts: 2,
            payload_bytes: 1000,
            interval_ns: 10 * MICROSECOND,
        })
        .unwrap();
    fabric.schedule(2 * MILLISECOND, Action::SetWeight { leaf: 0, spine: 0, weight: 0 });
    fabric.run_until(200 * MILLISECOND);
    let reports = std::iter::from_fn(|| fabric.poll_report()).collect();
    (fabric, reports)
}

fn flow(source: usize, destination: usize, port: u16, traffic: Traffic) -> FlowConfig {
    FlowConfig {
        source,
        destination,
        source_port: port,
        destination_port: 80,
        dscp: 10,
        start_ns: 0,
        traffic,
    }
}

/// Checks one hop against the simulated one.
fn assert_hop(said: &HopMetadata, truth: &inband_sim::TrueHop) {
    let interfaces = said.interfaces.unwrap();
    assert_eq!((interfaces.ingress, interfaces.egress), (truth.ingress_interface, truth.egress_interface));
    assert_eq!(said.hop_latency.map(u64::from), Some(truth.hop_latency_ns()));
    assert_eq!(said.queue.unwrap().occupancy, truth.queue_occupancy_bytes);
    assert_eq!(said.ingress_timestamp, Some(CLOCK_NS + truth.ingress_timestamp_ns));
    assert_eq!(said.egress_timestamp, Some(CLOCK_NS + truth.egress_timestamp_ns));
    assert_eq!(said.egress_utilization, Some(truth.egress_utilization));
}

fn with_packet(report: &Report, check: impl FnOnce(&HopMetadata, &[u8], &Dissection)) {
    let group = ReportGroup::parse(&report.payload).unwrap();
    assert_eq!(group.header.node_id(), report.node_id);
    let individual = group.reports().next().unwrap().unwrap();
    let (link, packet, _) = individual.packet().unwrap();
    let code_points = inband_wire::int::CodePoints::DEFAULT;
    let dissection = dissect(link, packet, &code_points, Strictness::Truncated);
    assert_eq!(dissection.error, None);
    check(&individual.metadata(), packet, &dissection);
}

fn assert_intact(fabric: &Fabric) {
    let ledger = fabric.ledger();
    assert!(ledger.delivered > 700, "{ledger:?}");
    assert_eq!(ledger.mismatched, BTreeMap::new());
    assert_eq!(ledger.sent, ledger.delivered + ledger.dropped_total() + fabric.in_flight());
    assert_eq!(ledger.reports_discarded, 0);
}

#[test]
fn md_stacks_are_the_way_the_packets_went() {
    for kind in [EncapsulationKind::Dscp, EncapsulationKind::Udp, EncapsulationKind::ProbeMarker] {
        let mut telemetry = telemetry(Mode::Md);
        telemetry.encapsulation.kind = Some(kind);
        let (fabric, reports) = run(telemetry);
        assert_intact(&fabric);
        assert_eq!(reports.len() as u64, fabric.ledger().delivered, "every delivered packet is reported");
        for report in &reports {
            with_packet(report, |_, packet, dissection| {
                let (_, location) = dissection.int().next().unwrap();
                let md = Md::parse(packet, location, &[]).unwrap();
                let said: Vec<_> = md.stack.hops().map(|hop| hop.metadata()).collect();
                assert_eq!(said.len(), report.true_path.len());
                for (said, truth) in said.iter().rev().zip(&report.true_path) {
                    assert_eq!(said.node_id, Some(truth.node_id));
                    assert_hop(said, truth);
                }
            });
        }
    }
}

#[test]
fn mx_and_xd_reports_are_of_the_hop_that_sent_them() {
    for mode in [Mode::Mx, Mode::Xd] {
        let (fabric, reports) = run(telemetry(mode));
        assert_intact(&fabric);
        assert!(
            reports.len() as u64 > 2 * fabric.ledger().delivered,
            "every hop of every packet is reported"
        );
        for report in &reports {
            let truth = report.true_path.last().unwrap();
            assert_eq!(report.node_id, truth.node_id);
            with_packet(report, |said, _, dissection| {
                assert_hop(said, truth);
                let carried = dissection.int().next().map(|(_, location)| location.header_type);
                assert_eq!(carried, if mode == Mode::Mx { Some(HeaderType::Mx) } else { None });
            });
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_reports_at_the_same_nanoseconds() {
    let (first, reports) = run(telemetry(Mode::Md));
    let (second, same) = run(telemetry(Mode::Md));
    assert_eq!(reports, same);
    assert_eq!(first.ledger(), second.ledger());
}

#[test]
fn only_watched_flows_carry_int() {
    let mut telemetry = telemetry(Mode::Md);
    telemetry.sink.own_metadata = SinkMetadata::Report;
    telemetry.watchlist = vec![WatchEntry {
        protocol: Some(Protocol(17)),
        source_port: Some(PortRange(6000..=6000)),
        ..WatchEntry::default()
    }];
    let (fabric, reports) = run(telemetry);
    assert_intact(&fabric);
    assert_eq!(reports.len(), 100);
}

#[test]
fn copies_carry_int_to_the_sink_and_hosts_see_the_packets_alone() {
    let mut telemetry = telemetry(Mode::Md);
    telemetry.source.clone = 4;
    let (fabric, reports) = run(telemetry);
    assert_intact(&fabric);
    let ended_at_sinks = fabric.ledger().dropped[&inband_sim::DropReason::Node];
    assert_eq!(reports.len() as u64, ended_at_sinks);
    assert!(ended_at_sinks > 100, "{ended_at_sinks}");
    for report in &reports {
        with_packet(report, |_, packet, dissection| {
            let (_, location) = dissection.int().next().unwrap();
            let md = Md::parse(packet, location, &[]).unwrap();
            let said: Vec<_> = md.stack.hops().filter_map(|hop| hop.metadata().node_id).collect();
            let truth: Vec<_> = report.true_path.iter().rev().map(|hop| hop.node_id).collect();
            assert_eq!(said, truth);
        });
    }
}
