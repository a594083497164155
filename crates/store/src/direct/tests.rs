use std::collections::BTreeMap;

use inband_model::{Flow, HopRecord, Nanos, NodeId, Origin, Path, PathObservation};

use crate::batch::Batch;
use crate::history::History;
use crate::quantile::quantile;
use crate::question::{Cell, Limits};
use crate::range::TimeRange;
use crate::sample::{Folder, Numbers, START, any_hop};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

/// Random hops within some hours, in a store with rows in segments and in the log.
fn store(folder: &Folder) -> (Store, Vec<HopRecord>) {
    let mut numbers = Numbers(5);
    let store = Store::open(StoreSettings { segment_rows: 400, ..folder.settings() }).unwrap();
    let hop = |numbers: &mut Numbers| {
        let at = Nanos(START.0 + numbers.below(3 * 3_600_000_000_000));
        let nodes = [1, 2, 65_535, 65_536, 4_000_000_000];
        let node = nodes[usize::try_from(numbers.below(5)).unwrap()];
        HopRecord { node_id: NodeId(node), ..any_hop(numbers, at) }
    };
    let hops: Vec<_> = (0..1_000).map(|_| hop(&mut numbers)).collect();
    for hops in hops.chunks(100) {
        let batch = Batch { hops: hops.into(), reports: 100, ..Batch::default() };
        assert_eq!(store.offer(batch), Offered::Queued);
    }
    store.sync();
    (store, hops)
}

fn an_hour() -> TimeRange {
    TimeRange { from: Nanos(START.0 + 1_800_000_000_000), to: Nanos(START.0 + 5_400_000_000_000) }
}

#[test]
fn latencies_by_node_are_those_of_a_list_and_of_sql() {
    let folder = Folder::new();
    let (store, hops) = store(&folder);
    for range in [TimeRange::ALL, an_hour()] {
        let mut expected: BTreeMap<NodeId, Vec<i64>> = BTreeMap::new();
        for hop in hops.iter().filter(|hop| (range.from..=range.to).contains(&hop.received_at)) {
            let latency = hop.latency.map(|latency| i64::try_from(latency.0).unwrap_or(i64::MAX));
            expected.entry(hop.node_id).or_default().extend(latency);
        }
        let found = store.history().unwrap().hop_latency(range, 0.9).unwrap();
        let told: Vec<_> = found.iter().map(|node| (node.node_id, node.count, node.latency.0)).collect();
        let quantile = |values: &mut Vec<i64>| quantile(values, 0.9).unwrap().cast_unsigned();
        let list: Vec<_> = expected
            .iter_mut()
            .map(|(node, values)| (*node, values.len() as u64, quantile(values)))
            .collect();
        assert_eq!(told, list);
        let sql = format!(
            "SELECT node_id, count(hop_latency), quantile(hop_latency, 0.9) FROM observations \
             WHERE time >= {} AND time <= {} GROUP BY node_id",
            range.from.0,
            range.to.0.min(i64::MAX as u64)
        );
        let number = |number: u64| Cell::Integer(number.cast_signed());
        let rows: Vec<_> = told
            .iter()
            .map(|(node, count, p)| vec![number(node.0.into()), number(*count), number(*p)])
            .collect();
        assert_eq!(store.history().unwrap().query(&sql, Limits::default()).unwrap().rows, rows);
    }
}

#[test]
fn the_hops_of_a_flow_are_all_of_it_and_nothing_else() {
    let folder = Folder::new();
    let (store, hops) = store(&folder);
    store.close();
    let history = History::open(folder.path()).unwrap();
    let flows: Vec<Flow> = hops.iter().filter_map(|hop| hop.flow).take(20).collect();
    for flow in flows.into_iter().chain([Flow::default()]) {
        for range in [TimeRange::ALL, an_hour()] {
            let is_wanted = |hop: &&HopRecord| {
                hop.flow == Some(flow) && (range.from..=range.to).contains(&hop.received_at)
            };
            let mut expected: Vec<_> =
                hops.iter().filter(is_wanted).map(|hop| (hop.received_at, hop.node_id)).collect();
            expected.sort_unstable();
            let found = history.flow_hops(&flow, range, 1_000).unwrap();
            let mut told: Vec<_> = found.iter().map(|hop| (hop.time, hop.node_id)).collect();
            told.sort_unstable();
            assert_eq!(told, expected, "{flow}");
        }
        assert!(history.flow_hops(&flow, TimeRange::ALL, 2).unwrap().len() <= 2);
    }
}

#[test]
fn the_paths_of_a_flow_come_in_the_order_of_time() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    let path = |port: u16, after: u64, node: u32| PathObservation {
        flow: Flow { source_port: port, ..Flow::default() },
        path: Path::new(&[inband_model::Hop { node_id: NodeId(node), ..Default::default() }]),
        hop_latency: vec![None],
        hops_expected: None,
        received_at: Nanos(START.0 + after),
        origin: Origin::MdStack,
    };
    let paths = vec![path(1, 5, 12), path(2, 1, 99), path(1, 1, 11)];
    assert_eq!(store.offer(Batch { paths, ..Batch::default() }), Offered::Queued);
    store.close();
    let flow = Flow { source_port: 1, ..Flow::default() };
    let found = History::open(folder.path()).unwrap().flow_paths(&flow, TimeRange::ALL).unwrap();
    let told: Vec<_> = found.iter().map(|path| path.path.as_str()).collect();
    assert_eq!(told, ["11", "12"]);
}
