//! Smart filters and queue reports: reports sent, suppressed, and bypassing the filter.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{
    EncapsulationKind, Instruction, IntVersion, Mode, NodeConfig, Prefix, ReportFilter, SourceConfig,
    WatchEntry,
};
use inband_node::{Frame, Node, Outcome, Passage};
use inband_testkit::packet;
use inband_wire::int::{Instructions, Queue};
use inband_wire::layers::Link;

use support::{node_config, passage, reports, tcp_frame, with_report};

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_700_000_000 * SECOND;

/// The device's measurements for one packet: seconds since the start, latency, queue, interfaces.
#[derive(Clone, Copy)]
struct Way {
    at_ms: u64,
    latency_ns: u32,
    queue: u8,
    ingress: u16,
    egress: u16,
}

const USUAL: Way = Way { at_ms: 0, latency_ns: 1000, queue: 3, ingress: 1, egress: 2 };

impl Way {
    fn passage(self) -> Passage {
        let mut passage = passage();
        let ingress_timestamp = START + self.at_ms * 1_000_000;
        passage.metadata.ingress_timestamp = Some(ingress_timestamp);
        passage.metadata.egress_timestamp = Some(ingress_timestamp + u64::from(self.latency_ns));
        passage.metadata.hop_latency = Some(self.latency_ns);
        passage.metadata.queue = Some(Queue { id: self.queue, occupancy: 7 });
        Passage { ingress: self.ingress, egress: self.egress, ..passage }
    }
}

fn config(mode: Mode, edges: (bool, bool), smart: &str) -> NodeConfig {
    let mut config = node_config(9, edges, EncapsulationKind::Dscp, mode);
    config.report.filter = ReportFilter::Smart;
    config.smart = toml::from_str(smart).unwrap();
    config
}

fn xd(smart: &str) -> Node {
    Node::new(&config(Mode::Xd, (false, false), smart)).unwrap()
}

/// Passes the frame to the node and returns the number of reports.
fn send(node: &mut Node, frame: &[u8], way: Way) -> usize {
    pass(node, frame, way);
    reports(node).len()
}

fn pass(node: &mut Node, frame: &[u8], way: Way) -> Vec<u8> {
    let mut buffer = vec![0xa5; 1100];
    buffer.extend(frame);
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, 1100..end).unwrap();
    let _ = node.handle_frame(Link::Ethernet, &mut frame, &way.passage());
    frame.bytes().to_vec()
}

#[test]
fn a_flow_is_reported_once_per_interval() {
    // sd-fabric-1.0/flow-01
    let mut node = xd("interval_ms = 1000");
    let sent: Vec<_> = [0, 1, 999, 1000, 1001, 1999, 2000, 9000]
        .map(|at_ms| send(&mut node, &tcp_frame(b""), Way { at_ms, ..USUAL }))
        .into();
    assert_eq!(sent, [1, 0, 0, 1, 0, 0, 1, 1]);
    assert_eq!(node.counters().get(Outcome::ReportWithheld), 4);
    assert_eq!(node.counters().get(Outcome::Reported), 4);
}

#[test]
fn every_flow_is_filtered_by_itself() {
    let mut node = xd("");
    for port in 1000..1100 {
        let frame = packet().tcp(port, 80).build();
        assert_eq!(send(&mut node, &frame, USUAL), 1);
        assert_eq!(send(&mut node, &frame, USUAL), 0);
    }
}

#[test]
fn each_change_of_the_way_is_reported_at_once() {
    // sd-fabric-1.0/flow-02
    let changes = [
        Way { latency_ns: 1257, ..USUAL },
        Way { latency_ns: 743, ..USUAL },
        Way { queue: 4, ..USUAL },
        Way { ingress: 2, ..USUAL },
        Way { egress: 1, ..USUAL },
    ];
    for change in changes {
        let mut node = xd("");
        let sent: Vec<_> =
            [USUAL, change, change, USUAL, USUAL].map(|way| send(&mut node, &tcp_frame(b""), way)).into();
        assert_eq!(sent, [1, 1, 0, 1, 0]);
    }
}

