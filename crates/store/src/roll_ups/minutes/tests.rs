use inband_model::{HopColumns, HopRecord, Nanos, NodeId};

use super::{Minutes, RollUp};

#[test]
fn minutes_tell_nodes_and_queues_apart_and_leave_reports_without_hops_out() {
    let hop = |seconds, node, latency: Option<u64>, occupancy| HopRecord {
        received_at: Nanos::from_secs(seconds),
        node_id: NodeId(node),
        hop_count: 1,
        latency: latency.map(Nanos),
        queue_occupancy: occupancy,
        ..HopRecord::default()
    };
    let hops = [
        hop(59, 1, Some(40), None),
        hop(60, 1, Some(10), Some(7)),
        hop(61, 1, Some(30), Some(5)),
        hop(119, 1, None, None),
        hop(60, 2, None, None),
        HopRecord { hop_count: 0, ..hop(60, 3, Some(1), None) },
    ];

    let columns = HopColumns::from(&hops[..]);
    let mut minutes = Minutes::default();
    minutes.add(&columns, 0..columns.reports().len());
    let rows = minutes.rows();

    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.minute.0 / 1_000_000_000,
                row.node_id.0,
                row.count,
                row.latency_count,
                row.queue_occupancy_max,
            )
        })
        .collect();
    assert_eq!(told, [(0, 1, 1, 1, None), (60, 1, 3, 2, Some(7)), (60, 2, 1, 0, None)]);
    assert_eq!(rows[1].latency_quantiles, Some([Nanos(10), Nanos(30), Nanos(30)]));
    assert_eq!((rows[1].latency_max, rows[2].latency_max), (Some(Nanos(30)), None));
    assert_eq!(rows[1].latency_sketch, "10:1 30:1");
}

#[test]
fn a_report_without_hops_counts_as_a_drop_of_its_reporter() {
    let record = HopRecord { reporter: NodeId(7), node_id: NodeId(7), hop_count: 0, ..HopRecord::default() };
    let columns = HopColumns::from(&[HopRecord { dropped: true, ..record }, record][..]);
    let mut minutes = Minutes::default();

    minutes.add(&columns, 0..2);

    let rows = minutes.rows();
    assert_eq!(
        rows.iter().map(|row| (row.node_id, row.count, row.dropped)).collect::<Vec<_>>(),
        [(NodeId(7), 0, 1)]
    );
}
