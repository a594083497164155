use std::collections::BTreeSet;

use inband_model::{Flow, HopColumns, HopRecord, Nanos};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{Key, Order, sort};
use crate::sample::{Numbers, any_hop};

/// Reports of a few flows, with up to four hops each.
fn columns(numbers: &mut Numbers, reports: u32) -> HopColumns {
    let mut columns = HopColumns::default();
    for sequence in 0..reports {
        let first = HopRecord { sequence, ..any_hop(numbers, Nanos(sequence.into())) };
        for hop_index in 0..=u8::try_from(numbers.below(4)).unwrap() {
            columns.push(&HopRecord { hop_index, ..first });
        }
    }
    columns
}

proptest! {
    #[test]
    fn every_hop_stands_once_beside_its_report(seed in any::<u64>(), reports in 0u32..200) {
        let columns = columns(&mut Numbers(seed), reports);
        let order = Order::of(&columns, 0..columns.reports().len(), 50);
        let mut hops = order.hops.clone();
        hops.sort_unstable();
        prop_assert_eq!(hops, Vec::from_iter(0..u32::try_from(columns.len()).unwrap()));
        for (hop, report) in order.hops.iter().zip(&order.report_of) {
            let report = order.reports[*report as usize];
            prop_assert!(columns.hops_of(report.sequence as usize).contains(&(*hop as usize)));
        }
    }

    #[test]
    fn row_groups_follow_the_flows_and_hold_hop_after_hop(seed in any::<u64>(), reports in 0u32..200, most in 1usize..60) {
        let columns = columns(&mut Numbers(seed), reports);
        let order = Order::of(&columns, 0..columns.reports().len(), most);
        let report = |row: usize| &order.reports[order.report_of[row] as usize];
        let place = |row: usize| {
            let report = report(row);
            let hop = order.hops[row] as usize - columns.hops_of(report.sequence as usize).start;
            (hop, (report.reporter, report.hw_id), report.flow.map(|flow| flow.id()), order.report_of[row])
        };
        let mut start = 0;
        let mut before = None;
        for end in order.groups.iter().map(|end| *end as usize) {
            prop_assert!(end - start <= most || place(end - 1).0 == end - start - 1, "only one report may be larger");
            prop_assert!((start..end).map(place).is_sorted());
            let flows: BTreeSet<_> = (start..end).map(|row| place(row).2).collect();
            prop_assert!(before <= flows.first().copied(), "flows of a row group begin before the one before it ends");
            before = flows.last().copied();
            start = end;
        }
        prop_assert_eq!(start, columns.len());
        let mut start = 0;
        for (end, of) in &order.flows {
            let flow = order.reports[*of as usize].flow;
            prop_assert!((start..*end as usize).all(|row| report(row).flow == flow));
            start = *end as usize;
        }
        prop_assert_eq!(start, columns.len());
    }

    #[test]
    fn keys_with_the_same_leading_bits_are_sorted_exactly(flows in proptest::collection::vec(any::<u64>(), 0..300), shift in 0u32..64) {
        let key = |(report, flow): (u32, &u64)| Key { flow: flow >> shift, report };
        let mut keys: Vec<Key> = (0..).zip(&flows).map(key).collect();
        sort(&mut keys);
        prop_assert!(keys.is_sorted_by_key(|key| (key.flow, key.report)));
        prop_assert_eq!(keys.len(), flows.len());
    }
}

#[test]
fn only_the_reports_that_are_asked_for_are_in_the_order() {
    let hop = |sequence: u32| HopRecord {
        sequence,
        flow: Some(Flow { source_port: u16::try_from(sequence).unwrap(), ..Flow::default() }),
        ..HopRecord::default()
    };
    let columns: HopColumns = (0..10).map(hop).collect();
    let order = Order::of(&columns, (0..10).filter(|report| report % 3 == 0), 50);
    let mut found: Vec<_> = order.reports.iter().map(|report| report.sequence).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 3, 6, 9]);
}