/// The number of reports for each packet of a flow with these latencies.
fn sent_at(smart: &str, latencies_ns: &[u32]) -> Vec<usize> {
    let mut node = xd(smart);
    let send = |latency_ns: &u32| send(&mut node, &tcp_frame(b""), Way { latency_ns: *latency_ns, ..USUAL });
    latencies_ns.iter().map(send).collect()
}

#[test]
fn one_nanosecond_of_jitter_is_no_change_wherever_it_is() {
    // sd-fabric-1.0/flow-03: the difference must exceed the threshold.
    assert_eq!(sent_at("", &[1023, 1024, 1023, 1024, 1023]), [1, 0, 0, 0, 0]);
    assert_eq!(sent_at("", &[1000, 1256, 1000, 1257, 1001]), [1, 0, 0, 1, 0]);
    let smart = "min_hop_latency_change_ns = 300";
    assert_eq!(sent_at(smart, &[1000, 1300, 1000, 1301, 1000]), [1, 0, 0, 1, 1], "no power of two is needed");
    let smart = "min_hop_latency_change_ns = 0";
    assert_eq!(sent_at(smart, &[1000, 1000, 1001]), [1, 0, 1]);
}

#[test]
fn a_latency_is_compared_with_that_of_the_packet_before() {
    // sd-fabric-1.0/flow-03: "this packet and the previous one", so a slow drift waits for the interval.
    assert_eq!(sent_at("", &[1000, 1200, 1400, 1600, 1800, 2057, 2057]), [1, 0, 0, 0, 0, 1, 0]);
}

#[test]
fn a_change_of_latency_within_its_quantum_is_none_where_quanta_are_compared() {
    // sd-fabric-1.0/flow-04: 768 to 1023 are one quantum of 256 ns, and of 300 ns rounded down.
    for least in ["", "min_hop_latency_change_ns = 300\n"] {
        let smart = format!("{least}latency_change = \"quantum\"");
        assert_eq!(sent_at(&smart, &[1000, 768, 1023, 800, 1024, 1023]), [1, 0, 0, 0, 1, 1]);
    }
}

#[test]
fn behind_a_queue_report_a_flow_is_compared_with_that_packet() {
    // sd-fabric-1.0/flow-03
    let mut node = xd("queue.3 = { trigger_ns = 2000 }");
    let mut send_at =
        |at_ms, latency_ns| send(&mut node, &tcp_frame(b""), Way { at_ms, latency_ns, ..USUAL });
    assert_eq!(send_at(0, 1000), 1);
    assert_eq!(send_at(1, 9000), 1, "of queue and flow");
    assert_eq!(send_at(2, 1000), 1, "the fall");
    assert_eq!(send_at(3, 1000), 0);
}

#[test]
fn a_report_of_queue_and_flow_begins_the_interval() {
    // sd-fabric-1.0/flow-01: it counts as the flow's report for this second.
    let mut node = xd("queue.3 = { trigger_ns = 2000, quota = 1 }");
    let mut send_at = |at_ms| send(&mut node, &tcp_frame(b""), Way { at_ms, latency_ns: 2000, ..USUAL });
    assert_eq!([0, 1, 999, 1000, 1001].map(&mut send_at), [1, 0, 0, 1, 0]);
}

#[test]
fn where_quanta_are_compared_queue_reports_go_past_the_filter_as_in_sd_fabric() {
    // sd-fabric-1.0/flow-04
    let mut node = xd("latency_change = \"quantum\"\nqueue.3 = { trigger_ns = 2000 }");
    let mut send_at =
        |at_ms, latency_ns| send(&mut node, &tcp_frame(b""), Way { at_ms, latency_ns, ..USUAL });
    assert_eq!(send_at(0, 1000), 1);
    assert_eq!(send_at(900, 9000), 1, "of queue and flow");
    assert_eq!(send_at(901, 1000), 0, "like the packet before the congestion");
    assert_eq!(send_at(1000, 1000), 1, "an interval after the flow's own report");
}

