//! Restarts among reports that overtake each other, are lost, and arrive twice.

use proptest::prelude::{Just, ProptestConfig, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::arrivals::{Arrivals, Found, Random, settings};
use crate::ledger::SequenceSpace;

const MS: u64 = 1_000;

/// Neighbours are swapped.
fn swapped(numbers: u32) -> impl Iterator<Item = u32> {
    (0..numbers).map(|place| place ^ 1)
}

/// The numbers of two runs, a millisecond apart, with 200 ms between the runs.
fn in_turn(runs: [Vec<u32>; 2]) -> Arrivals {
    let mut arrivals = Arrivals::default();
    let mut at = 0;
    for (run, numbers) in (0..).zip(runs) {
        for number in numbers {
            arrivals.add(at, run, number);
            at += MS;
        }
        at += 200 * MS;
    }
    arrivals
}

/// Two runs of reports a millisecond apart; each is late by up to `jitter_ms`.
fn jittered(runs: [u32; 2], jitter_ms: u64, mut is_lost: impl FnMut(u32, u32) -> bool) -> Arrivals {
    let (mut arrivals, mut random, mut at) = (Arrivals::default(), Random(7), 0);
    for (run, numbers) in (0..).zip(runs) {
        for number in 0..numbers {
            if !is_lost(run, number) {
                arrivals.add(at + random.below(jitter_ms * MS + 1), run, number);
            }
            at += MS;
        }
        at += 200 * MS;
    }
    arrivals
}

#[test]
fn a_restart_soon_after_the_start_is_told_although_neighbours_are_swapped() {
    let found = in_turn([swapped(3_000).collect(), swapped(3_000).collect()]).found();

    assert_eq!((found.resets, found.lost, found.late), (1, 0, 0));
    assert_eq!(found.duplicate, 15);
}

#[test]
fn a_restart_soon_after_the_start_is_told_although_reports_overtake_each_other() {
    for jitter_ms in [1, 3, 20, 100] {
        let found = jittered([3_000, 3_000], jitter_ms, |_, _| false).found();
        assert_eq!((found.resets, found.lost), (1, 0), "{jitter_ms}");
        // Those of the time in which reports of the previous run still arrive are refused as well.
        assert!(found.duplicate <= 15 + jitter_ms, "{jitter_ms}: {found:?}");
    }
}

#[test]
fn a_restart_is_told_although_reports_overtake_each_other() {
    for jitter_ms in [1, 3, 20, 100] {
        let arrivals = jittered([30_000, 6_000], jitter_ms, |_, _| false);
        let found = arrivals.found();
        assert_eq!((found.resets, found.lost, found.duplicate), (1, 0, 0), "{jitter_ms}");
        assert_eq!(found.accepted, 36_000);
        assert!(found.late <= 15 + 2 * jitter_ms, "{jitter_ms}: {found:?}");
    }
    let found = in_turn([swapped(30_000).collect(), swapped(6_000).collect()]).found();
    assert_eq!((found.resets, found.lost, found.duplicate, found.late), (1, 0, 0, 15));
}

#[test]
fn losses_after_a_restart_are_exact_although_neighbours_are_swapped() {
    let mut random = Random(1);
    let arriving = swapped(20_000).filter(|number| *number == 0 || random.below(20) > 0).collect();
    let arrivals = in_turn([swapped(30_000).collect(), arriving]);

    let found = arrivals.found();

    assert!(arrivals.truth().lost > 900);
    assert_eq!((found.lost, found.resets), (arrivals.truth().lost, 1));
}

#[test]
fn reports_of_the_previous_run_after_a_restart_are_late_and_change_nothing() {
    for (first_run, late_ones) in [(30_000, 1), (3_000, 1), (30_000, 20)] {
        let mut arrivals = Arrivals::default();
        for number in 0..first_run {
            let delay = if number >= first_run - late_ones { 300 * MS } else { 0 };
            arrivals.add(u64::from(number) * MS + delay, 0, number);
        }
        let restarted_at = u64::from(first_run) * MS + 200 * MS;
        for number in 0..6_000 {
            arrivals.add(restarted_at + u64::from(number) * MS, 1, number);
        }

        let found = arrivals.found();

        assert_eq!((found.lost, found.resets, found.reordered), (0, 1, 0), "{first_run}");
        assert_eq!(found.late + found.duplicate, 15 + u64::from(late_ones));
    }
}

#[test]
fn gaps_of_the_previous_run_are_filled_after_a_restart() {
    // Every other burst takes 100 ms longer, so 1,000 reports are on their way when the node restarts.
    let mut arrivals = Arrivals::default();
    let mut add = |run, number: u32, sent_at| {
        let delay = if number / 32 % 2 == 1 { 100 * MS } else { 0 };
        arrivals.add(sent_at + delay, run, number);
    };
    for number in 0..40_000 {
        add(0, number, u64::from(number) * 50);
    }
    for number in 0..40_000 {
        add(1, number, 2_000 * MS + 50 + u64::from(number) * 50);
    }

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets, found.duplicate), (0, 1, 0));
    assert_eq!(found.accepted, 80_000);
}

