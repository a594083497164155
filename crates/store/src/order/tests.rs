use std::collections::BTreeSet;

use inband_model::{Flow, HopColumns, HopRecord, Nanos};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{Key, Order, sort};
use crate::sample::{Numbers, any_hop};

/// Reports of up to four hops each on a few flows.
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
        let order = Order::of(&columns, 0..columns.reports().len());
        let mut hops = order.hops.clone();
        hops.sort_unstable();
        prop_assert_eq!(hops, Vec::from_iter(0..u32::try_from(columns.len()).unwrap()));
        for (hop, report) in order.hops.iter().zip(&order.report_of) {
            let report = order.reports[*report as usize];
            prop_assert!(columns.hops_of(report.sequence as usize).contains(&(*hop as usize)));
        }
    }

    #[test]
    fn flows_lie_together_by_their_id_and_hops_of_a_flow_by_their_place(seed in any::<u64>(), reports in 0u32..200) {
        let columns = columns(&mut Numbers(seed), reports);
        let order = Order::of(&columns, 0..columns.reports().len());
        let mut start = 0;
        let mut before = None;
        let mut seen = BTreeSet::new();
        for (end, report) in &order.flows {
            let flow = order.reports[*report as usize].flow;
            prop_assert!(seen.insert(flow), "flow {:?} lies in two places", flow);
            prop_assert!(before <= flow.map(|flow| flow.id()));
            before = flow.map(|flow| flow.id());
            let rows = start..*end as usize;
            let places: Vec<_> = rows.clone().map(|row| {
                let report = order.reports[order.report_of[row] as usize];
                let hop = order.hops[row] as usize - columns.hops_of(report.sequence as usize).start;
                (hop, report.sequence)
            }).collect();
            prop_assert!(places.is_sorted());
            prop_assert!(rows.clone().all(|row| order.reports[order.report_of[row] as usize].flow == flow));
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
    let order = Order::of(&columns, (0..10).filter(|report| report % 3 == 0));
    let mut found: Vec<_> = order.reports.iter().map(|report| report.sequence).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 3, 6, 9]);
}