#[test]
fn a_device_without_a_clock_has_everything_reported() {
    let mut node = xd("");
    let mut passage = USUAL.passage();
    passage.metadata.ingress_timestamp = None;
    passage.metadata.egress_timestamp = None;
    let send = |node: &mut Node| {
        let mut buffer = vec![0xa5; 1100];
        buffer.extend(tcp_frame(b""));
        let end = buffer.len();
        let _ = node.handle_frame(Link::Ethernet, &mut Frame::new(&mut buffer, 1100..end).unwrap(), &passage);
        reports(node).len()
    };
    assert_eq!([send(&mut node), send(&mut node)], [1, 1]);
    // The shell's clock works too.
    node.handle_timeout(START);
    assert_eq!([send(&mut node), send(&mut node)], [1, 0]);
}

#[test]
fn mx_nodes_filter_their_own_reports() {
    let mut source = Node::new(&config(Mode::Mx, (true, false), "")).unwrap();
    let started = pass(&mut source, &tcp_frame(b""), USUAL);
    assert_eq!(pass(&mut source, &tcp_frame(b""), USUAL), started, "INT is started all the same");
    assert_eq!(reports(&mut source).len(), 1);
    for edges in [(false, false), (false, true)] {
        let mut node = Node::new(&config(Mode::Mx, edges, "")).unwrap();
        assert_eq!(send(&mut node, &started, USUAL), 1);
        assert_eq!(send(&mut node, &started, USUAL), 0);
        assert_eq!(send(&mut node, &started, Way { queue: 9, ..USUAL }), 1);
    }
}

#[test]
fn an_md_sink_hears_changes_of_every_hop() {
    let mut plain = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
    plain.source.instructions = [Instruction::NodeId, Instruction::HopLatency].into_iter().collect();
    let mut source = Node::new(&plain).unwrap();
    let mut sink = Node::new(&config(Mode::Md, (false, true), "")).unwrap();
    let mut journey = |source_latency_ns, sink_latency_ns| {
        let started = pass(&mut source, &tcp_frame(b""), Way { latency_ns: source_latency_ns, ..USUAL });
        let before = sink.counters().get(Outcome::Reported);
        let stripped = pass(&mut sink, &started, Way { latency_ns: sink_latency_ns, ..USUAL });
        assert_eq!(stripped, tcp_frame(b""), "a packet is stripped whether or not it is reported");
        sink.counters().get(Outcome::Reported) - before
    };
    assert_eq!(journey(1000, 1000), 1);
    assert_eq!(journey(1001, 1001), 0);
    assert_eq!(journey(5000, 1000), 1, "a hop in front of the sink");
    assert_eq!(journey(5000, 5000), 1, "the sink");
    assert_eq!(journey(5000, 5000), 0);
}

/// The number of reports a smart sink with `smart` sends for each packet with the given one-way latency; the
/// domain is that of `source`.
fn reported_by_sink(source: &NodeConfig, smart: &str, one_way_ns: &[i64]) -> Vec<usize> {
    let mut sink = config(Mode::Md, (false, true), smart);
    sink.node.int_version = source.node.int_version;
    sink.encapsulation = source.encapsulation.clone();
    let (mut source, mut sink) = (Node::new(source).unwrap(), Node::new(&sink).unwrap());
    let way = Way { latency_ns: 0, ..USUAL };
    let journey = |one_way_ns: &i64| {
        let started = pass(&mut source, &tcp_frame(b""), way);
        let mut passage = way.passage();
        let arrival = passage.metadata.ingress_timestamp.and_then(|at| at.checked_add_signed(*one_way_ns));
        (passage.metadata.ingress_timestamp, passage.metadata.egress_timestamp) = (arrival, arrival);
        let mut buffer = vec![0xa5; 1100];
        buffer.extend(started);
        let end = buffer.len();
        let _ = sink.handle_frame(Link::Ethernet, &mut Frame::new(&mut buffer, 1100..end).unwrap(), &passage);
        reports(&mut sink).len()
    };
    one_way_ns.iter().map(journey).collect()
}

