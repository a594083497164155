use inband_model::{Flow, HopColumns, HopRecord, Nanos, NodeId};

use super::RollUps;

#[test]
fn a_link_has_the_time_between_hops_that_stand_next_to_each_other() {
    let hop = |index: u8, node, ingress: u64, egress: u64| HopRecord {
        received_at: Nanos(61_000_000_000),
        hop_index: index,
        hop_count: 4,
        node_id: NodeId(node),
        ingress_interface: Some(1),
        egress_interface: Some(2),
        ingress_timestamp: Some(EPOCH + ingress),
        egress_timestamp: Some(EPOCH + egress),
        latency: Some(Nanos(egress - ingress)),
        flow: Some(Flow::default()),
        dropped: true,
        ..HopRecord::default()
    };
    // The hop after the second is missing, and the last one has a clock that is behind.
    let hops = [hop(0, 7, 100, 150), hop(1, 8, 190, 200), hop(3, 9, 900, 950), hop(4, 10, 940, 960)];

    let rolled = RollUps::of(&HopColumns::from(&hops[..]));

    let links: Vec<_> = rolled
        .links
        .iter()
        .map(|row| (row.from.0, row.to.0, row.count, row.latency_max.map(|max| max.0), row.negative_count))
        .collect();
    assert_eq!(links, [(7, 8, 1, Some(40), 0), (9, 10, 1, None, 1)]);
    let flow = &rolled.flows[0];
    assert_eq!((flow.reports, flow.latency_sum, flow.hop_latency_max), (1, 130, Some(Nanos(50))));
    assert_eq!((flow.minute.0, flow.dropped), (60_000_000_000, 1));
    // The node that dropped the packet is the last one.
    let dropped: Vec<_> = rolled.minutes.iter().map(|row| (row.node_id.0, row.dropped)).collect();
    assert_eq!(dropped, [(7, 0), (8, 0), (9, 0), (10, 1)]);
    assert_eq!((rolled.hours.len(), rolled.hours[3].dropped, rolled.hours[0].minute), (4, 1, Nanos::ZERO));
}

/// A node's clock reading in this century.
const EPOCH: u64 = 1_700_000_000_000_000_000;
