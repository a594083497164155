//! Tests that roll-ups agree with the rows.

use inband_model::HopRecord;
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use super::model::hop;
use crate::batch::Batch;
use crate::history::History;
use crate::question::{Cell, Limits};
use crate::sample::{Folder, Numbers};
use crate::settings::StoreSettings;
use crate::store::Store;

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn roll_ups_equal_what_the_rows_give_in_logs_and_in_segments(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(0usize..60, 1..8),
        segment_rows in 1usize..100,
    ) {
        let (folder, mut numbers) = (Folder::new(), Numbers(seed));
        let settings = StoreSettings { segment_rows, ..folder.settings() };
        let store = Store::open(settings).unwrap();
        for size in sizes {
            let hops: Vec<HopRecord> =
                (0..size).map(|_| HopRecord { hop_index: 0, hop_count: 1, ..hop(&mut numbers) }).collect();
            let _ = store.offer(Batch { reports: size as u64, hops: hops[..].into(), ..Batch::default() });
        }
        store.sync();
        for history in [store.history().unwrap(), { store.close(); History::open(folder.path()).unwrap() }] {
            for (rolled, rows) in PAIRS {
                prop_assert_eq!(ask(&history, rolled), ask(&history, rows), "{}", rolled);
            }
        }
    }
}

/// Fails if a roll-up differs from the rows.
pub(crate) fn check(history: &History) {
    for (rolled, rows) in PAIRS {
        assert_eq!(ask(history, rolled), ask(history, rows), "{rolled}");
    }
}

fn ask(history: &History, sql: &str) -> Vec<Vec<Cell>> {
    history.query(sql, Limits::default()).unwrap().rows
}

/// Questions to a roll-up and to the rows, with the same answer.
const PAIRS: [(&str, &str); 5] = [
    (
        "SELECT time, node_id, egress_interface, queue_id, sum(dropped) AS drops FROM seconds GROUP BY 1, 2, 3, 4 \
         HAVING drops > 0 ORDER BY 1, 2, 3, 4",
        "SELECT bucket(time, '1s'), node_id, egress_interface, queue_id, sum(dropped) AS drops FROM observations \
         WHERE hop_count > 0 GROUP BY 1, 2, 3, 4 HAVING drops > 0 ORDER BY 1, 2, 3, 4",
    ),
    (
        "SELECT time, node_id, egress_interface, queue_id, sum(count), sum(latency_count), max(latency_max), \
         max(queue_occupancy_max), max(utilization_max), sum(dropped) FROM minutes GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
        "SELECT bucket(time, '1m'), node_id, egress_interface, queue_id, count(*), count(hop_latency), \
         max(hop_latency), max(queue_occupancy), max(egress_utilization), sum(dropped) FROM observations \
         WHERE hop_count > 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    ),
    (
        "SELECT time, node_id, egress_interface, queue_id, sum(count), sum(latency_count), max(latency_max), \
         max(queue_occupancy_max), max(utilization_max), sum(dropped) FROM hours GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
        "SELECT bucket(time, '1h'), node_id, egress_interface, queue_id, count(*), count(hop_latency), \
         max(hop_latency), max(queue_occupancy), max(egress_utilization), sum(dropped) FROM observations \
         WHERE hop_count > 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    ),
    (
        "SELECT time, flow_id, source_port, sum(latency_count), max(latency_max), max(hop_latency_max), sum(dropped) \
         FROM flow_minutes GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        "SELECT bucket(time, '1m'), flow_id, source_port, count(hop_latency), max(hop_latency), max(hop_latency), \
         sum(dropped) FROM observations WHERE flow_id IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    ),
    (
        "SELECT time, sum(hops), max(latency_max), max(queue_occupancy_max) FROM totals GROUP BY time \
         HAVING sum(hops) > 0 ORDER BY time",
        "SELECT bucket(time, '1s') AS second, count(*), max(hop_latency), max(queue_occupancy) FROM observations \
         WHERE hop_count > 0 GROUP BY second ORDER BY second",
    ),
];
