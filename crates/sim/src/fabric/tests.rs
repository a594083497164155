use std::collections::BTreeMap;

use inband_wire::FiveTuple;

use super::{Fabric, FabricConfig, FlowError};
use crate::flow::{Bursts, FlowConfig, TcpTraffic, Traffic, UdpTraffic, Writes};
use crate::ledger::DropReason;
use crate::scenario::{Action, Incast};
use crate::time::{MICROSECOND, MILLISECOND, SECOND};

#[test]
fn a_tcp_connection_across_the_fabric_carries_all_its_bytes() {
    let mut fabric = fabric(1);
    let flow = fabric.add_flow(tcp(0, 7, Some(1_000_000))).unwrap();

    fabric.run_until(SECOND);

    assert_eq!(fabric.received_bytes(&flow), Some(1_000_000));
    assert_eq!(fabric.is_done(&flow), Some(true));
    assert_eq!(fabric.ledger().dropped, BTreeMap::new());
    assert_all_accounted_for(&fabric);
    assert_eq!(fabric.in_flight(), 0);
}

#[test]
fn a_bulk_flow_is_as_fast_as_its_window_or_its_link() {
    let mut fabric = fabric(1);
    let flow = fabric.add_flow(tcp(0, 7, None)).unwrap();

    fabric.run_until(100 * MILLISECOND);

    // 65 535 bytes every round trip of about 0.1 ms would be 5 Gbit/s: the gigabit link is the limit.
    let bits_per_second = fabric.received_bytes(&flow).unwrap() * 80;
    assert!((900_000_000..950_000_000).contains(&bits_per_second), "{bits_per_second} bit/s");
}

#[test]
fn incast_overflows_a_queue_and_tcp_through_it_recovers() {
    let config = FabricConfig { queue_bytes: 64 * 1024, ..FabricConfig::default() };
    let mut fabric = Fabric::new(config).unwrap();
    let flow = fabric.add_flow(tcp(6, 0, Some(3_000_000))).unwrap();
    fabric.add_incast(&incast(&[2, 3, 4, 5], 0)).unwrap();

    fabric.run_until(5 * SECOND);

    assert!(fabric.ledger().dropped[&DropReason::QueueFull] > 100);
    assert_eq!(fabric.ledger().dropped.len(), 1);
    assert_eq!(fabric.received_bytes(&flow), Some(3_000_000));
    assert_eq!(fabric.is_done(&flow), Some(true));
    assert_all_accounted_for(&fabric);
}

#[test]
fn a_failed_link_loses_what_is_on_it_and_traffic_goes_around() {
    let mut fabric = fabric(3);
    let flows: Vec<_> = (0..4).map(|port| fabric.add_flow(bulk_from_port(port)).unwrap()).collect();
    let spine = fabric.routing.spine(0, 3, &flows[0]).unwrap();
    fabric.schedule(10 * MILLISECOND, Action::FailLink { leaf: 0, spine });
    fabric.schedule(60 * MILLISECOND, Action::RestoreLink { leaf: 0, spine });

    fabric.run_until(10 * SECOND);

    assert!(fabric.ledger().dropped[&DropReason::LinkDown] > 0);
    for flow in &flows {
        assert_eq!(fabric.received_bytes(flow), Some(3_000_000));
    }
    assert_all_accounted_for(&fabric);
}

#[test]
fn packets_to_a_leaf_without_a_link_in_service_have_no_route() {
    let mut fabric = fabric(1);
    fabric.schedule(0, Action::FailLink { leaf: 3, spine: 0 });
    fabric.schedule(0, Action::FailLink { leaf: 3, spine: 1 });
    fabric.add_flow(udp(0, 7)).unwrap();

    fabric.run_until(MILLISECOND);

    assert_eq!(fabric.ledger().delivered, 0);
    assert!(fabric.ledger().dropped[&DropReason::NoRoute] > 0);
    assert_all_accounted_for(&fabric);
}

#[test]
fn the_same_seed_gives_the_same_frames_and_another_seed_others() {
    let fingerprint = |seed| {
        let mut fabric = busy_fabric(seed);
        fabric.run_until(30 * MILLISECOND);
        (fabric.fingerprint(), fabric.ledger().clone())
    };

    assert_eq!(fingerprint(5), fingerprint(5));
    assert_ne!(fingerprint(5).0, fingerprint(6).0);
}

#[test]
fn it_does_not_matter_in_how_many_steps_time_passes() {
    let (mut at_once, mut in_steps) = (busy_fabric(5), busy_fabric(5));

    at_once.run_until(20 * MILLISECOND);
    for step in 1..=2_000 {
        in_steps.run_until(step * 10 * MICROSECOND);
    }

    assert_eq!(at_once.fingerprint(), in_steps.fingerprint());
    assert_eq!(at_once.ledger(), in_steps.ledger());
}

