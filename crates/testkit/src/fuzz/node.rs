//! Fuzz target that sends a frame through source, transit hop and sink.

use inband_node::config::{IntVersion, ReportFilter, ReportVersion};
use inband_node::{Node, NodeConfig, Outcome, Output, ReportDatagram};
use inband_wire::layers::{Layers, Strictness};
use inband_wire::report::ReportGroup;

use crate::path::{DomainPlan, NodePlan, nodes_with, send};

/// Number of nodes on the path.
const NODES: usize = 3;

/// The first bytes select the domain, the nodes, a byte to change between them, and whether reports are
/// filtered and losses detected; the rest is a frame.
///
/// # Panics
/// A frame that was started and stripped but differs, a packet that counts twice or not at all, or a report
/// that cannot be read.
pub fn node(input: &[u8]) {
    let Some((domain, input)) = input.split_first_chunk::<{ DomainPlan::BYTES }>() else { return };
    let Some((plans, input)) = input.split_first_chunk::<{ NODES * NodePlan::BYTES }>() else { return };
    let Some((harm, frame)) = input.split_first_chunk::<4>() else { return };
    let plans: Vec<_> = plans.as_chunks().0.iter().copied().map(NodePlan).collect();
    let is_filtered = harm[0] & 2 != 0;
    let mut nodes = nodes_with(&DomainPlan(*domain), &plans, |config| {
        if is_filtered {
            filter(config);
        }
    });
    let mut current = frame.to_vec();
    let is_harmed = harm[0] & 1 != 0;
    for (node, plan) in nodes.iter_mut().zip(&plans) {
        let sent = send(node, &current, &plan.passage());
        check_counters(node, 1);
        check_reports(node);
        let Some(sent) = sent else { return };
        current = sent;
        let at = usize::from(u16::from_be_bytes([harm[1], harm[2]]));
        if is_harmed && let Some(byte) = current.get_mut(at) {
            *byte ^= harm[3];
        }
    }
    let count = |index: usize, outcome| nodes[index].counters().get(outcome);
    // Host-INT does not preserve the DSCP.
    if DomainPlan(*domain).version() == IntVersion::Host0_5 {
        return;
    }
    let is_whole = count(0, Outcome::Started) == 1 && count(NODES - 1, Outcome::Stripped) == 1;
    if is_whole && !is_harmed {
        assert_eq!(current, frame, "source, transit hop and sink");
    }
}

/// Filters reports and detects losses, in tables that are small because they are created for every input.
fn filter(config: &mut NodeConfig) {
    config.report.filter = ReportFilter::Smart;
    (config.smart.flows, config.smart.drops, config.loss.flows) = (16, 16, 16);
    // 1.0 has no field for a drop summary.
    config.loss.detect = config.report.version != ReportVersion::V1_0;
}

fn check_counters(node: &Node, packets: u64) {
    let fates: u64 = Outcome::FATES.iter().map(|fate| node.counters().get(*fate)).sum();
    assert_eq!(fates, packets, "every packet has one fate");
}

fn check_reports(node: &mut Node) {
    while let Some(output) = node.poll_output() {
        match output {
            Output::Report(ReportDatagram { payload, .. }) => {
                let group = ReportGroup::parse(payload).expect("a node's own report");
                assert!(group.reports().all(|report| report.is_ok()), "a node's own report: {payload:02x?}");
            }
            Output::Reply(own) => {
                let layers = Layers::parse(own.link, &own.bytes, Strictness::Whole);
                assert!(matches!(layers, Ok(Some(_))), "a node's own message: {:02x?}", own.bytes);
            }
            Output::Clone(_) | Output::Copy(_) | Output::Probe(_) => {}
        }
    }
}
