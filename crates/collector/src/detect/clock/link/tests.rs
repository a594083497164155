//! Drift is distinguished from jitter, and a negative latency from a clock of another epoch.

use inband_model::Nanos;

use super::{Disagreement, LinkClock};
use crate::detect::clock::ClockSettings;

#[test]
fn two_microseconds_a_second_are_a_drift_and_half_of_one_is_none() {
    assert_eq!(drifts(2_000), [Disagreement::Drift { ns_per_second: 2_000 }; 4]);
    assert_eq!(drifts(-2_000), [Disagreement::Drift { ns_per_second: -2_000 }; 4]);
    assert_eq!(drifts(500), []);
}

#[test]
fn jitter_and_a_single_step_are_no_drift() {
    let jitter = |second: u64| 50_000 + second.wrapping_mul(0x9e37_79b9) % 5_000;
    let step = |second: u64| if second < 7 { 50_000 } else { 90_000 };

    assert_eq!(run(jitter), []);
    assert_eq!(run(step), []);
}

#[test]
fn a_packet_that_comes_before_it_is_sent_is_told_once_a_second() {
    let mut clock = LinkClock::new();
    let mut record = |now, sent, came| {
        clock.record(&ClockSettings::default(), Nanos(now), sent, came).map(|(found, _)| found)
    };

    assert_eq!(record(0, 1_000, 1_000), None);
    assert_eq!(record(1, 1_000, 999), Some(Disagreement::Negative { lowest_ns: -1 }));
    assert_eq!(record(2, 1_000, 900), None);
    assert_eq!(record(1_000_000_001, 1_000, 999), Some(Disagreement::Negative { lowest_ns: -100 }));
    assert_eq!(clock.summary().unwrap().count, 1);
}

#[test]
fn clocks_of_different_epochs_say_nothing() {
    let mut clock = LinkClock::new();

    assert_eq!(clock.record(&ClockSettings::default(), Nanos(0), 1_700_000_000_000_000_000, 5_000), None);

    assert_eq!(clock.summary(), None);
}

/// Fifteen seconds of a clock that gains this much in each.
fn drifts(ns_per_second: i64) -> Vec<Disagreement> {
    run(|second| 500_000_u64.saturating_add_signed(ns_per_second * second.cast_signed()))
}

/// Fifteen seconds with ten packets in each, which may be queued for up to nine microseconds.
fn run(latency: impl Fn(u64) -> u64) -> Vec<Disagreement> {
    let mut clock = LinkClock::new();
    let settings = ClockSettings::default();
    (0..150)
        .filter_map(|step| {
            let now = step * 100_000_000;
            let latency = latency(step / 10) + step % 10 * 1_000;
            clock.record(&settings, Nanos(now), now, now + latency).map(|(found, _)| found)
        })
        .collect()
}
