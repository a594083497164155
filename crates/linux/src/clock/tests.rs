//! A clock that was set is distinguished from an inexact comparison.

use super::{Clock, Offset};

#[test]
fn a_comparison_that_was_interrupted_moves_no_clock() {
    let compared = |ns, error_ns| Offset { ns, error_ns };
    assert!(!compared(1_000_050, 30).has_moved_from(1_000_000));
    assert!(compared(1_000_131, 30).has_moved_from(1_000_000));
    assert!(!compared(1_400_000, 450_000).has_moved_from(1_000_000));
    assert!(!compared(600_000, 450_000).has_moved_from(1_000_000));
    assert!(compared(3_000_000, 450_000).has_moved_from(1_000_000));
}

#[test]
fn offsets_are_of_the_clock_they_name() {
    let monotonic = Clock::Monotonic.offset();
    assert_eq!(monotonic, Offset { ns: 0, error_ns: 0 });
    let (one, other) = (Clock::Realtime.offset(), Clock::Realtime.offset());
    // 2020, long before any machine was booted that runs this.
    assert!(one.ns > 1_577_836_800_000_000_000);
    assert!(one.ns.abs_diff(other.ns) <= one.error_ns + other.error_ns + 1_000, "{one:?} {other:?}");
}
