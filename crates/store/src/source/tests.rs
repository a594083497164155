use inband_model::table::OBSERVATIONS;
use inband_model::{HopColumns, HopRecord, Nanos};

use super::{SOURCES, Source};
use crate::history::ColumnData;
use crate::sample::{Numbers, any_hop};
use crate::segment::column_of;

#[test]
fn every_column_of_the_table_has_its_source_in_its_place() {
    let names: Vec<_> = OBSERVATIONS.columns.iter().map(|column| column.name).collect();
    assert_eq!(SOURCES.map(|(name, _)| name)[..], names);
}

#[test]
fn values_are_those_the_table_takes_from_the_hops_themselves() {
    let mut numbers = Numbers(3);
    let mut hops: Vec<HopRecord> = (0..200).map(|at| any_hop(&mut numbers, Nanos(at))).collect();
    // Some reports have several hops.
    for index in (1..200).filter(|index| index % 3 != 0) {
        hops[index] = HopRecord { hop_index: 9, ..hops[index - 1] };
    }
    let columns = HopColumns::from(&hops[..]);
    for (index, column) in OBSERVATIONS.columns.iter().enumerate() {
        for range in [0..200, 0..1, 7..8, 100..200, 200..200] {
            let expected = column_of(&column.cells, &hops[range.clone()]);
            let found = Source::of(index).column(&columns, range.clone());
            let values = |data: &ColumnData| {
                Vec::from_iter((0..data.len()).map(|row| format!("{:?}", data.value(row))))
            };
            assert_eq!(values(&found), values(&expected), "{} of {range:?}", column.name);
        }
    }
}
