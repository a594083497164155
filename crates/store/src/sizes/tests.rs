use inband_model::Nanos;

use super::{Sizes, SizesOf, SizesQuestion};
use crate::batch::Batch;
use crate::history::History;
use crate::question::{Cell, Limits};
use crate::range::TimeRange;
use crate::sample::{Folder, Numbers, START, any_hop};
use crate::settings::StoreSettings;
use crate::sketch::Sketch;
use crate::spread::Spread;
use crate::store::{Offered, Store};

/// A store with segments and a log.
fn store(folder: &Folder) -> Store {
    let store = Store::open(StoreSettings { segment_rows: 300, ..folder.settings() }).unwrap();
    let mut numbers = Numbers(3);
    for _ in 0..20 {
        let hop = |numbers: &mut Numbers| {
            let at = START.0 + numbers.below(600_000_000_000);
            let mut hop = any_hop(numbers, Nanos(at));
            (hop.node_id.0, hop.egress_interface) =
                (hop.node_id.0 % 3, hop.egress_interface.map(|port| port % 4));
            hop
        };
        let hops = (0..50).map(|_| hop(&mut numbers)).collect();
        assert_eq!(store.offer(Batch { hops, reports: 50, ..Batch::default() }), Offered::Queued);
        store.sync();
    }
    store
}

/// What the texts of a query for time and sketch add up to.
fn told(history: &History, sql: &str) -> Sizes {
    let mut sizes = Sizes::new();
    for row in history.query(sql, Limits::default()).unwrap().rows {
        let [Cell::Integer(time), Cell::Text(sketch)] = row.as_slice() else { continue };
        let counts = sizes.entry(Nanos(time.cast_unsigned())).or_insert([0; Spread::SIZES as usize]);
        for (value, count) in Sketch::parse(sketch).unwrap().values() {
            counts[usize::from(Spread::size(value))] += count;
        }
    }
    sizes
}

#[test]
fn sizes_are_what_the_texts_of_sketches_add_up_to() {
    let folder = Folder::new();
    let store = store(&folder);
    let range = TimeRange { from: Nanos(START.0 + 90_500_000_000), to: Nanos(START.0 + 480_000_000_000) };
    let within = format!("time >= {} AND time <= {}", range.from.0, range.to.0);
    let of_queue = SizesOf::LatenciesOfQueues { node: Some(1), interface: Some(2), queue: None };
    let of_all = SizesOf::LatenciesOfQueues { node: None, interface: None, queue: None };
    let cases = [
        (SizesOf::Latencies, "latency_sketch FROM totals", ""),
        (SizesOf::Occupancies, "queue_occupancy_sketch FROM totals", ""),
        (of_all, "latency_sketch FROM minutes", ""),
        (of_queue, "latency_sketch FROM minutes", " AND node_id = 1 AND egress_interface = 2"),
    ];
    let check = |history: &History| {
        for (of, what, place) in cases {
            let sizes = history.sizes(&SizesQuestion { of, range }, Limits::default()).unwrap();
            assert_eq!(sizes, told(history, &format!("SELECT time, {what} WHERE {within}{place}")), "{of:?}");
            assert!(sizes.values().flatten().sum::<u64>() > 0, "{of:?}");
        }
    };
    check(&store.history().unwrap());
    store.close();
    check(&History::open(folder.path()).unwrap());
}
