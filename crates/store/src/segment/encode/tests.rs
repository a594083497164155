use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::ColumnEncoder;
use crate::sample::{Folder, Numbers};
use crate::segment::file::FileBuilder;

/// Writes one column of numbers, some possibly missing, and reads it with the library.
fn through_a_file(column: &[Option<u64>], is_optional: bool, climbs: bool) -> (Vec<i64>, Vec<i16>) {
    let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = Type::primitive_type_builder("number", Physical::INT64).with_repetition(repetition);
    let fields = vec![Arc::new(field.build().unwrap())];
    let schema = Type::group_type_builder("numbers").with_fields(fields).build().unwrap();
    let mut builder = FileBuilder::new(Arc::new(schema), 1).unwrap();
    let mut encoder = ColumnEncoder::new();
    // A previous column must leave nothing behind.
    encoder.begin();
    encoder.put_numbers(&[7, 8, 9]);
    encoder.begin();
    if is_optional {
        encoder.put_levels(column.iter().map(|number| (number.is_some(), 1)));
    }
    let numbers: Vec<u64> = column.iter().copied().flatten().collect();
    match climbs {
        true => encoder.put_climbing(&numbers),
        false => encoder.put_numbers(&numbers),
    }
    builder.add_column(column.len(), encoder.encoded()).unwrap();
    builder.end_group(column.len()).unwrap();
    let folder = Folder::new();
    let path = folder.path().join("numbers.parquet");
    std::fs::write(&path, builder.finish(Vec::new()).unwrap()).unwrap();

    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let group = file.get_row_group(0).unwrap();
    let ColumnReader::Int64ColumnReader(mut reader) = group.get_column_reader(0).unwrap() else {
        panic!("another type");
    };
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while levels.len() < column.len() && values.len() < column.len() {
        reader.read_records(column.len(), Some(&mut levels), None, &mut values).unwrap();
    }
    let statistics = file.metadata().row_group(0).column(0).statistics().unwrap();
    assert_eq!(statistics.null_count_opt(), Some((column.len() - numbers.len()) as u64));
    (values, levels)
}

proptest! {
    #[test]
    fn numbers_are_read_by_the_library_as_they_were_written(
        seed in any::<u64>(),
        rows in 1usize..3_000,
        bits in 0u32..64,
        missing_of_ten in 0u64..=10,
        is_optional: bool,
        climbs: bool,
    ) {
        let mut numbers = Numbers(seed);
        let mut number = 0;
        let column: Vec<Option<u64>> = (0..rows).map(|_| {
            // Repeats some numbers.
            number = if numbers.below(3) == 0 { number } else { numbers.next() >> (63 - bits) >> 1 };
            (!is_optional || numbers.below(10) >= missing_of_ten).then_some(number)
        }).collect();
        let (values, levels) = through_a_file(&column, is_optional, climbs);
        let expected: Vec<i64> = column.iter().flatten().map(|number| number.cast_signed()).collect();
        prop_assert_eq!(values, expected);
        if is_optional {
            let expected: Vec<i16> = column.iter().map(|number| i16::from(number.is_some())).collect();
            prop_assert_eq!(levels, expected);
        }
    }
}

#[test]
fn the_largest_steps_up_and_down_are_read_as_they_were_written() {
    let most = i64::MAX.cast_unsigned();
    let column: Vec<Option<u64>> = (0..300).map(|row| Some(if row % 2 == 0 { 0 } else { most })).collect();
    for climbs in [false, true] {
        let (values, _) = through_a_file(&column, false, climbs);
        let expected: Vec<i64> = column.iter().flatten().map(|number| number.cast_signed()).collect();
        assert_eq!(values, expected);
    }
}

#[test]
fn a_column_without_any_value_is_read_as_one() {
    for climbs in [false, true] {
        let (values, levels) = through_a_file(&[None; 100], true, climbs);
        assert_eq!((values.len(), levels), (0, vec![0; 100]));
    }
}
