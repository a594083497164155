//! Reports that take several paths of different delay are neither lost nor signs of a restart.

use inband_model::Nanos;

use super::arrivals::{Arrivals, Found, settings};
use crate::ledger::{Arrival, Sequence, SequenceSpace};

/// A stream of which every other burst takes a path that is slower by `delay_ms`.
fn two_paths(reports: u32, per_second: u64, burst: u32, delay_ms: u64) -> Arrivals {
    let mut arrivals = Arrivals::default();
    for number in 0..reports {
        let delay = if number / burst % 2 == 1 { delay_ms * 1_000 } else { 0 };
        arrivals.add(u64::from(number) * 1_000_000 / per_second + delay, 0, number);
    }
    arrivals
}

fn assert_complete(arrivals: &Arrivals) -> Found {
    let found = arrivals.found();
    let expected =
        Found { accepted: arrivals.truth().reports, reordered: found.reordered, ..Found::default() };
    assert_eq!(found, expected);
    found
}

#[test]
fn bursts_on_two_paths_of_different_delay_are_no_loss() {
    for (per_second, delay_ms) in [(20_000, 300), (100_000, 100), (100_000, 20), (100_000, 300)] {
        let found = assert_complete(&two_paths(60_000, per_second, 32, delay_ms));
        assert_eq!(found.reordered, 937 * 32);
    }
}

#[test]
fn reports_that_take_two_paths_in_turn_are_no_loss() {
    assert_complete(&two_paths(60_000, 100_000, 1, 100));
    assert_complete(&two_paths(60_000, 20_000, 1, 400));
}

#[test]
fn long_bursts_on_two_paths_are_no_loss() {
    for burst in [500, 3_000] {
        assert_complete(&two_paths(60_000, 20_000, burst, 300));
    }
}

#[test]
fn a_collector_that_starts_later_takes_a_slower_path_for_late_and_not_for_a_restart() {
    let mut arrivals = Arrivals::default();
    for number in 0..200_000_u32 {
        let sent_at = u64::from(number) * 20;
        let delay = if number / 32 % 2 == 1 { 300_000 } else { 0 };
        // The first one comes by the faster path; a slower one would begin with a gap of 300 ms.
        if sent_at + delay >= 1_000_000 + delay / 1_000 {
            arrivals.add(sent_at + delay, 0, number);
        }
    }

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets, found.duplicate), (0, 0, 0));
}

#[test]
fn true_losses_on_two_paths_are_exact() {
    let mut arrivals = Arrivals::default();
    for number in 0..60_000_u32 {
        let delay = if number / 32 % 2 == 1 { 300_000 } else { 0 };
        if number % 50 != 7 {
            arrivals.add(u64::from(number) * 50 + delay, 0, number);
        }
    }

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets, found.late), (1_200, 0, 0));
    assert_eq!(found.accepted, arrivals.truth().reports);
}

#[test]
fn copies_on_a_slower_path_are_duplicates_once_the_window_covers_them() {
    let mut arrivals = Arrivals::default();
    for number in 0..60_000_u32 {
        arrivals.add(u64::from(number) * 50, 0, number);
        arrivals.add(u64::from(number) * 50 + 300_000, 0, number);
    }

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets), (0, 0));
    assert!(found.accepted <= 66_000, "{found:?}");
}

#[test]
fn reports_of_one_instant_on_two_paths_are_no_loss() {
    let mut order: Vec<u32> = (0..20_000).filter(|number| number / 32 % 2 == 0).collect();
    order.extend((0..20_000).filter(|number| number / 32 % 2 == 1));
    let mut arrivals = Arrivals::default();
    for number in order {
        arrivals.add(0, 0, number);
    }

    assert_complete(&arrivals);
}

#[test]
fn the_window_grows_to_what_the_rate_explains_and_no_further() {
    let settings = settings();
    let mut now = Nanos::from_secs(1_700_000_000);
    let mut sequence = Sequence::new(SequenceSpace::REPORT_1_0, &settings, now, 0);
    for number in 1..1_000_000 {
        now = now + Nanos::from_micros(1);
        sequence.arrive(&settings, now, number);
    }
    assert_eq!(sequence.window.size(), 4_096);

    // A million a second: 500 ms are more than the largest window.
    assert_eq!(sequence.arrive(&settings, now, 900_000), Arrival::Late);

    assert_eq!(sequence.window.size(), 65_536);

    // Ten a second: a number far behind is no reason to track more.
    let mut slow = Sequence::new(SequenceSpace::REPORT_1_0, &settings, now, 10_000);
    for number in 10_001..10_100 {
        now = now + Nanos::from_millis(100);
        slow.arrive(&settings, now, number);
    }
    assert_eq!(slow.arrive(&settings, now, 4_000), Arrival::Late);
    assert_eq!(slow.window.size(), 4_096);
}