#[test]
fn losses_that_are_open_at_a_restart_stay_lost() {
    let arriving = (0..30_000).filter(|number| number % 1_000 != 998).collect();
    let found = in_turn([arriving, (0..6_000).collect()]).found();

    assert_eq!((found.lost, found.resets), (30, 1));
}

#[test]
fn copies_of_the_reports_that_show_a_restart_are_duplicates() {
    for delay in [1, 50 * MS + 1] {
        for first_run in [30_000, 3_000] {
            let mut arrivals = Arrivals::default();
            let mut at = 0;
            for (run, numbers) in [(0, first_run), (1, 6_000)] {
                for number in 0..numbers {
                    arrivals.add(at, run, number);
                    arrivals.add(at + delay, run, number);
                    at += MS;
                }
                at += 200 * MS;
            }

            let found = arrivals.found();

            assert_eq!((found.lost, found.resets), (0, 1), "{delay} {first_run}");
            let refused = if first_run == 3_000 && delay == 1 { 15 } else { 0 };
            assert_eq!(found.accepted, u64::from(first_run) + 6_000 - refused, "{delay} {first_run}");
        }
    }
}

#[test]
fn late_copies_of_reports_from_before_a_restart_are_no_part_of_the_run_after_it() {
    for (first_run, jitter_ms) in
        [375, 900, 3_000].into_iter().flat_map(|run| [20, 150, 240].map(|ms| (run, ms)))
    {
        let (mut arrivals, mut random, mut at) = (Arrivals::default(), Random(3), 0);
        for (run, numbers) in [(0, first_run), (1, 1_000)] {
            for number in 0..numbers {
                let arrives_at = at + random.below(jitter_ms * MS);
                arrivals.add(arrives_at, run, number);
                if random.below(10) < 3 {
                    arrivals.add(arrives_at + random.below(jitter_ms * MS), run, number);
                }
                at += 15 * MS;
            }
        }

        let found = arrivals.found();

        assert_eq!(found.resets, 1, "{first_run} {jitter_ms}: {found:?}");
        // A number of which only a copy arrives after the restart is known may still count as lost.
        assert!(found.lost <= 2, "{first_run} {jitter_ms}: {found:?}");
        let distinct = u64::from(first_run) + 1_000;
        assert!((distinct - 60..=distinct).contains(&found.accepted), "{first_run} {jitter_ms}: {found:?}");
    }
}

#[test]
fn a_node_that_restarts_again_and_again_loses_nothing() {
    let mut arrivals = Arrivals::default();
    let mut at = 0;
    for (run, numbers) in (0..).zip([30_000, 5, 2_000, 40, 2_000, 2_000]) {
        for number in 0..numbers {
            arrivals.add(at + u64::from(number % 3) * 2 * MS, run, number);
            at += MS;
        }
        at += 1_500 * MS;
    }

    let found = arrivals.found();

    assert_eq!(found.lost, 0, "{found:?}");
    assert!((3..=5).contains(&found.resets), "{found:?}");
    assert!(found.duplicate <= 3 * 20 + 5, "{found:?}");
}

#[test]
fn a_restart_to_any_number_loses_nothing() {
    for first in [20_000_u32, 1_000_000, 2_900_000, 3_100_000, 4_194_000] {
        let mut arrivals = Arrivals::default();
        for number in 0..30_000 {
            arrivals.add(u64::from(number) * MS, 0, 3_000_000 - 30_000 + number);
        }
        for number in 0..6_000 {
            arrivals.add((30_200 + u64::from(number ^ 1)) * MS, 1, (first + number) % (1 << 22));
        }

        let found = arrivals.found();

        assert_eq!((found.lost, found.resets, found.duplicate), (0, 1, 0), "{first}");
        assert!(found.late <= 15, "{first}: {found:?}");
    }
}

