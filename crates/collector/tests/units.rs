//! The units of nodes in thresholds, times and the order of queues.

mod support;

use inband_collector::{CollectorSettings, CongestionSettings, EventSettings};
use inband_model::{EventKind, Nanos, NodeId, NodeUnits, Phase, QueueUnit, Units};
use inband_wire::int::{HopMetadata, Instructions};
use inband_wire::report::Draft;

use support::{Lab, flow, hop, node_report, phases, plain_packet};

#[test]
fn a_trigger_in_bytes_counts_for_nodes_whose_unit_is_known() {
    let cells = NodeUnits { queue: Some(QueueUnit::Cells), cell_bytes: Some(80), ..NodeUnits::default() };
    let packets = NodeUnits { queue: Some(QueueUnit::Packets), ..NodeUnits::default() };
    let congestion = CongestionSettings { trigger_bytes: Some(8_000), ..CongestionSettings::default() };
    let mut lab = lab(congestion, [(NodeId(1), cells), (NodeId(2), packets)]);
    // 8,000 bytes in cells; node 3 has no unit.
    postcard(&mut lab, 1, 100);
    postcard(&mut lab, 2, 1_000_000);
    postcard(&mut lab, 3, 1_000_000);
    assert_eq!(lab.events(EventKind::QueueCongestion), []);

    postcard(&mut lab, 1, 101);
    // Half of the trigger is not yet calm.
    postcard(&mut lab, 1, 50);
    assert_eq!(phases(&lab.events(EventKind::QueueCongestion)), [Phase::Begin]);
    postcard(&mut lab, 1, 49);

    assert_eq!(phases(&lab.events(EventKind::QueueCongestion)), [Phase::End]);
}

#[test]
fn a_node_is_busy_by_its_own_full_utilization() {
    for (full, bursts) in [(None, 1), (Some(10_000), 1), (Some(200), 1), (Some(198), 0), (Some(100), 0)] {
        let units = NodeUnits { utilization_full: full, ..NodeUnits::default() };
        let mut lab = lab(CongestionSettings::default(), [(NodeId(5), units)]);
        let used = |latency| HopMetadata { egress_utilization: Some(99), ..hop(5, latency, 9) };
        for latency in [200_000, 900] {
            let packet = plain_packet(&flow(1), 64);
            // With the utilization beside the other metadata.
            lab.report(
                5,
                &Draft { instructions: Instructions(0xfd00), ..node_report(&packet, used(latency)) },
            );
        }
        lab.wait(Nanos::from_secs(2));
        assert_eq!(lab.events(EventKind::Microburst).len(), bursts, "{full:?}");
    }
}

#[test]
fn an_interface_is_nearly_full_by_its_own_full_utilization() {
    for (full, level, events) in [(None, 99, 0), (Some(100), 99, 1), (Some(1_000_000), 20_000, 0)] {
        let units = NodeUnits { utilization_full: full, ..NodeUnits::default() };
        let mut lab = lab(CongestionSettings::default(), [(NodeId(5), units)]);
        for _ in 0..120 {
            let used = HopMetadata { egress_utilization: Some(level), ..hop(5, 900, 9) };
            let packet = plain_packet(&flow(1), 64);
            lab.report(5, &Draft { instructions: Instructions(0xfd00), ..node_report(&packet, used) });
            lab.wait(Nanos::from_millis(100));
        }
        assert_eq!(lab.events(EventKind::EgressUtilization).len(), events, "{full:?} {level}");
    }
}

#[test]
fn times_that_count_steps_are_nanoseconds_in_what_is_concluded() {
    let units = NodeUnits {
        timestamp: "us".parse().unwrap(),
        latency: "8ns".parse().unwrap(),
        ..NodeUnits::default()
    };
    let mut lab = lab(CongestionSettings::default(), [(NodeId(5), units)]);
    let report = |lab: &mut Lab, node_id, metadata| {
        lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), metadata));
    };
    report(&mut lab, 5, hop(5, 100, 0));
    let stamped = |node_id| HopMetadata {
        hop_latency: None,
        ingress_timestamp: Some(1_000_000),
        egress_timestamp: Some(1_000_007),
        ..hop(node_id, 0, 0)
    };
    report(&mut lab, 5, stamped(5));
    report(&mut lab, 6, stamped(6));

    let mut latencies: Vec<_> =
        lab.collector.ports().map(|port| (port.node_id.0, port.latency.unwrap())).collect();
    latencies.sort_by_key(|(node_id, _)| *node_id);

    let [(5, scaled), (6, plain)] = &latencies[..] else { panic!("{latencies:?}") };
    assert_eq!((scaled.min, scaled.max), (Nanos(800), Nanos(7_000)));
    assert_eq!((plain.min, plain.max), (Nanos(7), Nanos(7)));
}

#[test]
fn a_step_or_two_of_a_coarse_clock_is_no_spike() {
    for (unit, spikes) in [("ns", 1), ("10us", 0)] {
        let units = NodeUnits { latency: unit.parse().unwrap(), ..NodeUnits::default() };
        let mut lab = lab(CongestionSettings::default(), [(NodeId(5), units)]);
        // Ten microseconds each, by the unit of the node.
        let steps = |latency: u32| if unit == "ns" { latency * 10_000 } else { latency };
        for latency in [[2; 100].as_slice(), &[3; 5]].concat() {
            let packet = plain_packet(&flow(1), 64);
            lab.report(5, &node_report(&packet, hop(5, steps(latency), 0)));
        }
        assert_eq!(lab.events(EventKind::LatencySpike).len(), spikes, "{unit}");
    }
}

#[test]
fn queues_in_bytes_come_first_the_deepest_before_the_others() {
    let unit = |queue, cell_bytes| NodeUnits { queue: Some(queue), cell_bytes, ..NodeUnits::default() };
    let units = [
        (NodeId(1), unit(QueueUnit::Bytes, None)),
        (NodeId(2), unit(QueueUnit::Cells, Some(200))),
        (NodeId(3), unit(QueueUnit::Packets, None)),
    ];
    let mut lab = lab(CongestionSettings::default(), units);
    for (node_id, occupancy) in [(1, 1_000), (2, 10), (3, 60_000), (4, 50_000)] {
        postcard(&mut lab, node_id, occupancy);
    }

    let queues = lab.collector.deepest_queues(9);

    assert_eq!(queues.iter().map(|queue| queue.node_id.0).collect::<Vec<_>>(), [2, 1, 3, 4]);
}

fn lab<const N: usize>(queue_congestion: CongestionSettings, units: [(NodeId, NodeUnits); N]) -> Lab {
    let events = EventSettings { queue_congestion, units: Units::new(units), ..EventSettings::default() };
    Lab::with(CollectorSettings { events, ..CollectorSettings::default() })
}

/// A report of a node with this depth of queue 0 and a latency without congestion.
fn postcard(lab: &mut Lab, node_id: u32, occupancy: u32) {
    lab.report(node_id, &node_report(&plain_packet(&flow(1), 64), hop(node_id, 900, occupancy)));
}
