//! The time of an XD node for a packet whose report is held back by the smart filter.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use inband_node::{Frame, Node, NodeConfig, Outcome, Passage};
use inband_wire::Link;

use crate::fabric::{Role, plain};
use crate::measure::Subject;

/// An XD node and one packet each of many flows.
pub(crate) struct Postcards {
    node: Node,
    frames: Vec<Vec<u8>>,
    passage: Passage,
    /// Number of reported packets in a batch.
    reported: u64,
    reported_before: u64,
}

impl Postcards {
    /// A node that watches every packet; `filter` is its report filter.
    pub(crate) fn new(filter: &str, flows: u16) -> Result<Self> {
        let config = CONFIGURATION.replace("FILTER", filter);
        let config: NodeConfig = toml::from_str(&config).context("cannot read the configuration")?;
        let mut passage = Role::Transit.passage();
        passage.metadata.ingress_timestamp = Some(START);
        passage.metadata.egress_timestamp = Some(START + 1000);
        passage.metadata.hop_latency = Some(1000);
        Ok(Self {
            node: Node::new(&config).context("cannot create the node")?,
            frames: (1..=flows).map(|port| plain(100, port)).collect::<Result<_>>()?,
            passage,
            reported: if filter == "none" { u64::from(flows) } else { 0 },
            reported_before: 0,
        })
    }
}

impl Subject for Postcards {
    fn items(&self) -> usize {
        self.frames.len()
    }

    fn prepare(&mut self) {
        self.reported_before = self.node.counters().get(Outcome::Reported);
    }

    fn run(&mut self) {
        for buffer in &mut self.frames {
            let end = buffer.len();
            let Some(mut frame) = Frame::new(buffer, 0..end) else { continue };
            let _ = black_box(self.node.handle_frame(Link::Ethernet, &mut frame, black_box(&self.passage)));
            while let Some(output) = self.node.poll_output() {
                black_box(output);
            }
        }
    }

    fn verify(&mut self) -> Result<()> {
        // The first batch reports every flow.
        self.prepare();
        self.run();
        let reported = self.node.counters().get(Outcome::Reported) - self.reported_before;
        ensure!(reported == self.reported, "{reported} reports instead of {}", self.reported);
        Ok(())
    }
}

const START: u64 = 1_700_000_000_000_000_000;

const CONFIGURATION: &str = r#"
[node]
id = 1

[source]
mode = "xd"
instructions = ["level1-interfaces", "hop-latency", "queue-occupancy"]

[[watch]]
protocol = "tcp"

[report]
filter = "FILTER"
"#;
