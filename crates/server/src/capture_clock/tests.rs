use super::{CaptureClock, Nanos};

/// The times of the clock, in milliseconds, at these times of a capture, and the offsets that it announces.
fn replay(times_ms: &[u64]) -> (Vec<u64>, Vec<i64>) {
    let mut clock = CaptureClock::default();
    let mut offsets = Vec::new();
    let shown = times_ms.iter().map(|ms| {
        offsets.extend(clock.take(Nanos::from_millis(*ms)));
        clock.now().0 / 1_000_000
    });
    let shown = shown.collect();
    (shown, offsets.into_iter().map(|ns| ns / 1_000_000).collect())
}

#[test]
fn times_in_order_are_taken_as_they_are_and_late_ones_do_not_go_back() {
    let times = [50_000, 50_010, 50_005, 90_000, 89_100, 90_001];
    assert_eq!(replay(&times), (vec![50_000, 50_010, 50_010, 90_000, 90_000, 90_001], vec![]));
}

#[test]
fn a_clock_that_is_set_back_goes_on_with_another_offset() {
    let times = [50_000, 50_010, 40_000, 40_020, 40_500];
    assert_eq!(replay(&times), (vec![50_000, 50_010, 50_010, 50_030, 50_510], vec![-10_010]));
}

#[test]
fn two_captures_whose_clocks_differ_do_not_make_time_run() {
    let times = [50_000, 40_001, 50_002, 40_003, 50_004];
    let (shown, offsets) = replay(&times);

    assert_eq!(shown, [50_000, 50_000, 50_002, 50_002, 50_004]);
    assert_eq!(offsets.len(), 4);
}

#[test]
fn a_silence_is_no_step() {
    assert_eq!(replay(&[1_000, 3_600_000]), (vec![1_000, 3_600_000], vec![]));
}
