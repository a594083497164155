use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::bucket::LAST_BUCKET;
use super::{PackedSketches, Sketch, bucket, middle, parse_pairs};

proptest! {
    #[test]
    fn the_middle_of_its_bucket_is_close_to_every_value(value in any::<u64>(), shift in 0u32..64) {
        let value = value >> shift;
        let middle = middle(bucket(value));
        prop_assert_eq!(bucket(middle), bucket(value));
        prop_assert!(middle.abs_diff(value) as f64 <= value as f64 * 0.016);
    }

    #[test]
    fn quantiles_are_close_to_those_of_all_values(mut values in proptest::collection::vec(0u64..1_000_000, 1..300)) {
        let mut sketches = [Sketch::default(), Sketch::default()];
        for (index, value) in values.iter().enumerate() {
            sketches[index % 2].add(*value);
        }
        let [mut sketch, other] = sketches;
        sketch.merge(&other);
        prop_assert_eq!(Sketch::parse(&sketch.to_text()), Some(sketch.clone()));
        values.sort_unstable();
        for per_mille in [1, 500, 900, 990, 1_000] {
            let exact = values[(values.len() * per_mille).div_ceil(1_000) - 1];
            let told = sketch.quantile(per_mille as u64).unwrap();
            prop_assert!(told.abs_diff(exact) as f64 <= exact as f64 * 0.016, "{told} {exact}");
        }
    }
}

proptest! {
    #[test]
    fn pairs_of_a_text_are_those_of_its_sketch(
        pairs in proptest::collection::vec((0..=LAST_BUCKET, 1u64..1_200), 0..50),
    ) {
        let mut sketch = Sketch::default();
        pairs.iter().for_each(|(bucket, count)| sketch.add_many(*bucket, *count));
        let mut read = Sketch::default();
        parse_pairs(&sketch.to_text(), |bucket, count| read.add_many(bucket, count));
        prop_assert_eq!(read, sketch);
    }

    #[test]
    fn pairs_of_any_text_are_read_up_to_the_first_that_is_none(
        text in "([0-9]{1,4}:[0-9]{1,3} |[0-9:x ]{0,4}){0,8}",
    ) {
        let mut read = Vec::new();
        parse_pairs(&text, |bucket, count| read.push((bucket, count)));
        let told = text.split_inclusive(' ').map(|pair| {
            let (bucket, count) = pair.strip_suffix(' ').unwrap_or(pair).split_once(':')?;
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let (bucket, count) =
                (digits(bucket).then(|| bucket.parse().ok())??, digits(count).then(|| count.parse().ok())??);
            (bucket <= LAST_BUCKET).then_some((bucket, count))
        });
        prop_assert_eq!(read, told.map_while(|pair| pair).collect::<Vec<(u32, u64)>>());
    }
}

#[test]
fn buckets_climb_with_values_up_to_the_largest() {
    assert_eq!(bucket(0), 0);
    assert_eq!((bucket(63), bucket(64), bucket(65), bucket(66)), (63, 64, 64, 65));
    assert_eq!(bucket(u64::MAX), LAST_BUCKET);
}

#[test]
fn pairs_are_read_up_to_the_first_that_is_none() {
    let read = |text: &str| {
        let mut found = Vec::new();
        parse_pairs(text, |bucket, count| found.push((bucket, count)));
        found
    };
    let most = u64::MAX;
    assert_eq!(read(&format!("0:1 63:{most} {LAST_BUCKET}:007")), [(0, 1), (63, most), (LAST_BUCKET, 7)]);
    assert_eq!(read(""), []);
    for wrong in [
        "2",
        "2:",
        "2:x",
        ":1",
        "2:1:1",
        "x:1",
        "2 :1",
        "9999:1",
        "2:18446744073709551616",
        "2:99999999999999999999",
    ] {
        assert_eq!(read(&format!("1:5 {wrong} 3:1")), [(1, 5)], "{wrong}");
        assert_eq!(read(&format!("1:5 {wrong}")), [(1, 5)], "{wrong}");
    }
}

#[test]
fn a_text_that_is_no_sketch_is_refused() {
    for text in ["1", "1:", "a:1", "99999:1", "1:18446744073709551615 2:1"] {
        assert_eq!(Sketch::parse(text), None, "{text}");
    }
    assert_eq!(Sketch::default().quantile(500), None);
}

proptest! {
    #[test]
    fn packed_sketches_have_the_pairs_of_their_texts(
        rows in proptest::collection::vec(
            proptest::collection::btree_map(0..=LAST_BUCKET, 1u64..40_000, 0..30), 0..20),
    ) {
        let text = |row: &std::collections::BTreeMap<u32, u64>| {
            let mut sketch = Sketch::default();
            row.iter().for_each(|(bucket, count)| sketch.add_many(*bucket, *count));
            sketch.to_text()
        };
        let texts: Vec<String> = rows.iter().map(text).collect();
        let bytes = PackedSketches::pack(texts.iter().map(String::as_str)).unwrap();
        let packed = PackedSketches::read(&bytes, rows.len()).unwrap();
        for (number, row) in rows.iter().enumerate() {
            let mut pairs = Vec::new();
            packed.each(number, |bucket, count| pairs.push((bucket, count)));
            prop_assert_eq!(pairs, row.iter().map(|(bucket, count)| (*bucket, *count)).collect::<Vec<_>>());
        }
        packed.each(rows.len(), |_, _| panic!("there is no such row"));
        prop_assert_eq!(PackedSketches::read(&bytes, rows.len() + 1).is_some(), false);
        if let Some(cut) = bytes.len().checked_sub(1) {
            prop_assert_eq!(PackedSketches::read(&bytes[..cut], rows.len()), None);
        }
    }

    #[test]
    fn any_bytes_are_read_as_packed_sketches_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), rows in 0usize..60,
    ) {
        if let Some(packed) = PackedSketches::read(&bytes, rows) {
            (0..rows).for_each(|row| packed.each(row, |bucket, _| assert!(bucket <= LAST_BUCKET)));
        }
    }
}

#[test]
fn texts_that_are_no_sketches_are_not_packed() {
    for wrong in ["5", "5:", ":5", "5:1 3:1", "9999999:1", "a:b"] {
        assert_eq!(PackedSketches::pack(["7:1", wrong].into_iter()), None, "{wrong}");
    }
    assert_eq!(PackedSketches::pack(["", "7:300 9:1"].into_iter()), Some(vec![0, 5, 7, 0xac, 2, 2, 1]));
}
