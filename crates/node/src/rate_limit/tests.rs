//! A second's worth at once, and then as fast as time passes.

use super::RateLimit;

const SECOND: u64 = 1_000_000_000;

#[test]
fn nothing_is_limited_by_zero() {
    assert!(RateLimit::new(0).is_none());
}

#[test]
fn a_second_allows_its_number_and_time_earns_the_rest() {
    for per_second in [1, 4, 1000] {
        let mut limit = RateLimit::new(per_second).unwrap();
        let at_once = (0..2 * per_second).filter(|_| limit.takes(5)).count();
        assert_eq!(at_once, usize::try_from(per_second).unwrap());
        assert!(!limit.takes(5 + SECOND / u64::from(per_second) - 1));
        assert!(limit.takes(5 + SECOND / u64::from(per_second)));
    }
}

#[test]
fn silence_earns_no_more_than_a_second() {
    let mut limit = RateLimit::new(10).unwrap();
    assert!(limit.takes(0));
    assert_eq!((0..30).filter(|_| limit.takes(3600 * SECOND)).count(), 10);
}

#[test]
fn a_clock_that_is_set_back_earns_nothing() {
    let mut limit = RateLimit::new(1).unwrap();
    assert!(limit.takes(10 * SECOND));
    assert!(!limit.takes(SECOND));
    assert!(limit.takes(2 * SECOND));
}
