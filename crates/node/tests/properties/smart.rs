//! The smart filter against an unbounded model of SD-Fabric's text.

use std::collections::HashMap;

use inband_node::config::{
    EncapsulationKind, Instruction, InterfaceConfig, LatencyChange, Mode, NodeConfig, ReportFilter,
    WatchEntry,
};
use inband_node::{DeviceMetadata, Frame, Node, Outcome, Passage};
use inband_testkit::packet;
use inband_testkit::path::next_report;
use inband_wire::Link;
use inband_wire::int::Queue;
use inband_wire::report::ReportGroup;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::many;

/// Flows from here on are on no watchlist.
const FIRST_UNWATCHED: u8 = 4;
/// A drop reason other than a tail drop, and a tail drop.
const REASONS: [u8; 2] = [80, 71];

/// One packet, or one dropped packet.
#[derive(Clone, Copy, Debug)]
struct Step {
    flow: u8,
    after_ns: u64,
    latency_ns: u32,
    queue: u8,
    ingress: u16,
    egress: u16,
    dropped: Option<u8>,
    /// Latency of the previous hop, if there is one.
    upstream_ns: u32,
}

/// The subject of a packet's report: flow, queue, drop.
type About = (bool, bool, bool);

/// `[smart]` of one trace.
#[derive(Clone, Copy, Debug)]
struct Settings {
    change: LatencyChange,
    least_change_ns: u32,
    interval_ms: u64,
    trigger_ns: u32,
    reset_ns: u32,
    quota: u32,
}

/// A literal model of the text for one node.
struct Model {
    settings: Settings,
    /// The previous packet and the latest report time, by flow.
    flows: HashMap<u8, (Step, u64)>,
    /// The time of the latest drop report, by flow and reason.
    drops: HashMap<(u8, u8), u64>,
    /// The remaining quotas, by egress interface and queue.
    left: HashMap<(u16, u8), u32>,
}

impl Model {
    fn new(settings: Settings) -> Self {
        Self { settings, flows: HashMap::new(), drops: HashMap::new(), left: HashMap::new() }
    }

    /// The report of a packet that an XD node sees at `now`.
    fn postcard(&mut self, step: Step, now: u64) -> Option<About> {
        if let Some(reason) = step.dropped {
            let is_queue_report = reason == REASONS[1] && self.spends(step);
            let is_due =
                is_queue_report || step.flow < FIRST_UNWATCHED && self.is_drop_due(step, reason, now);
            if is_due && !is_queue_report {
                self.drops.insert((step.flow, reason), now);
            }
            return is_due.then_some((false, is_queue_report, true));
        }
        // "Once a packet experiences latency above this threshold, all subsequent packets in the same queue
        // will be reported, independently of the watchlist, up to the quota or until latency drops below
        // triggerNs."
        let is_queue_report = step.latency_ns >= self.settings.trigger_ns && self.spends(step);
        // "When packet latency goes below this threshold, the quota is reset."
        if step.latency_ns < self.settings.reset_ns {
            self.left.remove(&(step.egress, step.queue));
        }
        if step.flow >= FIRST_UNWATCHED {
            return is_queue_report.then_some((false, true, false));
        }
        if is_queue_report && self.is_as_in_the_pipeline() {
            return Some((true, true, false));
        }
        let is_due = self.is_due(step, now);
        (is_due || is_queue_report).then(|| {
            self.report(step, now);
            (true, is_queue_report, false)
        })
    }

    /// "1 report/sec for each 5-tuple, or more when detecting anomalies (e.g., changes in the ingress/egress
    /// port, queues, hop latency, etc)."
    fn is_due(&mut self, step: Step, now: u64) -> bool {
        let Some((before, reported)) = self.flows.get_mut(&step.flow) else { return true };
        let way = |step: Step| (step.ingress, step.egress, step.queue);
        let is_due = way(*before) != way(step)
            || changes(self.settings, before.latency_ns, step.latency_ns)
            || changes(self.settings, before.upstream_ns, step.upstream_ns)
            || now - *reported >= self.settings.interval_ms * 1_000_000;
        *before = step;
        is_due
    }

    fn report(&mut self, step: Step, now: u64) {
        self.flows.insert(step.flow, (step, now));
    }

    fn is_drop_due(&self, step: Step, reason: u8, now: u64) -> bool {
        let interval_ns = self.settings.interval_ms * 1_000_000;
        self.drops.get(&(step.flow, reason)).is_none_or(|reported| now - reported >= interval_ns)
    }

