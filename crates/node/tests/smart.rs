//! Smart filters and queue reports: what goes out, what is held back, and what goes past the filter.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig, Prefix, ReportFilter, WatchEntry};
use inband_node::{Frame, Node, Outcome, Passage};
use inband_testkit::packet;
use inband_wire::int::{Instructions, Queue};
use inband_wire::layers::Link;

use support::{node_config, passage, reports, tcp_frame, with_report};

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_700_000_000 * SECOND;

/// What the device says of one packet: seconds since the start, latency, queue, interfaces.
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

/// Hands the frame to the node and tells how many reports came of it.
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
    let changes = [
        Way { latency_ns: 1024, ..USUAL },
        Way { latency_ns: 767, ..USUAL },
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

#[test]
fn a_change_of_latency_within_its_quantum_is_none() {
    // 768 to 1023 are one quantum of 256 ns, and of 300 ns rounded down.
    for smart in ["", "min_hop_latency_change_ns = 300"] {
        let mut node = xd(smart);
        let sent: Vec<_> = [1000, 768, 1023, 800]
            .map(|latency_ns| send(&mut node, &tcp_frame(b""), Way { latency_ns, ..USUAL }))
            .into();
        assert_eq!(sent, [1, 0, 0, 0]);
    }
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
    // The shell's clock does as well.
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
    plain.source.instructions =
        [inband_node::config::Instruction::NodeId, inband_node::config::Instruction::HopLatency]
            .into_iter()
            .collect();
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
    // What is not IP waits in queues, too.
    let arp = support::ethernet(0x0806, &[0; 28]);
    assert_eq!(send(&mut node, &arp, congested), 1);
    assert_eq!(send(&mut node, &tcp_frame(b""), congested), 0, "the quota is used up");
    assert_eq!(node.counters().get(Outcome::QueueOverQuota), 1);
    send(&mut node, &tcp_frame(b""), Way { latency_ns: 999, ..USUAL });
    assert_eq!(send(&mut node, &tcp_frame(b""), congested), 1, "and filled up again");
}

#[test]
fn a_report_of_queue_and_flow_is_one_report_that_the_filter_does_not_see() {
    let mut node = xd("queue.3 = { trigger_ns = 2000, quota = 2 }");
    assert_eq!(send(&mut node, &tcp_frame(b""), USUAL), 1);
    for _ in 0..2 {
        pass(&mut node, &tcp_frame(b""), Way { latency_ns: 2000, ..USUAL });
        with_report(&mut node, |report| assert!(report.congested_queue() && report.tracked_flow()));
    }
    // Without quota the flow's own report goes out: its latency has changed. Back to the usual it has again.
    pass(&mut node, &tcp_frame(b""), Way { latency_ns: 2000, ..USUAL });
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
