//! Every kind of event is raised when it should be, with the right evidence, and not by lookalikes.

mod support;

use std::net::SocketAddr;

use inband_collector::{
    CollectorSettings, EventSettings, HealthSettings, LoopSettings, NumberSettings, PathRule,
};
use inband_model::{EventKind, Flow, Nanos, Phase, Severity};
use inband_wire::Words;
use inband_wire::int::shim::Shim;
use inband_wire::int::{HopMetadata, Instructions, MxHeader, Queue};
use inband_wire::report::{Draft, Drop};
use serde_json::{Value, json};
use zerocopy::IntoBytes;

use support::{
    INSTRUCTIONS, Lab, MdPacket, datagram, dropped, flow, hop, hop_via, hops, node_report, packet,
    plain_packet, sender, session, sink_report,
};

/// A row for each kind: the scenario that raises it, its key and severity, a place in its detail with the
/// value there, the nodes whose reports are its evidence; and a lookalike.
macro_rules! scenarios {
    ($($kind:ident: $raise:ident, $key:expr, $severity:ident, $place:literal: $value:expr, $nodes:expr; not $calm:ident;)*) => {
        mod raised {
            $(#[test] fn $raise() {
                super::assert_raised(
                    super::EventKind::$kind,
                    super::$raise(),
                    &super::Expected {
                        key: &$key,
                        severity: super::Severity::$severity,
                        place: $place,
                        value: super::json!($value),
                        nodes: &$nodes,
                    },
                );
            })*
        }
        mod not_raised {
            $(#[test] fn $calm() {
                let mut lab = super::$calm();
                assert_eq!(lab.events(super::EventKind::$kind), []);
            })*
        }
        const KINDS: &[EventKind] = &[$(EventKind::$kind),*];
    };
}

scenarios! {
    ReportLoss: two_of_ten_reports_are_lost, "node 5 hw 0 to 127.0.0.1:32766", Warning, "/lost": 2, [5];
        not reports_are_only_reordered;
    SequenceReset: a_node_restarts, "node 5 hw 0 to 127.0.0.1:32766", Info, "/expected": 50_001, [5];
        not a_node_counts_on_after_a_silence;
    SequenceGap: numbered_packets_are_missing, format!("{} at node 5", super::flow(1)), Warning, "/lost": 3, [5];
        not numbered_packets_are_only_reordered;
    NewFlow: a_flow_is_seen_for_the_first_time, super::flow(1).to_string(), Info, "/path/1/node_id": 11, [2];
        not a_known_flow_takes_another_path;
    PathChange: a_flow_takes_another_path, super::flow(1).to_string(), Info, "/change": "ecmp-move", [2];
        not a_flow_stays_on_its_path;
    Loop: a_packet_comes_to_a_node_twice, super::flow(1).to_string(), Critical, "/node_id": 11, [2];
        not a_packet_passes_a_service_chain;
    PathPolicy: a_flow_avoids_the_firewall, format!("firewall: {}", super::flow(1)), Warning,
        "/violation/misses-node": 7, [2];
        not a_flow_passes_the_firewall;
    LatencyChange: the_latency_moves_to_another_quantum, "node 5 egress 2", Info, "/new": 1_300, [5];
        not the_latency_moves_within_a_quantum;
    LatencySpike: three_of_five_packets_stay_long, "node 5 egress 2", Warning, "/median": 900, [5];
        not one_packet_stays_long;
    LatencyObjective: a_tenth_of_the_packets_is_late, "node 5 egress 2", Warning, "/over": 6, [5];
        not four_of_a_hundred_packets_are_late;
    QueueCongestion: packets_wait_in_a_queue, "node 5 egress 2 queue 0", Warning, "/peak_latency": 150_000, [5];
        not packets_hardly_wait;
    Microburst: a_queue_fills_for_a_moment, "node 5 egress 2 queue 0", Info, "/class": "1ms", [5];
        not a_busy_link_fills_a_queue_for_a_moment;
    MicroburstStorm: a_queue_fills_again_and_again, "node 5 egress 2 queue 0", Warning, "/bursts": 10, [5];
        not a_queue_fills_nine_times_in_a_second;
    Culprits: one_flow_fills_the_queue_of_another, "node 5 egress 2 queue 0", Info, "/pattern": "elephant", [5];
        not a_packet_waits_for_nobody_who_is_reported;
    Drop: an_access_list_denies_packets, "node 5 reason 80 ingress 1 egress 2 queue 3", Info, "/class": "policy", [5];
        not a_node_reports_what_it_forwards;
    SilentLoss: three_flows_stop_at_a_link, "node 11 egress 2 to node 2 ingress 1", Warning, "/flows/2/protocol": 17, [11];
        not two_flows_stop_at_a_link;
    EgressUtilization: a_link_is_nearly_full_for_ten_seconds, "node 5 egress 2", Warning, "/flows/0/share_permille": 742, [5];
        not a_link_is_nearly_full_for_nine_seconds;
    EcmpImbalance: one_of_two_equal_links_carries_most, "node 1 egress 2 3", Warning, "/by_utilization": false, [2];
        not two_equal_links_carry_the_same;
    NegativeLinkLatency: packets_arrive_before_they_are_sent, "node 1 egress 2 to node 2 ingress 1", Warning,
        "/lowest_ns": -400, [2];
        not packets_arrive_after_they_are_sent;
    ClockDrift: a_clock_runs_fast, "node 1 egress 2 to node 2 ingress 1", Warning, "/ns_per_second": 3_000, [2];
        not a_clock_is_only_off;
    DuplicateNodeId: two_senders_use_one_node_id, "node 5", Warning, "/addresses/0": "10.0.0.7", [5];
        not a_node_moves_to_another_address;
    UnknownNode: a_stranger_reports, "node 6", Warning, "/address": "10.0.0.1", [6];
        not the_nodes_that_are_known_report;
    ReportAboutReport: a_node_reports_on_reports, "node 5", Critical, "/flow/destination_port": 32_766, [5];
        not a_node_reports_on_another_port;
    HistoryTrouble: history_is_not_written, "history", Critical, "/why": "the disk is full", [];
        not history_is_written;
}

