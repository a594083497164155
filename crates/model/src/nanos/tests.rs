//! Saturating arithmetic of times.

use super::Nanos;

#[test]
fn a_span_back_in_time_is_zero() {
    assert_eq!(Nanos(7).since(Nanos(8)), Nanos::ZERO);
    assert_eq!(Nanos(8).since(Nanos(7)), Nanos(1));
}

#[test]
fn a_sum_stops_at_the_latest_time() {
    assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
    assert_eq!(Nanos::from_millis(2) + Nanos::from_micros(3), Nanos(2_003_000));
}
