//! Compares a store with a list of rows.

use std::collections::HashSet;

use inband_model::table::OBSERVATIONS;
use inband_model::{HopRecord, Nanos, NodeId};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use crate::batch::Batch;
use crate::history::{ColumnData, History, Value, ValueTest};
use crate::range::TimeRange;
use crate::sample::{Folder, Numbers, START, any_hop};
use crate::segment::{Kept, column_of};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_store_that_is_closed_and_opened_holds_what_a_list_holds(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(0usize..60, 1..12),
        segment_rows in 1usize..100,
    ) {
        let (folder, mut numbers, mut list) = (Folder::new(), Numbers(seed), Vec::new());
        let settings = StoreSettings { segment_rows, ..folder.settings() };
        let mut store = Store::open(settings.clone()).unwrap();
        for size in sizes {
            let hops: Vec<_> = (0..size).map(|_| hop(&mut numbers)).collect();
            list.extend(hops.clone());
            let offered = store.offer(Batch { reports: hops.len() as u64, hops: hops[..].into(), ..Batch::default() });
            prop_assert_eq!(offered, Offered::Queued);
            if numbers.below(4) == 0 {
                store.close();
                store = Store::open(settings.clone()).unwrap();
            }
        }
        store.sync();
        prop_assert_eq!(rows(&store.history().unwrap(), TimeRange::ALL), of_list(&list, TimeRange::ALL));
        store.close();
        let history = History::open(folder.path()).unwrap();
        prop_assert_eq!(rows(&history, TimeRange::ALL), of_list(&list, TimeRange::ALL));
        let to = Nanos(START.0 + 3_600_000_000_000);
        let some = TimeRange { from: START, to };
        prop_assert_eq!(rows(&history, some), of_list(&list, some));
    }
}

#[test]
fn some_rows_of_a_column_are_those_of_the_whole_column() {
    let (folder, mut numbers) = (Folder::new(), Numbers(5));
    let store = Store::open(folder.settings()).unwrap();
    for kind in 0..2 {
        let full = |hop: HopRecord| match kind {
            0 => hop,
            // All values are present.
            _ => HopRecord {
                latency: hop.latency.or(Some(Nanos(5))),
                queue_occupancy: hop.queue_occupancy.or(Some(9)),
                queue_id: Some(hop.queue_id.unwrap_or(0) % 3),
                ingress_timestamp: hop.ingress_timestamp.or(Some(1 << 40)),
                egress_timestamp: hop.egress_timestamp.or(Some(1 << 41)),
                ..hop
            },
        };
        let at = Nanos(START.0 + kind * 3_600_000_000_000);
        let hops: Vec<_> = (0..500).map(|_| full(any_hop(&mut numbers, at))).collect();
        let offered = store.offer(Batch { reports: 500, hops: hops[..].into(), ..Batch::default() });
        assert_eq!(offered, Offered::Queued);
    }
    store.close();
    let history = History::open(folder.path()).unwrap();
    let chunks = history.chunks(&OBSERVATIONS.shape(), TimeRange::ALL).unwrap();
    assert_eq!(chunks.len(), 2);
    let all: Vec<usize> = (0..OBSERVATIONS.columns.len()).collect();
    for chunk in chunks {
        for rows in [vec![3, 77, 78, 400], vec![499], (0..250).collect::<Vec<u32>>()] {
            let mut kept = chunk.kept_for(&all);
            for column in &all {
                let whole = chunk.column(*column).unwrap();
                let alone = chunk.rows_of_column(*column, &rows, &mut Kept::default()).unwrap();
                let together = chunk.rows_of_column(*column, &rows, &mut kept).unwrap();
                assert_eq!((alone.len(), together.len()), (rows.len(), rows.len()));
                for (place, row) in rows.iter().map(|row| *row as usize).enumerate() {
                    let value = whole.value(row);
                    assert_eq!(alone.value(place), value, "column {column}, row {row}");
                    assert_eq!(together.value(place), value, "column {column}, row {row}, with others");
                }
            }
        }
    }
}