    fn spends(&mut self, step: Step) -> bool {
        let left = self.left.entry((step.egress, step.queue)).or_insert(self.settings.quota);
        let has_some = *left > 0;
        *left = left.saturating_sub(1);
        has_some
    }

    /// fabric-tna's filter sees no packet that a queue reports.
    fn is_as_in_the_pipeline(&self) -> bool {
        self.settings.change == LatencyChange::Quantum
    }
}

/// "If the latency difference between this packet and the previous one of the same 5-tuple is greater than
/// minFlowHopLatencyChangeNs"; by quantum: another multiple of it, rounded down to a power of two.
fn changes(settings: Settings, before: u32, now: u32) -> bool {
    match settings.change {
        LatencyChange::Difference => u64::from(before.abs_diff(now)) > u64::from(settings.least_change_ns),
        LatencyChange::Quantum => {
            let mut quantum = 1;
            while quantum * 2 <= settings.least_change_ns {
                quantum *= 2;
            }
            before / quantum != now / quantum
        }
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let change = prop::sample::select(vec![LatencyChange::Difference, LatencyChange::Quantum]);
    let least = prop::sample::select(vec![0_u32, 1, 2, 100, 256, 300, 1024]);
    let trigger = 500..3000_u32;
    (change, least, 1..4_u64, trigger, 0..=100_u32, 0..5_u32).prop_map(
        |(change, least_change_ns, interval_ms, trigger_ns, reset, quota)| Settings {
            change,
            least_change_ns,
            interval_ms,
            trigger_ns,
            reset_ns: trigger_ns * reset / 100,
            quota,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    // Often near the edge of a quantum or a difference, and most often on the usual path.
    let latency = || {
        prop_oneof![
            4 => 1020..1028_u32,
            2 => 760..1290_u32,
            2 => 0..4000_u32,
            1 => prop::sample::select(vec![0, u32::MAX, 1 << 31]),
        ]
    };
    let after = prop_oneof![4 => 0..50_000_u64, 2 => 900_000..1_100_000_u64, 1 => 0..5_000_000_u64];
    let way = prop_oneof![6 => Just((0_u8, 1_u16, 2_u16)), 1 => (0..2_u8, 1..3_u16, 1..3_u16)];
    let dropped = prop::option::weighted(0.15, prop::sample::select(REASONS.to_vec()));
    (0..6_u8, after, latency(), way, dropped, latency()).prop_map(
        |(flow, after_ns, latency_ns, (queue, ingress, egress), dropped, upstream_ns)| Step {
            flow,
            after_ns,
            latency_ns,
            queue,
            ingress,
            egress,
            dropped,
            upstream_ns,
        },
    )
}

impl Step {
    fn frame(self) -> Vec<u8> {
        let [first, second] = if self.flow < FIRST_UNWATCHED { [10, 0] } else { [192, 0] };
        packet()
            .addresses(&[first, second, 2, self.flow], &[10, 9, 9, 9])
            .tcp(40000, 80)
            .payload(b"x")
            .build()
    }

    fn passage(self, now: u64) -> Passage {
        let metadata = DeviceMetadata {
            ingress_timestamp: Some(now),
            hop_latency: Some(self.latency_ns),
            queue: Some(Queue { id: self.queue, occupancy: 5 }),
            ..DeviceMetadata::default()
        };
        Passage { ingress: self.ingress, egress: self.egress, metadata }
    }
}

/// A node with interfaces 1 and 2 that watches 10.0.0.0/16 and stores every flow of a trace exactly.
fn config(settings: Settings, mode: Mode, edges: (bool, bool)) -> NodeConfig {
    let Settings { change, least_change_ns, interval_ms, trigger_ns, reset_ns, quota } = settings;
    let mut config = NodeConfig::new(1);
    let interface = |id, edge| InterfaceConfig { edge, mtu: 9000, ..InterfaceConfig::new(id) };
    config.interfaces = vec![interface(1, edges.0), interface(2, edges.1)];
    config.encapsulation.kind = Some(EncapsulationKind::Dscp);
    config.source.mode = mode;
    let watch = "source = \"10.0.0.0/16\"\naction = [\"start-int\", \"report-flow\", \"report-drops\"]";
    config.watchlist = vec![toml::from_str::<WatchEntry>(watch).expect("an entry")];
    config.report.filter = ReportFilter::Smart;
    let queue = format!("{{ trigger_ns = {trigger_ns}, reset_ns = {reset_ns}, quota = {quota} }}");
    let change = if change == LatencyChange::Quantum { "quantum" } else { "difference" };
    config.smart = toml::from_str(&format!(
        "interval_ms = {interval_ms}\nmin_hop_latency_change_ns = {least_change_ns}\nflows = 64\ndrops = 64\n\
         latency_change = \"{change}\"\n[queue]\n0 = {queue}\n1 = {queue}"
    ))
    .expect("settings");
    config
}

/// Processes the step's packet or its drop; returns the node's report.
fn hand_over(node: &mut Node, step: Step, frame: &[u8], now: u64) -> Option<About> {
    let mut buffer = vec![0xa5; 200];
    buffer.extend(frame);
    let end = buffer.len();
    match step.dropped {
        Some(reason) => node.handle_drop(Link::Ethernet, frame, &step.passage(now), reason),
        None => {
            let mut frame = Frame::new(&mut buffer, 200..end).expect("inside the buffer");
            let _ = node.handle_frame(Link::Ethernet, &mut frame, &step.passage(now));
        }
    }
    let datagram = next_report(node)?;
    assert!(node.poll_output().is_none(), "at most one report of a packet");
    let group = ReportGroup::parse(&datagram).expect("a node's own report");
    let report = group.reports().next().expect("one report").expect("a node's own report");
    Some((report.tracked_flow(), report.congested_queue(), report.dropped()))
}

proptest! {
    // A filter allocates its memory at once, which takes time.
    #![proptest_config(ProptestConfig { cases: many().cases / 25, ..many() })]

    // sd-fabric-1.0/flow-01, sd-fabric-1.0/flow-02, sd-fabric-1.0/flow-03, sd-fabric-1.0/flow-04,
    // sd-fabric-1.0/drop-02, sd-fabric-1.0/queue-02, sd-fabric-1.0/queue-03, sd-fabric-1.0/watch-02
    #[test]
    fn a_node_reports_exactly_what_the_text_of_sd_fabric_says(
        settings in settings(),
        steps in vec(step(), 1..250),
    ) {
        let mut node = Node::new(&config(settings, Mode::Xd, (false, false))).expect("a node");
        let (mut model, mut now) = (Model::new(settings), 1_700_000_000_000_000_000);
        for (index, step) in steps.iter().map(|step| Step { upstream_ns: 0, ..*step }).enumerate() {
            now += step.after_ns;
            let expected = model.postcard(step, now);
            prop_assert_eq!(hand_over(&mut node, step, &step.frame(), now), expected, "step {} {:?}", index, step);
        }
    }

    // sd-fabric-1.0/flow-03
    #[test]
    fn an_md_sink_compares_the_latencies_of_all_hops_as_the_text_says(
        settings in settings(),
        steps in vec(step(), 1..150),
    ) {
        // Without queues, and with the packet's interfaces fixed: only the last node is a sink.
        let settings = Settings { trigger_ns: u32::MAX, reset_ns: 0, quota: 0, ..settings };
        let mut sink = Node::new(&config(settings, Mode::Md, (false, true))).expect("a sink");
        let mut source = config(settings, Mode::Md, (true, false));
        source.source.instructions = [Instruction::NodeId, Instruction::HopLatency].into_iter().collect();
        source.report.filter = ReportFilter::None;
        let mut source = Node::new(&source).expect("a source");
        let (mut model, mut now) = (Model::new(settings), 1_700_000_000_000_000_000);
        for (index, step) in steps.into_iter().filter(|step| step.flow < FIRST_UNWATCHED).enumerate() {
            now += step.after_ns;
            // All ones means no latency.
            let upstream_ns = step.upstream_ns.min(u32::MAX - 1);
            let latency_ns = step.latency_ns.min(u32::MAX - 1);
            let step = Step { latency_ns, upstream_ns, ingress: 1, egress: 2, dropped: None, ..step };
            let mut buffer = vec![0xa5; 200];
            buffer.extend(step.frame());
            let end = buffer.len();
            let mut frame = Frame::new(&mut buffer, 200..end).expect("inside the buffer");
            let at_source = Step { latency_ns: upstream_ns, ..step };
            let _ = source.handle_frame(Link::Ethernet, &mut frame, &at_source.passage(now));
            prop_assert_eq!(source.counters().get(Outcome::Started), index as u64 + 1);
            let expected = model.postcard(step, now);
            let reported = hand_over(&mut sink, step, frame.bytes(), now);
            prop_assert_eq!(reported, expected, "step {} {:?}", index, step);
        }
    }
}