fn timestamps_only(version: IntVersion, kind: EncapsulationKind, instructions: &[Instruction]) -> NodeConfig {
    let mut config = node_config(1, (true, false), kind, Mode::Md);
    config.node.int_version = Some(version);
    config.source.instructions = instructions.iter().copied().collect();
    config
}

const TIMESTAMPS: [Instruction; 3] =
    [Instruction::NodeId, Instruction::IngressTimestamp, Instruction::EgressTimestamp];

#[test]
fn a_host_int_sink_reports_a_change_of_one_way_latency() {
    // host-int-0.5/report-02
    for kind in [EncapsulationKind::Dscp, EncapsulationKind::Udp] {
        let mut source = timestamps_only(IntVersion::Host0_5, kind, &TIMESTAMPS);
        source.source.instructions = SourceConfig::default().instructions;
        let latencies = [1_000, 90_000_000, 90_000_256, 90_000_513, 1_000, 1_000];
        assert_eq!(reported_by_sink(&source, "", &latencies), [1, 1, 0, 1, 1, 0], "{kind:?}");
        let smart = "min_one_way_latency_change_ns = 5_000_000";
        assert_eq!(reported_by_sink(&source, smart, &latencies), [1, 1, 0, 0, 1, 0], "{kind:?}");
        let smart = "latency_change = \"quantum\"";
        assert_eq!(reported_by_sink(&source, smart, &[1_000, 1_023, 1_024, 1_024]), [1, 0, 1, 0], "{kind:?}");
    }
}

#[test]
fn an_md_sink_reports_a_change_of_one_way_latency_where_hops_have_timestamps_only() {
    let only = |instruction| [Instruction::NodeId, instruction];
    let cases: [(IntVersion, EncapsulationKind, &[Instruction]); 6] = [
        (IntVersion::V2_1, EncapsulationKind::Dscp, &TIMESTAMPS),
        (IntVersion::V2_1, EncapsulationKind::Dscp, &only(Instruction::IngressTimestamp)),
        (IntVersion::V2_1, EncapsulationKind::Dscp, &only(Instruction::EgressTimestamp)),
        (IntVersion::V1_0, EncapsulationKind::Dscp, &TIMESTAMPS),
        (IntVersion::V0_5, EncapsulationKind::Dscp, &TIMESTAMPS),
        (IntVersion::V2_1, EncapsulationKind::Udp, &TIMESTAMPS),
    ];
    for (version, kind, instructions) in cases {
        let source = timestamps_only(version, kind, instructions);
        let reported = reported_by_sink(&source, "", &[1_000, 90_000_000, 90_000_256, 1_000, 1_000]);
        assert_eq!(reported, [1, 1, 0, 1, 0], "{version:?} {kind:?} {instructions:?}");
    }
}

#[test]
fn a_sink_whose_clock_is_a_little_behind_the_source_sees_no_jump_at_zero() {
    for version in [IntVersion::Host0_5, IntVersion::V2_1] {
        let mut source = timestamps_only(version, EncapsulationKind::Dscp, &TIMESTAMPS);
        if version == IntVersion::Host0_5 {
            source.source.instructions = SourceConfig::default().instructions;
        }
        assert_eq!(reported_by_sink(&source, "", &[50, -50, 50, -50]), [1, 0, 0, 0], "{version:?}");
        assert_eq!(reported_by_sink(&source, "", &[50, -207]), [1, 1], "{version:?}");
    }
}

