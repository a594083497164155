//! Coverage and cost of the smart filter under a realistic load.
//!
//! Two measures of SD-Fabric's own tests: *accuracy*, the share of the flows sent that was reported at least
//! once, and *efficiency*, the share of the gaps between two reports of a flow that is not shorter than 0.9
//! s.

mod random;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use anyhow::{Context, Result};
use inband_node::{DeviceMetadata, Frame, Node, NodeConfig, Passage};
use inband_wire::Link;
use inband_wire::int::Queue;

use crate::fabric::plain;
use random::Random;

/// The reports of the filter on a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    flows: u32,
    packets: u64,
    reports: u64,
    reported_flows: u32,
    gaps: u64,
    long_gaps: u64,
}

impl Score {
    /// Flows reported of flows sent, 0 to 1.
    pub(crate) fn accuracy(&self) -> f64 {
        f64::from(self.reported_flows) / f64::from(self.flows)
    }

    /// Gaps of at least 0.9 s of all gaps between two reports of a flow, 0 to 1.
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    pub(crate) fn efficiency(&self) -> f64 {
        self.long_gaps as f64 / self.gaps as f64
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flows, packets, reports, .. } = self;
        write!(
            f,
            "Smart filter over {SECONDS} s of {flows} flows, {packets} packets: {reports} reports, accuracy {:.3} %, \
             efficiency {:.2} %",
            self.accuracy() * 100.0,
            self.efficiency() * 100.0
        )
    }
}

/// Sends `flows` flows through an XD node that filters, and that remembers `remembered` of them exactly.
///
/// # Errors
/// The node cannot be created.
pub(crate) fn score(flows: u32, remembered: u32) -> Result<Score> {
    let mut node = node(remembered)?;
    let template = plain(0, 1)?;
    let mut buffer = vec![0xa5; HEADROOM + template.len()];
    let mut trace = Trace::new(flows);
    let mut last_reports = vec![None; usize::try_from(flows)?];
    let mut score = Score { flows, packets: 0, reports: 0, reported_flows: 0, gaps: 0, long_gaps: 0 };
    while let Some((at, flow)) = trace.next_packet() {
        score.packets += 1;
        let passage = passage(at, trace.latency_ns(at));
        let frame = &mut buffer[HEADROOM..];
        frame.copy_from_slice(&template);
        // Source address and destination port distinguish the flows.
        frame[26..30].copy_from_slice(&(0x0a00_0000 + flow).to_be_bytes());
        let end = buffer.len();
        let mut frame = Frame::new(&mut buffer, HEADROOM..end).context("the frame is in its buffer")?;
        let _ = node.handle_frame(Link::Ethernet, &mut frame, &passage);
        while node.poll_output().is_some() {
            score.count(&mut last_reports[usize::try_from(flow)?], at);
        }
    }
    Ok(score)
}

impl Score {
    fn count(&mut self, last: &mut Option<u64>, at: u64) {
        self.reports += 1;
        match last.replace(at) {
            None => self.reported_flows += 1,
            Some(before) => {
                self.gaps += 1;
                self.long_gaps += u64::from(at - before >= LONG_GAP_NS);
            }
        }
    }
}

/// Flows whose sizes have a heavy tail, at rates from one packet a second to thousands, merged by time.
struct Trace {
    random: Random,
    /// The next packet of each active flow: its time, the flow, packets left, mean gap.
    next: BinaryHeap<Reverse<(u64, u32, u32, u64)>>,
}

impl Trace {
    fn new(flows: u32) -> Self {
        let mut random = Random::new(SEED);
        let next = (0..flows).map(|flow| {
            let start = random.below(SECONDS * NANOS_PER_SECOND);
            // A Pareto tail: most flows have a few packets, some have a hundred thousand.
            let size = (1.0 / random.unit().powf(1.0 / TAIL)).min(MAX_PACKETS);
            let gap = MIN_GAP_NS * 10_f64.powf(random.unit() * GAP_DECADES);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are in range")]
            let (size, gap) = (size as u32, gap as u64);
            Reverse((start, flow, size, gap))
        });
        let next = next.collect();
        Self { random, next }
    }

    /// The next packet's time and flow.
    fn next_packet(&mut self) -> Option<(u64, u32)> {
        let Reverse((at, flow, left, gap)) = self.next.pop()?;
        let next = at + self.random.exponential(gap);
        if left > 1 && next < SECONDS * NANOS_PER_SECOND {
            self.next.push(Reverse((next, flow, left - 1, gap)));
        }
        Some((at, flow))
    }

    /// About 640 ns with jitter below the smallest reported change, as SD-Fabric recommends; for some
    /// milliseconds of each second the queue is full, and the latency of every flow that meets it changes.
    fn latency_ns(&mut self, at: u64) -> u32 {
        let jitter = self.random.below(80) + self.random.below(80);
        let queue = if at % NANOS_PER_SECOND < BURST_NS { 20_000 } else { 0 };
        u32::try_from(560 + jitter + queue).unwrap_or(u32::MAX)
    }
}

fn passage(at: u64, latency_ns: u32) -> Passage {
    let metadata = DeviceMetadata {
        ingress_timestamp: Some(at),
        egress_timestamp: Some(at + u64::from(latency_ns)),
        hop_latency: Some(latency_ns),
        queue: Some(Queue { id: 0, occupancy: 0 }),
        ..DeviceMetadata::default()
    };
    Passage { ingress: 1, egress: 2, metadata }
}

fn node(remembered: u32) -> Result<Node> {
    let mut config: NodeConfig = toml::from_str(CONFIGURATION).context("cannot read the configuration")?;
    config.smart.flows = remembered;
    Node::new(&config).context("cannot create the node")
}

const CONFIGURATION: &str = r#"
[node]
id = 1

[source]
mode = "xd"

[[watch]]

[report]
filter = "smart"
"#;

const SEED: u64 = 20_231_114;
const HEADROOM: usize = 128;
const SECONDS: u64 = 60;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Shortest gap that counts as efficient.
const LONG_GAP_NS: u64 = 900_000_000;
/// Exponent of the distribution of sizes: about 10 packets a flow on average.
const TAIL: f64 = 1.1;
const MAX_PACKETS: f64 = 100_000.0;
/// Mean gaps of a flow's packets are spread evenly over this many powers of ten, from this one on.
const MIN_GAP_NS: f64 = 100_000.0;
const GAP_DECADES: f64 = 4.0;
/// How long the queue is full in each second.
const BURST_NS: u64 = 2_000_000;
