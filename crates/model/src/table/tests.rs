use std::collections::BTreeSet;

use crate::table::{Kind, OBSERVATIONS, shapes};
use crate::{Flow, HopRecord};

#[test]
fn every_table_begins_with_its_time_and_names_no_column_twice() {
    for shape in shapes() {
        assert_eq!(shape.columns[0].0, "time", "{}", shape.name);
        assert_eq!(shape.columns[0].1, Kind::Time, "{}", shape.name);
        let names: BTreeSet<_> = shape.columns.iter().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), shape.columns.len(), "{}", shape.name);
    }
}

#[test]
fn names_are_words_that_sql_needs_no_quotes_for() {
    for shape in shapes() {
        for name in shape.columns.iter().map(|(name, ..)| *name).chain([shape.name]) {
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            );
        }
    }
}

#[test]
fn the_schema_of_this_version_is_written_down() {
    // Within a version, columns may only be added at the end.
    let columns: Vec<_> = OBSERVATIONS.columns.iter().map(|column| column.name).collect();
    assert_eq!(
        columns[..16],
        [
            "time",
            "flow_id",
            "source",
            "destination",
            "protocol",
            "source_port",
            "destination_port",
            "hop_index",
            "hop_count",
            "node_id",
            "ingress_interface",
            "egress_interface",
            "ingress_interface_level2",
            "egress_interface_level2",
            "hop_latency",
            "queue_id",
        ]
    );
    assert_eq!(columns.len(), 33);
}

#[test]
fn a_flow_id_fits_a_signed_number_and_differs_in_each_part_of_the_flow() {
    let flow = Flow { source_port: 1, ..Flow::default() };
    let others = [
        Flow { source: [10, 0, 0, 1].into(), ..flow },
        Flow { destination: [10, 0, 0, 1].into(), ..flow },
        Flow { source: [0u16; 8].into(), ..flow },
        Flow { protocol: 6, ..flow },
        Flow { source_port: 2, ..flow },
        Flow { destination_port: 1, ..flow },
    ];
    let ids: BTreeSet<_> = others.iter().chain([&flow]).map(|flow| flow.id().0).collect();
    assert_eq!(ids.len(), 7);
    assert!(ids.iter().all(|id| i64::try_from(*id).is_ok()));
    assert_eq!(HopRecord::default().flow, None);
}