#[test]
fn every_kind_has_a_scenario() {
    let missing: Vec<_> = EventKind::ALL.iter().filter(|kind| !KINDS.contains(kind)).collect();

    assert_eq!(missing, Vec::<&EventKind>::new());
}

/// The expected contents of an event.
struct Expected<'a> {
    key: &'a str,
    severity: Severity,
    place: &'a str,
    value: Value,
    /// Nodes whose reports are its evidence.
    nodes: &'a [u32],
}

fn assert_raised(kind: EventKind, mut lab: Lab, expected: &Expected<'_>) {
    let events = lab.events(kind);
    let event = events.first().expect("the event is raised");
    assert_eq!((event.key.as_str(), event.severity), (expected.key, expected.severity));
    let json = serde_json::to_value(event).expect("events are serialisable");
    assert_eq!(json["detail"].pointer(expected.place), Some(&expected.value), "{json:#}");
    assert!(event.first <= event.last && event.count > 0, "{event:?}");
    let mut nodes: Vec<u32> = event.evidence.iter().map(|report| report.node_id.0).collect();
    nodes.dedup();
    assert_eq!(nodes, expected.nodes, "{event:?}");
    for report in &event.evidence {
        assert!(lab.has_sent(report.node_id.0, report.sequence), "nobody sent {report:?}");
    }
    let view = lab.collector.active_events().chain(lab.collector.past_events());
    assert!(view.into_iter().any(|view| view.id == event.id()), "the event can be asked for");
}

fn with(events: EventSettings) -> Lab {
    Lab::with(CollectorSettings { events, ..CollectorSettings::default() })
}

// --- history

fn history_is_not_written() -> Lab {
    let mut lab = Lab::new();
    let now = lab.now;
    lab.collector.handle_history(now, Some("the disk is full"));
    lab.collector.handle_history(now, Some("the disk is full"));
    // No timeout is due, so the lab does not poll by itself.
    lab.drain();
    lab
}

fn history_is_written() -> Lab {
    let mut lab = Lab::new();
    let now = lab.now;
    lab.collector.handle_history(now, None);
    lab
}

