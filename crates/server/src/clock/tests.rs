use std::time::{Duration, Instant};

use inband_model::Nanos;

use super::Clock;

const SECOND: Nanos = Nanos::from_secs(1);

#[test]
fn runs_with_the_time_of_day_that_nobody_sets() {
    let mut clock = clock();

    assert_eq!(clock.advance(Duration::from_secs(1), Nanos::from_secs(1_001)), Nanos::from_secs(1_001));
    assert_eq!(clock.advance(Duration::from_secs(5), Nanos::from_secs(1_005)), Nanos::from_secs(1_005));
}

#[test]
fn an_hour_forward_makes_a_second_longer_by_a_tenth() {
    let mut clock = clock();

    let shown = clock.advance(Duration::from_secs(1), Nanos::from_secs(1_001 + 3_600));

    assert_eq!(shown, Nanos::from_secs(1_001) + Nanos(SECOND.0 / 10));
}

#[test]
fn an_hour_back_makes_a_second_shorter_by_a_tenth() {
    let mut clock = clock();

    let shown = clock.advance(Duration::from_secs(1), Nanos::from_secs(1_001 - 900));

    assert_eq!(shown, Nanos(Nanos::from_secs(1_001).0 - SECOND.0 / 10));
}

#[test]
fn comes_to_the_time_of_day_in_ten_times_the_step() {
    let mut clock = clock();
    for second in 1..=11 {
        clock.advance(Duration::from_secs(second), Nanos::from_secs(1_001 + second));
    }

    assert_eq!(clock.shown, Nanos::from_secs(1_012));
}

#[test]
fn a_monotonic_clock_read_late_stops_it_and_does_not_turn_it() {
    let mut clock = clock();
    let shown = clock.advance(Duration::from_secs(5), Nanos::from_secs(1_005));

    assert_eq!(clock.advance(Duration::from_secs(4), Nanos::from_secs(1_004)), shown);
    assert_eq!(clock.advance(Duration::from_secs(6), Nanos::from_secs(1_006)), Nanos::from_secs(1_006));
}

fn clock() -> Clock {
    Clock { started: Instant::now(), shown: Nanos::from_secs(1_000), shown_at: Duration::ZERO }
}