#[test]
fn rows_found_in_a_dictionary_are_those_whose_values_pass_the_test() {
    let (folder, mut numbers) = (Folder::new(), Numbers(7));
    let store = Store::open(folder.settings()).unwrap();
    let full = |hop: HopRecord| HopRecord {
        node_id: NodeId(hop.node_id.0 % 40),
        egress_interface: Some(hop.egress_interface.unwrap_or(0) % 5),
        queue_id: Some(hop.queue_id.unwrap_or(0) % 3),
        ..hop
    };
    let hops: Vec<_> = (0..800).map(|_| full(any_hop(&mut numbers, START))).collect();
    let offered = store.offer(Batch { reports: 800, hops: hops[..].into(), ..Batch::default() });
    assert_eq!(offered, Offered::Queued);
    store.close();
    let chunk = History::open(folder.path()).unwrap().chunks(&OBSERVATIONS.shape(), TimeRange::ALL).unwrap();
    let (chunk, mut found) = (&chunk[0], HashSet::new());
    for (column, (name, ..)) in OBSERVATIONS.shape().columns.iter().enumerate() {
        let whole = chunk.column(column).unwrap();
        for among in [None, Some(vec![3, 77, 78, 400, 799]), Some((0..500).collect::<Vec<u32>>())] {
            let all = || among.clone().unwrap_or_else(|| (0..800).collect());
            for wanted in [0, 77, 799].map(|row| whole.value(row)).into_iter().chain([Value::Integer(-1)]) {
                let rows = match wanted {
                    Value::Missing => continue,
                    Value::Integer(number) => {
                        let test = |value| value == number;
                        chunk.rows_with(column, among.as_deref(), ValueTest::Number(&test)).unwrap()
                    }
                    Value::Text(text) => {
                        let test = |value: &str| value == text;
                        chunk.rows_with(column, among.as_deref(), ValueTest::Text(&test)).unwrap()
                    }
                };
                let Some(rows) = rows else { continue };
                let told: Vec<u32> =
                    all().into_iter().filter(|row| whole.value(*row as usize) == wanted).collect();
                assert_eq!(rows, told, "{name}, {wanted:?}");
                found.insert(*name);
            }
        }
    }
    let expected = ["node_id", "egress_interface", "queue_id", "origin", "report_version"];
    assert!(expected.iter().all(|name| found.contains(name)), "{found:?}");
}

/// A random hop within some hours.
pub(super) fn hop(numbers: &mut Numbers) -> HopRecord {
    let at = Nanos(START.0 + numbers.below(3 * 3_600_000_000_000));
    any_hop(numbers, at)
}

/// Every value of every row in the range; rows sorted as text.
fn rows(history: &History, range: TimeRange) -> Vec<String> {
    let mut rows = Vec::new();
    for chunk in history.chunks(&OBSERVATIONS.shape(), range).unwrap() {
        let columns: Vec<_> =
            (0..OBSERVATIONS.columns.len()).map(|column| chunk.column(column).unwrap()).collect();
        rows.extend(lines(&columns, chunk.rows(), range));
    }
    rows.sort();
    rows
}

pub(super) fn of_list(list: &[HopRecord], range: TimeRange) -> Vec<String> {
    let columns: Vec<_> = OBSERVATIONS.columns.iter().map(|column| column_of(&column.cells, list)).collect();
    let mut rows: Vec<_> = lines(&columns, list.len(), range).collect();
    rows.sort();
    rows
}

pub(super) fn lines(columns: &[ColumnData], rows: usize, range: TimeRange) -> impl Iterator<Item = String> {
    let in_range = move |time: Value<'_>| matches!(time, Value::Integer(time) if (range.from.0..=range.to.0).contains(&time.cast_unsigned()));
    (0..rows)
        .filter(move |row| in_range(columns[0].value(*row)))
        .map(|row| columns.iter().map(|column| format!("{:?} ", column.value(row))).collect())
}
