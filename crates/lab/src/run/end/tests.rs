//! When a run ends.

use std::time::Duration;

use super::End;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn without_duration_and_by_a_run_waits_for_its_commands() {
    let mut end = End::new(None, None, seconds(1));
    for (now, is_idle, is_settled, is_over) in [
        (12, false, true, false),
        (60, false, false, false),
        (61, true, false, false),
        (69, true, false, false),
        (70, true, false, true),
    ] {
        assert_eq!(end.is_reached(seconds(now), is_idle, is_settled), is_over, "{now} s");
    }
    assert!(End::new(None, None, seconds(1)).is_reached(seconds(2), true, true), "nothing is left");
}

#[test]
fn the_last_by_ends_a_run_with_its_commands() {
    let mut end = End::new(None, Some(seconds(6)), seconds(1));
    assert!(!end.is_reached(seconds(5), false, true));
    assert!(end.is_reached(seconds(5), true, true), "nothing is left");
    assert!(end.is_reached(seconds(6), false, false));
    assert!(
        !End::new(None, Some(seconds(6)), seconds(8)).is_reached(seconds(7), false, false),
        "a step is left"
    );
}

#[test]
fn a_duration_is_neither_shorter_nor_longer() {
    let mut end = End::new(Some(seconds(3)), Some(seconds(6)), seconds(1));
    assert!(!end.is_reached(seconds(2), true, true));
    assert!(end.is_reached(seconds(3), false, false));
}