#[test]
fn a_restart_to_a_number_shortly_behind_is_told_when_the_previous_ones_have_ended() {
    let mut arrivals = Arrivals::default();
    for number in 0..30_000 {
        arrivals.add(u64::from(number) * MS, 0, 3_000_000 + number);
    }
    for number in 0..6_000 {
        arrivals.add((30_200 + u64::from(number ^ 1)) * MS, 1, 2_990_000 + number);
    }

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets, found.duplicate), (0, 1, 0));
    assert!((290..=315).contains(&found.late), "{found:?}");
}

#[test]
fn numbers_that_wrap_among_reordering_are_no_restart_and_no_loss() {
    for (space, bits) in [(SequenceSpace::REPORT_2_0, 22), (SequenceSpace::REPORT_1_0, 32)] {
        let (mut arrivals, mut random) = (Arrivals::default(), Random(3));
        let mask = u32::MAX >> (32 - bits);
        for number in 0..40_000_u32 {
            let jitter = random.below(200 * MS);
            arrivals.add(u64::from(number) * 50 + jitter, 0, number.wrapping_sub(20_000) & mask);
        }

        let found = arrivals.found_by(&settings(), space);

        // Numbers from before the first one that arrives are in no gap.
        let expected = Found { accepted: 40_000, reordered: found.reordered, ..Found::default() };
        assert_eq!(found, expected);
    }
}

#[test]
fn a_loss_of_thousands_after_a_restart_is_counted() {
    let after = (0..500).chain(9_500..15_000).collect();
    let found = in_turn([(0..30_000).collect(), after]).found();

    assert_eq!((found.lost, found.resets), (9_000, 1));
}

#[test]
fn a_numbering_that_one_forged_report_hid_goes_on_after_16_reports() {
    let mut arrivals = Arrivals::default();
    for number in 0..30_000 {
        arrivals.add(u64::from(number) * MS, 0, number);
    }
    arrivals.add(20_000 * MS + 1, 1, 1_500_000);

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets, found.duplicate), (0, 2, 0));
    assert_eq!(found.late, 15);
}

#[test]
fn a_stream_of_a_report_every_ten_seconds_restarts_without_loss() {
    let mut arrivals = Arrivals::default();
    for step in 0..50_u32 {
        let (run, number) = if step < 25 { (0, 7_000 + step) } else { (1, step - 25) };
        arrivals.add(u64::from(step) * 10_000 * MS, run, number);
        arrivals.add(u64::from(step) * 10_000 * MS + 50 * MS, run, number);
    }

    let found = arrivals.found();

    assert_eq!((found.lost, found.resets, found.duplicate, found.accepted), (0, 1, 50, 50));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_restart_costs_no_false_loss_and_few_reports(
        seed in 1_u64..1_000_000,
        per_second in prop_oneof![Just(200_u64), Just(1_000), Just(5_000), Just(20_000)],
        jitter_ms in prop_oneof![Just(0_u64), Just(3), Just(20), Just(100)],
        pause_ms in 0_u64..2_000,
        lost_percent in 0_u64..6,
        copy_percent in 0_u64..30,
        first_seconds in 8_u64..15,
    ) {
        let (mut arrivals, mut random, mut at) = (Arrivals::default(), Random(seed), 0);
        for (run, seconds) in [(0, first_seconds), (1, 4)] {
            let reports = u32::try_from(seconds * per_second).unwrap();
            for number in 0..reports {
                at += 1_000_000 / per_second;
                // The lowest numbers that arrive in a run are those that a loss is counted from.
                let is_lost = number >= 64 && number + 64 < reports && random.below(100) < lost_percent;
                if is_lost {
                    continue;
                }
                arrivals.add(at + random.below(jitter_ms * MS + 1), run, number);
                if random.below(100) < copy_percent {
                    arrivals.add(at + random.below(jitter_ms * MS + 1), run, number);
                }
            }
            at += pause_ms * MS;
        }
        let (truth, found) = (arrivals.truth(), arrivals.found());

        // Reports that are on their way at the restart may be refused, or accepted twice.
        let on_their_way = 2 * (per_second * jitter_ms / 1_000 + 32);
        prop_assert_eq!(found.resets, 1);
        prop_assert!(found.lost <= truth.lost, "{:?} {:?}", found, truth);
        prop_assert!(found.lost + on_their_way / 10 >= truth.lost, "{:?} {:?}", found, truth);
        prop_assert!(found.accepted.abs_diff(truth.reports) <= on_their_way, "{:?} {:?}", found, truth);
        prop_assert!(found.late <= on_their_way, "{:?}", found);
    }
}
