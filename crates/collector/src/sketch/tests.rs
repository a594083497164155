//! Quantiles have the documented accuracy, whatever the latencies.

use inband_model::Nanos;
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{BUCKETS, FADE_AT, MOST, Sketch, bucket_of, middle_of};

#[test]
fn no_sample_gives_no_summary() {
    assert_eq!(Sketch::new().summary(), None);
}

#[test]
fn small_latencies_are_exact() {
    let mut sketch = Sketch::new();
    for value in 1..=10 {
        sketch.record(value);
    }

    let summary = sketch.summary().unwrap();

    assert_eq!((summary.count, summary.last), (10, Nanos(10)));
    assert_eq!(
        (summary.min, summary.p50, summary.p99, summary.max),
        (Nanos(1), Nanos(5), Nanos(10), Nanos(10))
    );
}

#[test]
fn the_distant_past_fades_and_the_count_does_not() {
    let mut sketch = Sketch::new();
    for _ in 0..FADE_AT {
        sketch.record(10);
    }
    // Half of the samples were dropped; a little more than the other half outweighs the rest.
    for _ in 0..=FADE_AT / 2 {
        sketch.record(1_000);
    }

    let summary = sketch.summary().unwrap();

    assert_eq!(summary.count, u64::from(FADE_AT) * 3 / 2 + 1);
    assert_eq!(summary.p50, Nanos(1_000));
}

#[test]
fn buckets_follow_one_another_and_each_contains_its_middle() {
    assert_eq!((bucket_of(0), bucket_of(MOST), bucket_of(u64::MAX)), (0, BUCKETS - 1, BUCKETS - 1));
    for bucket in 0..BUCKETS {
        assert_eq!(bucket_of(middle_of(bucket)), bucket);
    }
    for power in 0..40 {
        let first = 1_u64 << power;
        assert!(bucket_of(first) - bucket_of(first - 1) <= 1, "{first}");
        assert!(first < 32 || bucket_of(first * 2 - 1) - bucket_of(first) == 15, "{first}");
    }
}

proptest! {
    #[test]
    fn quantiles_are_within_a_thirty_second_of_the_truth(
        mut values in prop::collection::vec(prop_oneof![0..64_u64, 0..1_000_000_u64, 0..MOST], 1..300),
    ) {
        let mut sketch = Sketch::new();
        for value in &values {
            sketch.record(*value);
        }
        values.sort_unstable();

        let summary = sketch.summary().unwrap();

        for (found, percent) in [(summary.p50, 50), (summary.p99, 99)] {
            let truth = values[(values.len() * percent).div_ceil(100) - 1];
            prop_assert!(found.0.abs_diff(truth) <= truth / 32, "p{percent}: {found}, not {truth}");
        }
    }

    #[test]
    fn merged_sketches_say_what_one_of_all_samples_says(
        first in prop::collection::vec(0..MOST, 1..100),
        second in prop::collection::vec(0..1_000_000_u64, 0..100),
    ) {
        let of = |values: &[u64]| {
            let mut sketch = Sketch::new();
            values.iter().for_each(|value| sketch.record(*value));
            sketch
        };
        let mut merged = of(&second);

        merged.merge(&of(&first));

        let all = of(&[&first[..], &second[..]].concat());
        prop_assert_eq!(merged.summary().map(|found| (found.count, found.min, found.max, found.p50, found.p99)),
            all.summary().map(|found| (found.count, found.min, found.max, found.p50, found.p99)));
    }

    #[test]
    fn every_latency_has_a_bucket(value in any::<u64>()) {
        let mut sketch = Sketch::new();
        sketch.record(value);
        prop_assert!(sketch.summary().unwrap().p50 == Nanos(value));
    }
}
