//! Summaries of probes.

use inband_model::Flow;

use super::Summary;
use crate::trace::outcome::Outcome;
use crate::trace::stack::{Ended, Hop, Seen};

fn outcome(nodes: &[u32], total: u64, ended: Ended) -> Outcome {
    let hop = |node_id: &u32| Hop {
        node_id: *node_id,
        ingress_timestamp: Some(1_000),
        egress_timestamp: Some(1_000 + total),
        ..Hop::default()
    };
    let flow = Flow {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        protocol: 17,
        source_port: 1,
        destination_port: 2,
    };
    Outcome { number: 1, flow, seen: Seen::reported(nodes.iter().map(hop).collect(), ended) }
}

#[test]
fn a_summary_counts_probes_paths_and_differences() {
    let results = [
        outcome(&[1, 2], 100, Ended::Sink),
        outcome(&[1, 2], 160, Ended::Sink),
        outcome(&[], 0, Ended::Lost),
        outcome(&[1, 3], 140, Ended::Sink),
    ];

    let summary = Summary::of(&results);

    assert_eq!((summary.sent, summary.lost, summary.jitter()), (4, 1, Some(40)));
    assert_eq!(summary.paths, [[1, 2], [1, 3]]);
    let one = Summary::of(&results[..1]);
    assert_eq!((one.sent, one.jitter()), (1, None));
}

#[test]
fn the_hops_before_a_loss_are_no_path_and_no_jitter() {
    let results = [
        outcome(&[1, 2], 100, Ended::Sink),
        outcome(&[1], 10, Ended::Lost),
        outcome(&[1, 2], 160, Ended::Sink),
    ];

    let summary = Summary::of(&results);

    assert_eq!((summary.lost, summary.jitter()), (1, Some(60)));
    assert_eq!(summary.paths, [[1, 2]]);
}