#[test]
fn where_hops_give_their_latency_the_clocks_of_nodes_are_not_compared() {
    let instructions = [Instruction::NodeId, Instruction::HopLatency, Instruction::IngressTimestamp];
    let source = timestamps_only(IntVersion::V2_1, EncapsulationKind::Dscp, &instructions);
    assert_eq!(reported_by_sink(&source, "", &[1_000, 90_000_000]), [1, 0]);
}

#[test]
fn copies_that_a_source_made_are_reported_each() {
    let mut source = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
    source.source.discard = true;
    let started = pass(&mut Node::new(&source).unwrap(), &tcp_frame(b""), USUAL);
    let mut sink = Node::new(&config(Mode::Md, (false, true), "")).unwrap();
    assert_eq!([send(&mut sink, &started, USUAL), send(&mut sink, &started, USUAL)], [1, 1]);
}

#[test]
fn a_congested_queue_reports_whatever_the_watchlist_says() {
    // sd-fabric-1.0/queue-02
    // report-2.0/individual-09
    let mut config = config(Mode::Xd, (false, false), "queue.3 = { trigger_ns = 2000, quota = 2 }");
    config.watchlist = vec![];
    let mut node = Node::new(&config).unwrap();
    let congested = Way { latency_ns: 2000, ..USUAL };
    assert_eq!(send(&mut node, &tcp_frame(b""), Way { latency_ns: 1999, ..USUAL }), 0);
    pass(&mut node, &tcp_frame(b""), congested);
    with_report(&mut node, |report| {
        assert!(report.congested_queue() && !report.tracked_flow() && !report.dropped());
        assert_eq!(report.metadata().queue, Some(Queue { id: 3, occupancy: 7 }));
        assert_eq!(report.metadata().hop_latency, Some(2000));
        assert_eq!(report.metadata().interfaces.map(|ids| (ids.ingress, ids.egress)), Some((1, 2)));
        assert_eq!(report.packet().unwrap().1[..tcp_frame(b"").len()], tcp_frame(b""));
    });
    // Packets that are not IP wait in queues, too.
    let arp = support::ethernet(0x0806, &[0; 28]);
    assert_eq!(send(&mut node, &arp, congested), 1);
    assert_eq!(send(&mut node, &tcp_frame(b""), congested), 0, "the quota is used up");
    assert_eq!(node.counters().get(Outcome::QueueOverQuota), 1);
    send(&mut node, &tcp_frame(b""), Way { latency_ns: 999, ..USUAL });
    assert_eq!(send(&mut node, &tcp_frame(b""), congested), 1, "and filled up again");
}

#[test]
fn a_report_of_queue_and_flow_is_one_report_that_no_filter_holds_back() {
    // sd-fabric-1.0/queue-02
    let mut node = xd("queue.3 = { trigger_ns = 2000, quota = 2 }");
    assert_eq!(send(&mut node, &tcp_frame(b""), USUAL), 1);
    for _ in 0..2 {
        pass(&mut node, &tcp_frame(b""), Way { latency_ns: 2000, ..USUAL });
        with_report(&mut node, |report| assert!(report.congested_queue() && report.tracked_flow()));
    }
    // Without quota there is nothing to report: the flow's latency is as in the previous report.
    assert_eq!(send(&mut node, &tcp_frame(b""), Way { latency_ns: 2000, ..USUAL }), 0);
    pass(&mut node, &tcp_frame(b""), Way { latency_ns: 3000, ..USUAL });
    with_report(&mut node, |report| assert!(!report.congested_queue() && report.tracked_flow()));
    assert_eq!(send(&mut node, &tcp_frame(b""), USUAL), 1);
    assert_eq!(send(&mut node, &tcp_frame(b""), USUAL), 0);
}

#[test]
fn a_transit_hop_reports_its_queue_and_adds_its_metadata() {
    let mut source = Node::new(&node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md)).unwrap();
    let started = pass(&mut source, &tcp_frame(b""), USUAL);
    let smart = "queue.3 = { trigger_ns = 2000 }";
    let mut transit = Node::new(&config(Mode::Md, (false, false), smart)).unwrap();
    let passed = pass(&mut transit, &started, Way { latency_ns: 2000, ..USUAL });
    assert_eq!(passed.len(), started.len() + 8);
    with_report(&mut transit, |report| {
        assert!(report.congested_queue() && !report.tracked_flow());
        assert_eq!(report.metadata().hop_latency, Some(2000));
    });
}

