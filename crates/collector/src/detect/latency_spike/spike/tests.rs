//! Spikes are distinguished from usual latencies.

use inband_model::Nanos;

use super::{Spike, SpikeDetector, Turn};
use crate::detect::latency_spike::SpikeSettings;

#[test]
fn three_of_five_latencies_that_stand_out_are_a_spike() {
    let mut detector = calm();

    assert_eq!(record(&mut detector, &[15_000, 1_000, 15_000, 1_000]), []);
    let spikes = record(&mut detector, &[16_000, 15_000, 15_000]);

    assert_eq!(
        spikes,
        [Spike {
            latency: Nanos(16_000),
            median: Nanos(1_000),
            median_deviation: Nanos(100),
            count: 3,
            episodes: 1
        }]
    );
}

#[test]
fn two_of_five_are_none() {
    let mut detector = calm();

    assert_eq!(record(&mut detector, &[15_000, 1_000, 1_000, 15_000, 1_000, 1_000, 15_000]), []);
}

#[test]
fn ten_microseconds_above_the_median_stand_out_and_less_does_not() {
    assert_eq!(record(&mut calm(), &[10_999; 5]), []);
    assert_eq!(record(&mut calm(), &[11_000; 5]).len(), 1);
}

#[test]
fn where_latencies_scatter_more_must_be_exceeded() {
    // The median is 100,000 and the median deviation 10,000: six deviations are 88,956.
    let scattered = |latency| {
        let mut detector = SpikeDetector::new(SpikeSettings::default().least_ns);
        record(&mut detector, &[90_000, 100_000, 110_000, 100_000].repeat(128));
        record(&mut detector, &[88_000, 112_000].repeat(192));
        record(&mut detector, &[latency; 3]).len()
    };

    assert_eq!(scattered(195_000), 0);
    assert_eq!(scattered(300_000), 1);
}

#[test]
fn a_spike_is_told_once_until_it_is_over() {
    let mut detector = calm();

    assert_eq!(record(&mut detector, &[20_000; 30]).len(), 1);
    record(&mut detector, &[1_000; 5]);

    assert_eq!(record(&mut detector, &[20_000; 30]).len(), 1);
}

#[test]
fn the_end_of_a_spike_tells_its_peak_and_its_samples() {
    let mut detector = calm();
    record(&mut detector, &[20_000, 25_000, 20_000, 20_000]);
    let turns: Vec<Turn> = (0..5).filter_map(|_| detector.record(Nanos(1_000))).collect();

    let spike = Spike {
        latency: Nanos(25_000),
        median: Nanos(1_000),
        median_deviation: Nanos(100),
        count: 4,
        episodes: 1,
    };
    assert_eq!(turns, [Turn::Ends(spike)]);
}

#[test]
fn a_latency_that_stays_high_becomes_usual() {
    let mut detector = calm();

    record(&mut detector, &[20_000; 600]);
    record(&mut detector, &[1_000; 5]);

    assert_eq!(record(&mut detector, &[20_000; 30]), []);
}

#[test]
fn too_few_samples_say_nothing() {
    let mut detector = SpikeDetector::new(SpikeSettings::default().least_ns);
    record(&mut detector, &[1_000; 61]);

    assert_eq!(record(&mut detector, &[90_000; 3]), []);
}

#[test]
fn a_latency_beyond_all_measure_does_no_harm() {
    let mut detector = calm();

    assert_eq!(record(&mut detector, &[u64::MAX; 3])[0].latency, Nanos(u64::from(u32::MAX)));
}

/// A port whose latency is about a microsecond.
fn calm() -> SpikeDetector {
    let mut detector = SpikeDetector::new(SpikeSettings::default().least_ns);
    record(&mut detector, &[900, 1_000, 1_100, 1_000].repeat(32));
    record(&mut detector, &[900, 1_100].repeat(16));
    detector
}

fn record(detector: &mut SpikeDetector, latencies: &[u64]) -> Vec<Spike> {
    let turns = latencies.iter().filter_map(|latency| detector.record(Nanos(*latency)));
    let begins = |turn| match turn {
        Turn::Begins(spike) => Some(spike),
        Turn::GoesOn(_) | Turn::Ends(_) => None,
    };
    turns.filter_map(begins).collect()
}