#[test]
fn trouble_with_history_ends_when_it_is_written_again() {
    let mut lab = history_is_not_written();
    lab.wait(Nanos::from_secs(60));
    assert_eq!(lab.collector.active_events().count(), 1);
    let now = lab.now;
    lab.collector.handle_history(now, None);
    lab.collector.handle_history(now, None);
    lab.wait(Nanos::from_secs(2));

    let phases: Vec<_> = lab.events(EventKind::HistoryTrouble).iter().map(|event| event.phase).collect();

    assert_eq!(phases, [Phase::Begin, Phase::End]);
}

// --- reports

fn numbered(lab: &mut Lab, numbers: &[u32]) {
    let packet = plain_packet(&flow(1), 64);
    for number in numbers {
        lab.numbered(5, *number, &node_report(&packet, hop(5, 900, 0)));
    }
    lab.wait(Nanos::from_secs(1));
}

fn two_of_ten_reports_are_lost() -> Lab {
    let mut lab = Lab::new();
    numbered(&mut lab, &[1, 2, 3, 6, 7, 8, 9, 10]);
    // Only then is the window full.
    lab.wait(Nanos::from_secs(60));
    lab
}

fn reports_are_only_reordered() -> Lab {
    let mut lab = Lab::new();
    numbered(&mut lab, &[1, 2, 5, 4, 3, 7, 6, 8, 9, 10]);
    lab
}

fn a_node_restarts() -> Lab {
    let mut lab = Lab::new();
    numbered(&mut lab, &[50_000]);
    lab.wait(Nanos::from_secs(6));
    numbered(&mut lab, &[3]);
    lab
}

fn a_node_counts_on_after_a_silence() -> Lab {
    let mut lab = Lab::new();
    numbered(&mut lab, &[50_000]);
    lab.wait(Nanos::from_secs(6));
    numbered(&mut lab, &[50_001]);
    lab
}

/// Packets numbered by their source, as node 5 reports them.
fn numbered_packets(numbers: &[u32]) -> Lab {
    let sequence_gap = NumberSettings { domain: Some(0x5453), ..NumberSettings::default() };
    let mut lab = with(EventSettings { sequence_gap, ..EventSettings::default() });
    for number in numbers {
        let mut int = Shim::payload(3, Words::new(4), 0).as_bytes().to_vec();
        let mut header = MxHeader::new(INSTRUCTIONS);
        header.set_domain(0x5453, 0x8000, 0);
        int.extend_from_slice(header.as_bytes());
        int.extend(number.to_be_bytes());
        lab.report(5, &node_report(&packet(&flow(1), 64, 0x17, &int), hop(5, 900, 0)));
    }
    lab.wait(Nanos::from_secs(1));
    lab
}

fn numbered_packets_are_missing() -> Lab {
    numbered_packets(&[1, 2, 3, 7, 8])
}

fn numbered_packets_are_only_reordered() -> Lab {
    numbered_packets(&[1, 2, 5, 4, 3, 6])
}

// --- paths

fn stack(lab: &mut Lab, nodes: &[u32]) {
    lab.report(2, &sink_report(&MdPacket::new(&hops(nodes)).bytes()));
}

fn a_flow_is_seen_for_the_first_time() -> Lab {
    let mut lab = Lab::new();
    stack(&mut lab, &[1, 11, 2]);
    lab
}

fn a_known_flow_takes_another_path() -> Lab {
    let mut lab = a_flow_is_seen_for_the_first_time();
    lab.outputs();
    stack(&mut lab, &[1, 12, 2]);
    lab
}

fn a_flow_takes_another_path() -> Lab {
    a_known_flow_takes_another_path()
}

fn a_flow_stays_on_its_path() -> Lab {
    let mut lab = Lab::new();
    for _ in 0..10 {
        stack(&mut lab, &[1, 11, 2]);
        lab.wait(Nanos::from_secs(1));
    }
    lab
}

fn a_packet_comes_to_a_node_twice() -> Lab {
    let mut lab = Lab::new();
    stack(&mut lab, &[1, 11, 12, 11, 2]);
    lab
}