#[test]
fn an_md_sink_tells_of_its_queue_in_the_report_of_the_stack() {
    let mut source = Node::new(&node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md)).unwrap();
    let started = pass(&mut source, &tcp_frame(b""), USUAL);
    let mut sink = Node::new(&config(Mode::Md, (false, true), "queue.3 = { trigger_ns = 2000 }")).unwrap();
    pass(&mut sink, &started, Way { latency_ns: 2000, ..USUAL });
    with_report(&mut sink, |report| {
        assert!(report.congested_queue() && report.tracked_flow());
        assert!(report.rep_md_bits().contains(Instructions::QUEUE));
    });
}

#[test]
fn reports_in_a_congested_queue_are_not_reported() {
    // sd-fabric-1.0/watch-04
    let mut node = xd("queue.3 = { trigger_ns = 2000, quota = 1 }");
    let to_collector =
        packet().addresses(&[10, 0, 0, 9], &[127, 0, 0, 1]).udp(0, 32766).payload(b"a report").build();
    assert_eq!(send(&mut node, &to_collector, Way { latency_ns: 2000, ..USUAL }), 0);
    assert_eq!(send(&mut node, &tcp_frame(b""), Way { latency_ns: 2000, ..USUAL }), 1, "the quota is whole");
}

#[test]
fn a_reload_keeps_what_is_known_of_flows() {
    let mut node = xd("");
    assert_eq!(send(&mut node, &tcp_frame(b""), USUAL), 1);
    let mut other = config(Mode::Xd, (false, false), "interval_ms = 500");
    node.reload(&other).unwrap();
    assert_eq!(send(&mut node, &tcp_frame(b""), Way { at_ms: 499, ..USUAL }), 0);
    assert_eq!(send(&mut node, &tcp_frame(b""), Way { at_ms: 500, ..USUAL }), 1);

    let nobody: Prefix = "192.0.2.0/24".parse().unwrap();
    other.watchlist = vec![WatchEntry { either: Some(nobody), ..WatchEntry::default() }];
    node.reload(&other).unwrap();
    assert_eq!(send(&mut node, &tcp_frame(b""), Way { at_ms: 2000, ..USUAL }), 0);
    assert_eq!(node.counters().get(Outcome::Reported), 2);
}

#[test]
fn a_reload_with_a_mistake_changes_nothing() {
    let mut node = xd("");
    let mut wrong = config(Mode::Xd, (false, false), "interval_ms = 0");
    wrong.watchlist = vec![];
    assert_eq!(node.reload(&wrong).unwrap_err().key(), "smart.interval_ms");
    assert_eq!(send(&mut node, &tcp_frame(b""), USUAL), 1);
}

#[test]
fn what_the_filter_would_not_run_is_refused_also_where_it_is_off() {
    let mut wrong = config(Mode::Xd, (false, false), "queue.x = { trigger_ns = 1 }");
    wrong.report.filter = ReportFilter::None;
    assert_eq!(Node::new(&wrong).unwrap_err().key(), "smart.queue.x");
}

#[test]
fn a_reload_switches_the_filter_on_and_off() {
    let mut node = xd("");
    let mut open = config(Mode::Xd, (false, false), "");
    open.report.filter = ReportFilter::None;
    let sent = |node: &mut Node| (0..3).map(|_| send(node, &tcp_frame(b""), USUAL)).sum::<usize>();
    assert_eq!(sent(&mut node), 1);
    node.reload(&open).unwrap();
    assert_eq!(sent(&mut node), 3);
    node.reload(&config(Mode::Xd, (false, false), "")).unwrap();
    assert_eq!(sent(&mut node), 1);
}
