//! Are quantiles as exact as is said, whatever the latencies?

use inband_model::Nanos;
use proptest::prelude::{any, prop, prop_assert, prop_oneof, proptest};

use super::{FADE_AT, Histogram, MOST, bucket};

#[test]
fn no_sample_gives_no_summary() {
    assert_eq!(Histogram::new().summary(), None);
}

#[test]
fn small_latencies_are_exact() {
    let mut histogram = Histogram::new();
    for value in 1..=10 {
        histogram.record(value);
    }

    let summary = histogram.summary().unwrap();

    assert_eq!((summary.count, summary.last), (10, Nanos(10)));
    assert_eq!(
        (summary.min, summary.p50, summary.p99, summary.max),
        (Nanos(1), Nanos(5), Nanos(10), Nanos(10))
    );
}

#[test]
fn buckets_follow_one_another_without_a_gap() {
    for doublings in 0..36 {
        for step in 16..32_u64 {
            let first = step << doublings;
            assert_eq!(bucket(first), bucket(first - 1) + 1, "{first}");
        }
    }
    assert_eq!(bucket(u64::MAX), bucket(MOST));
}

#[test]
fn the_distant_past_fades_and_the_count_does_not() {
    let mut histogram = Histogram::new();
    for _ in 0..FADE_AT {
        histogram.record(10);
    }
    // Half of the samples were given up; a little more than the other half outweighs what is left.
    for _ in 0..=FADE_AT / 2 {
        histogram.record(1_000);
    }

    let summary = histogram.summary().unwrap();

    assert_eq!(summary.count, u64::from(FADE_AT) * 3 / 2 + 1);
    assert_eq!(summary.p50, Nanos(1_000));
}

proptest! {
    #[test]
    fn quantiles_are_within_a_thirty_second_of_the_truth(
        mut values in prop::collection::vec(prop_oneof![0..64_u64, 0..1_000_000_u64, 0..MOST], 1..300),
    ) {
        let mut histogram = Histogram::new();
        for value in &values {
            histogram.record(*value);
        }
        values.sort_unstable();

        let summary = histogram.summary().unwrap();

        for (found, percent) in [(summary.p50, 50), (summary.p99, 99)] {
            let truth = values[(values.len() * percent).div_ceil(100) - 1];
            prop_assert!(found.0.abs_diff(truth) <= truth / 32, "p{percent}: {found}, not {truth}");
        }
    }

    #[test]
    fn every_latency_has_a_bucket(value in any::<u64>()) {
        let mut histogram = Histogram::new();
        histogram.record(value);
        prop_assert!(histogram.summary().unwrap().p50 == Nanos(value));
    }
}