fn a_packet_passes_a_service_chain() -> Lab {
    let loops = LoopSettings { allow_nodes: vec![11], ..LoopSettings::default() };
    let mut lab = with(EventSettings { loops, ..EventSettings::default() });
    let packet =
        MdPacket::new(&[hop(1, 9, 0), hop_via(11, 3, 4, 9, 0), hop_via(11, 5, 6, 9, 0), hop(2, 9, 0)]);
    lab.report(2, &sink_report(&packet.bytes()));
    lab
}

fn behind_a_firewall() -> Lab {
    let rule = PathRule { name: "firewall".into(), require_nodes: vec![7], ..PathRule::default() };
    with(EventSettings { path_policy: vec![rule], ..EventSettings::default() })
}

fn a_flow_avoids_the_firewall() -> Lab {
    let mut lab = behind_a_firewall();
    stack(&mut lab, &[1, 11, 2]);
    lab
}

fn a_flow_passes_the_firewall() -> Lab {
    let mut lab = behind_a_firewall();
    stack(&mut lab, &[1, 7, 2]);
    // A path that is not whole cannot be judged.
    let part = MdPacket { flow: flow(2), max_hop_count_exceeded: true, ..MdPacket::new(&hops(&[1, 11])) };
    lab.report(2, &sink_report(&part.bytes()));
    lab
}

fn passes(lab: &mut Lab, flows: &[u32], nodes: &[u32]) {
    for number in flows {
        for (node_id, ttl) in nodes.iter().zip((60..=64).rev()) {
            let packet = plain_packet(&flow(*number), ttl);
            lab.report(*node_id, &node_report(&packet, hop(*node_id, 900, 0)));
        }
    }
    lab.wait(Nanos(1 << 30));
}

fn flows_stop_at_a_link(flows: &[u32]) -> Lab {
    let mut lab = Lab::new();
    for _ in 0..4 {
        passes(&mut lab, &[1, 2, 3], &[1, 11, 2]);
    }
    let others: Vec<u32> = (1..=3).filter(|number| !flows.contains(number)).collect();
    for _ in 0..6 {
        passes(&mut lab, flows, &[1, 11]);
        passes(&mut lab, &others, &[1, 11, 2]);
    }
    lab
}

fn three_flows_stop_at_a_link() -> Lab {
    flows_stop_at_a_link(&[1, 2, 3])
}

fn two_flows_stop_at_a_link() -> Lab {
    flows_stop_at_a_link(&[1, 2])
}

/// Half a minute over two equal links, of which the second is taken by one in `one_of` packets.
fn two_links(one_of: u32) -> Lab {
    let mut lab = Lab::new();
    for step in 0..8_000 {
        let egress = if step % one_of == 0 { 3 } else { 2 };
        let first = hop_via(1, 1, egress, 900, 0);
        let packet = MdPacket {
            flow: flow(u32::from(egress)),
            ..MdPacket::new(&[first, hop(u32::from(egress) + 9, 900, 0), hop(2, 900, 0)])
        };
        lab.report(2, &sink_report(&packet.bytes()));
        lab.wait(Nanos::from_millis(5));
    }
    lab
}

fn one_of_two_equal_links_carries_most() -> Lab {
    two_links(8)
}

fn two_equal_links_carry_the_same() -> Lab {
    two_links(2)
}

// --- latencies and queues

fn postcard(lab: &mut Lab, latency: u32) {
    postcard_of(lab, 1, latency, None);
}

/// A report of node 5 on a packet, with the utilisation of the link if given.
fn postcard_of(lab: &mut Lab, number: u32, latency: u32, utilization: Option<u32>) {
    let packet = plain_packet(&flow(number), 64);
    let metadata = HopMetadata { egress_utilization: utilization, ..hop(5, latency, 9) };
    let instructions = Instructions(if utilization.is_some() { 0xfd00 } else { 0xfc00 });
    lab.report(5, &Draft { instructions, ..node_report(&packet, metadata) });
}

/// Packets of a flow whose path is known, with these latencies in node 5.
fn latencies(latencies: &[u32]) -> Lab {
    let mut lab = Lab::new();
    postcard(&mut lab, latencies[0]);
    lab.wait(Nanos::from_secs(2));
    for latency in latencies {
        postcard(&mut lab, *latency);
    }
    lab
}

fn the_latency_moves_to_another_quantum() -> Lab {
    latencies(&[900, 900, 1_300])
}