#[test]
fn every_packet_is_accounted_for_at_every_moment() {
    let mut fabric = busy_fabric(9);
    let mut most_in_flight = 0;
    for step in 1..=500 {
        fabric.run_until(step * 100 * MICROSECOND);
        assert_all_accounted_for(&fabric);
        most_in_flight = most_in_flight.max(fabric.in_flight());
    }

    assert!(most_in_flight > 100);
    assert!(fabric.ledger().dropped_total() > 0);
}

#[test]
fn impossible_flows_are_refused() {
    let mut fabric = fabric(1);
    fabric.add_flow(udp(0, 7)).unwrap();
    let back = FlowConfig { source_port: 6_000, destination_port: 5_000, ..udp(7, 0) };
    let long = Traffic::Udp(UdpTraffic { payload_bytes: 1_473, ..STEADY });

    assert_eq!(fabric.add_flow(udp(0, 8)), Err(FlowError::NoSuchHost(8, 7)));
    assert_eq!(fabric.add_flow(udp(3, 3)), Err(FlowError::ToItself(3)));
    assert!(matches!(fabric.add_flow(udp(0, 7)), Err(FlowError::Exists(_))));
    assert!(matches!(fabric.add_flow(back), Err(FlowError::Exists(_))));
    assert_eq!(
        fabric.add_flow(FlowConfig { traffic: long, ..udp(1, 7) }),
        Err(FlowError::PayloadTooLong(1_473))
    );
}

#[test]
fn a_plan_for_what_does_not_exist_changes_nothing() {
    let mut fabric = fabric(1);
    fabric.add_flow(udp(0, 7)).unwrap();
    for action in [
        Action::FailLink { leaf: 4, spine: 0 },
        Action::SetWeight { leaf: 0, spine: 2, weight: 0 },
        Action::Pin { flow: FiveTuple::default(), spine: 0 },
        Action::Unpin { flow: FiveTuple::default() },
    ] {
        fabric.schedule(0, action);
    }

    fabric.run_until(MILLISECOND);

    assert_eq!(fabric.ledger().dropped_total(), 0);
    assert!(fabric.ledger().delivered > 0);
}

const STEADY: UdpTraffic =
    UdpTraffic { payload_bytes: 1_000, interval_ns: 50 * MICROSECOND, datagrams: None, bursts: None };

fn fabric(seed: u64) -> Fabric {
    Fabric::new(FabricConfig { seed, fingerprint: true, ..FabricConfig::default() }).unwrap()
}

/// Connections and datagrams between all hosts, an incast that overflows a queue, and a link that fails.
fn busy_fabric(seed: u64) -> Fabric {
    let config = FabricConfig { seed, fingerprint: true, queue_bytes: 128 * 1024, ..FabricConfig::default() };
    let mut fabric = Fabric::new(config).unwrap();
    let bursts = Bursts { on_ns: 2 * MILLISECOND, off_ns: MILLISECOND, regular: false };
    for host in 0..8 {
        fabric.add_flow(tcp(host, (host + 3) % 8, None)).unwrap();
        let traffic = Traffic::Udp(UdpTraffic { bursts: Some(bursts), ..STEADY });
        fabric.add_flow(FlowConfig { traffic, ..udp(host, (host + 5) % 8) }).unwrap();
    }
    fabric.add_incast(&incast(&[2, 3, 4, 5], 0)).unwrap();
    fabric.schedule(5 * MILLISECOND, Action::FailLink { leaf: 0, spine: 1 });
    fabric.schedule(15 * MILLISECOND, Action::RestoreLink { leaf: 0, spine: 1 });
    fabric
}

fn incast(sources: &[usize], destination: usize) -> Incast {
    Incast {
        sources: sources.to_vec(),
        destination,
        port: 9_000,
        start_ns: 4 * MILLISECOND,
        every_ns: 5 * MILLISECOND,
        burst_ns: MILLISECOND,
        bursts: 4,
        payload_bytes: 1_400,
        interval_ns: 13 * MICROSECOND,
    }
}

fn tcp(source: usize, destination: usize, bytes: Option<u64>) -> FlowConfig {
    let writes = bytes.is_none().then_some(Writes { bytes: 1_000_000, every_ns: MILLISECOND });
    FlowConfig { traffic: Traffic::Tcp(TcpTraffic { bytes, writes }), ..udp(source, destination) }
}

fn bulk_from_port(place: u16) -> FlowConfig {
    FlowConfig { source_port: 5_000 + place, ..tcp(0, 7, Some(3_000_000)) }
}

fn udp(source: usize, destination: usize) -> FlowConfig {
    FlowConfig {
        source,
        destination,
        source_port: 5_000,
        destination_port: 6_000,
        dscp: 0,
        start_ns: 0,
        traffic: Traffic::Udp(STEADY),
    }
}

/// Sent = delivered + dropped + in flight, and what was delivered is what was sent.
fn assert_all_accounted_for(fabric: &Fabric) {
    let ledger = fabric.ledger();
    assert_eq!(ledger.sent, ledger.delivered + ledger.dropped_total() + fabric.in_flight());
    assert_eq!(ledger.mismatched, BTreeMap::new());
}
