use crate::{Flow, HopColumns, HopRecord, Nanos, NodeId, Origin, ReportRecord};

/// Reports of three hops with different fields.
fn hops() -> Vec<HopRecord> {
    let hop = |number: u32| HopRecord {
        received_at: Nanos((number / 3).into()),
        sequence: number / 3,
        origin: Origin::MdStack,
        tracked_flow: (number / 3).is_multiple_of(2),
        drop_reason: (number / 3 == 4).then_some(7),
        flow: (number / 3 != 2).then(|| Flow { source_port: 9, ..Flow::default() }),
        hop_index: u8::try_from(number % 3).unwrap(),
        hop_count: 3,
        node_id: NodeId(u32::MAX - number),
        ingress_interface: (number.is_multiple_of(2)).then_some(u16::MAX),
        egress_interface: (number.is_multiple_of(3)).then_some(1),
        ingress_interface_level2: (number.is_multiple_of(4)).then_some(u32::MAX),
        egress_interface_level2: (number.is_multiple_of(5)).then_some(0),
        latency: (number.is_multiple_of(6)).then_some(Nanos::MAX),
        queue_id: (number.is_multiple_of(7)).then_some(255),
        queue_occupancy: (number.is_multiple_of(8)).then_some(number),
        ingress_timestamp: (number.is_multiple_of(9)).then_some(u64::MAX),
        egress_timestamp: (number.is_multiple_of(10)).then_some(1),
        egress_utilization: (number.is_multiple_of(11)).then_some(2),
        buffer_id: (number.is_multiple_of(12)).then_some(3),
        buffer_occupancy: (number.is_multiple_of(13)).then_some(4),
        ..HopRecord::default()
    };
    (0..30).map(hop).collect()
}

#[test]
fn hops_come_out_as_they_went_in_wherever_they_are_divided() {
    let hops = hops();
    for first in (0..=hops.len()).step_by(3) {
        let mut columns = HopColumns::from(&hops[..first]);
        columns.append(&HopColumns::from(&hops[first..]));
        assert_eq!(Vec::from_iter(columns.iter()), hops, "appended behind {first}");

        let mut columns = HopColumns::from(&hops[..first]);
        columns.extend_from_slice(&hops[first..]);
        assert_eq!(Vec::from_iter(columns.iter()), hops, "added behind {first}");

        columns.truncate(first / 3);
        assert_eq!(Vec::from_iter(columns.iter()), hops[..first], "cut behind {first}");
    }
}

#[test]
fn what_hops_have_in_common_stands_once_for_a_report() {
    let hops = hops();
    let columns: HopColumns = hops.iter().copied().collect();
    assert_eq!((columns.len(), columns.reports().len()), (30, 10));
    assert_eq!(columns.hops_of(4), 12..15);
    assert_eq!(columns.reports()[4].drop_reason, Some(7));
}

#[test]
fn a_report_is_added_as_its_hops_are() {
    let hops = hops();
    let (mut columns, mut taken) = (HopColumns::default(), HopColumns::default());
    for report in hops.chunks(3) {
        columns.add_report(ReportRecord::of(&report[0]), report);
        columns.add_report(ReportRecord::of(&report[0]), &[] as &[HopRecord]);
        if columns.len() == 12 {
            taken.take_from(&mut columns);
            assert!(columns.is_empty());
        }
    }
    taken.take_from(&mut columns);
    assert_eq!(Vec::from_iter(taken.iter()), hops);
}

#[test]
fn parts_that_do_not_fit_one_another_make_no_columns() {
    let columns = HopColumns::from(&hops()[..]);
    let HopColumns { reports, ends, present, narrow, wide } = columns.clone();
    let whole =
        HopColumns::from_parts(reports.clone(), ends.clone(), present.clone(), narrow.clone(), wide.clone());
    assert_eq!(whole, Some(columns));
    let mut falling = ends.clone();
    falling.swap(0, 1);
    let mut short = narrow.clone();
    short[0].pop();
    let fewer = reports[1..].to_vec();
    let cut = present[1..].to_vec();
    for parts in [
        HopColumns::from_parts(fewer, ends.clone(), present.clone(), narrow.clone(), wide.clone()),
        HopColumns::from_parts(reports.clone(), falling, present.clone(), narrow.clone(), wide.clone()),
        HopColumns::from_parts(reports.clone(), ends.clone(), cut, narrow, wide.clone()),
        HopColumns::from_parts(reports, ends, present, short, wide),
    ] {
        assert_eq!(parts, None);
    }
}