fn the_latency_moves_within_a_quantum() -> Lab {
    latencies(&[768, 900, 1_023])
}

/// A report of node 5 every 100 ms, with the link at this level; three of four packets are of flow 2.
fn utilized(lab: &mut Lab, utilization: u32, steps: u32) {
    for step in 0..steps {
        postcard_of(lab, if step.is_multiple_of(4) { 1 } else { 2 }, 900, Some(utilization));
        lab.wait(Nanos::from_millis(100));
    }
}

fn a_link_is_nearly_full_for_ten_seconds() -> Lab {
    let mut lab = Lab::new();
    utilized(&mut lab, 9_001, 120);
    assert_eq!(lab.collector.active_events().filter(|view| is_utilization(view.event.kind())).count(), 1);
    // Between the two levels the event continues, and it ends below the lower one.
    utilized(&mut lab, 8_000, 200);
    assert_eq!(lab.collector.active_events().filter(|view| is_utilization(view.event.kind())).count(), 1);
    utilized(&mut lab, 7_999, 40);
    assert_eq!(lab.collector.active_events().filter(|view| is_utilization(view.event.kind())).count(), 0);
    lab
}

fn is_utilization(kind: EventKind) -> bool {
    kind == EventKind::EgressUtilization
}

fn a_link_is_nearly_full_for_nine_seconds() -> Lab {
    let mut lab = Lab::new();
    utilized(&mut lab, 9_900, 90);
    utilized(&mut lab, 9_000, 200);
    lab
}

fn three_of_five_packets_stay_long() -> Lab {
    latencies(&[&[900; 100][..], &[42_000, 900, 42_000, 42_000]].concat())
}

fn one_packet_stays_long() -> Lab {
    latencies(&[&[900; 100][..], &[42_000, 900, 900, 900, 900]].concat())
}

fn a_tenth_of_the_packets_is_late() -> Lab {
    latencies(&[&[900; 99][..], &[6_000_000; 10]].concat())
}

fn four_of_a_hundred_packets_are_late() -> Lab {
    latencies(&[&[900; 99][..], &[6_000_000; 4]].concat())
}

fn packets_wait_in_a_queue() -> Lab {
    latencies(&[900, 150_000, 900])
}

fn packets_hardly_wait() -> Lab {
    latencies(&[900, 100_000, 900])
}

/// Packets that are queued for up to 200 microseconds within a third of a millisecond.
fn burst(lab: &mut Lab, utilization: Option<u32>) {
    for _ in 0..3 {
        postcard_of(lab, 1, 200_000, utilization);
        lab.wait(Nanos::from_micros(50));
    }
    postcard_of(lab, 1, 900, utilization);
}

fn a_queue_fills_for_a_moment() -> Lab {
    let mut lab = Lab::new();
    burst(&mut lab, Some(4_000));
    lab
}

fn a_busy_link_fills_a_queue_for_a_moment() -> Lab {
    let mut lab = Lab::new();
    burst(&mut lab, Some(9_000));
    lab
}

fn bursts(count: usize) -> Lab {
    let mut lab = Lab::new();
    for _ in 0..count {
        burst(&mut lab, Some(4_000));
        lab.wait(Nanos::from_millis(5));
    }
    lab
}

fn a_queue_fills_again_and_again() -> Lab {
    bursts(12)
}

fn a_queue_fills_nine_times_in_a_second() -> Lab {
    bursts(9)
}

fn one_flow_fills_the_queue_of_another() -> Lab {
    let mut lab = Lab::new();
    for _ in 0..20 {
        postcard_of(&mut lab, 1, 150_000, None);
    }
    postcard_of(&mut lab, 2, 400_000, None);
    postcard_of(&mut lab, 1, 900, None);
    lab
}

fn a_packet_waits_for_nobody_who_is_reported() -> Lab {
    let mut lab = Lab::new();
    postcard_of(&mut lab, 1, 400_000, None);
    postcard_of(&mut lab, 1, 900, None);
    lab
}

// --- drops

fn drop_report(lab: &mut Lab, number: u32, reason: u8) {
    let packet = plain_packet(&flow(number), 64);
    let metadata = HopMetadata { queue: Some(Queue { id: 3, occupancy: 9 }), ..hop(5, 900, 0) };
    lab.report(5, &dropped(&node_report(&packet, metadata), Some(Drop { queue_id: 3, reason })));
}

fn an_access_list_denies_packets() -> Lab {
    let mut lab = Lab::new();
    for number in 0..3 {
        drop_report(&mut lab, number, 80);
    }
    lab.wait(Nanos::from_secs(1));
    lab
}

fn a_node_reports_what_it_forwards() -> Lab {
    let mut lab = latencies(&[900; 10]);
    lab.wait(Nanos::from_secs(5));
    lab
}

// --- clocks and nodes

/// A packet over the link from node 1 to node 2, with this latency by their clocks.
fn timed(lab: &mut Lab, link_latency_ns: i64) {
    let sent_at = lab.now.0;
    let came_at = sent_at.saturating_add_signed(link_latency_ns);
    let stamped = |node_id, ingress, egress| HopMetadata {
        ingress_timestamp: Some(ingress),
        egress_timestamp: Some(egress),
        ..hop(node_id, 100, 0)
    };
    let hops = [stamped(1, sent_at - 100, sent_at), stamped(2, came_at, came_at + 100)];
    let packet = MdPacket { instructions: Instructions(0xfc00), ..MdPacket::new(&hops) };
    lab.report(2, &sink_report(&packet.bytes()));
}

fn packets_arrive_before_they_are_sent() -> Lab {
    let mut lab = Lab::new();
    for latency in [700, 700, -400] {
        timed(&mut lab, latency);
    }
    lab
}

fn packets_arrive_after_they_are_sent() -> Lab {
    let mut lab = Lab::new();
    for latency in [700, 0, 1_000_000] {
        timed(&mut lab, latency);
    }
    lab
}

fn fifteen_seconds_of(latency: impl Fn(i64) -> i64) -> Lab {
    let mut lab = Lab::new();
    for step in 0..150 {
        timed(&mut lab, latency(step));
        // The clock of the test advances a microsecond with each report.
        lab.wait(Nanos(99_999_000));
    }
    lab
}

fn a_clock_runs_fast() -> Lab {
    fifteen_seconds_of(|step| 10_000 + step * 300)
}

fn a_clock_is_only_off() -> Lab {
    fifteen_seconds_of(|step| 500_000 + step % 7 * 300)
}

fn from_addresses(hosts: &[u8]) -> Lab {
    let mut lab = Lab::new();
    let packet = plain_packet(&flow(1), 64);
    for (sequence, host) in (1..).zip(hosts) {
        let report = node_report(&packet, hop(5, 900, 0));
        lab.note_sent(5, sequence);
        let address = SocketAddr::from(([10, 0, 0, *host], 6_000));
        lab.datagram_from(address, &datagram(5, sequence, &[&report]));
    }
    lab
}

fn two_senders_use_one_node_id() -> Lab {
    from_addresses(&[7, 8, 7, 8, 7])
}

fn a_node_moves_to_another_address() -> Lab {
    from_addresses(&[7, 7, 8, 8, 7, 7, 8, 8])
}

fn nodes_report(node_ids: &[u32]) -> Lab {
    let health = HealthSettings { known_nodes: vec![5, 7], ..HealthSettings::default() };
    let mut lab = with(EventSettings { health, ..EventSettings::default() });
    for node_id in node_ids {
        let packet = plain_packet(&flow(1), 64);
        lab.report(*node_id, &node_report(&packet, hop(*node_id, 900, 0)));
    }
    lab
}

fn a_stranger_reports() -> Lab {
    assert_eq!(sender().ip().to_string(), "10.0.0.1");
    nodes_report(&[5, 6, 7])
}

fn the_nodes_that_are_known_report() -> Lab {
    nodes_report(&[5, 7, 5])
}

fn report_on(port: u16) -> Lab {
    let mut lab = Lab::new();
    let watched = Flow { destination: session().ip(), destination_port: port, ..flow(1) };
    lab.report(5, &node_report(&plain_packet(&watched, 64), hop(5, 900, 0)));
    lab
}

fn a_node_reports_on_reports() -> Lab {
    report_on(session().port())
}

fn a_node_reports_on_another_port() -> Lab {
    report_on(session().port() - 1)
}
