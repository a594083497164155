//! Loss, duplicates, reordering, restarts and unknown losses are distinguished.

mod arrivals;
mod delays;
mod model;
mod restarts;

use inband_model::Nanos;

use super::{Arrival, Sequence};
use crate::ledger::{LedgerSettings, SequenceSpace};

#[test]
fn numbers_in_order_lose_nothing() {
    let mut stream = Stream::start(7);

    for number in 8..1_000 {
        assert_eq!(stream.arrive(number), Arrival::InOrder);
    }

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn the_space_wraps_without_a_loss() {
    let last = (1 << 22) - 1;
    let mut stream = Stream::start(last - 1);

    assert_eq!(stream.arrive(last), Arrival::InOrder);
    assert_eq!(stream.arrive(0), Arrival::InOrder);

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_gap_across_the_wrap_has_its_true_size() {
    let last = (1 << 22) - 1;
    let mut stream = Stream::start(last - 2);

    assert_eq!(stream.arrive(2), Arrival::Gap(4));

    assert_eq!(stream.losses_at_the_end(), (4, 0));
}

#[test]
fn numbers_beyond_the_space_count_modulo_its_size() {
    let mut stream = Stream::start(5);

    assert_eq!(stream.arrive((1 << 22) + 6), Arrival::InOrder);
}

#[test]
fn version_1_0_numbers_use_all_32_bits() {
    let mut stream = Stream::with_space(SequenceSpace::REPORT_1_0, u32::MAX);

    assert_eq!(stream.arrive(0), Arrival::InOrder);
    assert_eq!(stream.arrive(1 << 23), Arrival::Reset(1));
}

#[test]
fn a_gap_is_not_lost_before_its_time_and_lost_at_it() {
    let mut stream = Stream::start(0);
    stream.arrive(3);

    stream.wait(Nanos(199_999_999));
    assert_eq!(stream.sequence.lost(), 0);

    stream.wait(Nanos(1));
    assert_eq!(stream.sequence.lost(), 2);
}

#[test]
fn a_gap_says_when_it_will_be_confirmed() {
    let mut stream = Stream::start(0);
    assert_eq!(stream.sequence.next_confirmation(&stream.settings), None);

    stream.arrive(2);

    let due = stream.now + Nanos::from_millis(200);
    assert_eq!(stream.sequence.next_confirmation(&stream.settings), Some(due));
}

#[test]
fn reordering_fills_the_gap_and_is_no_loss() {
    let mut stream = Stream::start(0);
    stream.arrive(4);

    assert_eq!(stream.arrive(2), Arrival::Reordered);
    assert_eq!(stream.arrive(1), Arrival::Reordered);
    assert_eq!(stream.arrive(3), Arrival::Reordered);
    assert_eq!(stream.arrive(5), Arrival::InOrder);

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_step_back_is_not_a_loss_of_its_absolute_size() {
    let mut stream = Stream::start(100);
    stream.arrive(102);

    assert_eq!(stream.arrive(101), Arrival::Reordered);

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn the_same_number_again_is_a_duplicate_also_when_it_filled_a_gap() {
    let mut stream = Stream::start(0);
    stream.arrive(2);
    stream.arrive(1);

    assert_eq!(stream.arrive(1), Arrival::Duplicate);
    assert_eq!(stream.arrive(2), Arrival::Duplicate);
    assert_eq!(stream.arrive(0), Arrival::Duplicate);
}

#[test]
fn a_report_that_arrives_after_it_was_given_up_is_taken_off_the_losses() {
    let mut stream = Stream::start(0);
    stream.arrive(3);
    stream.wait(Nanos::from_millis(250));
    assert_eq!(stream.sequence.lost(), 2);

    assert_eq!(stream.arrive(1), Arrival::Reordered);
    assert_eq!(stream.arrive(1), Arrival::Duplicate);

    assert_eq!(stream.losses_at_the_end(), (1, 0));
}

#[test]
fn the_reorder_window_ends_where_it_is_said_to_end() {
    // The window holds the 64 numbers behind the expected one, which is 167.
    let settings = LedgerSettings { reorder_window: 64, ..LedgerSettings::default() };
    let mut stream = Stream::with(settings, SequenceSpace::REPORT_2_0, 0);
    for number in (1..102).chain(104..167) {
        stream.arrive(number);
    }
    stream.wait(Nanos::from_millis(250));

    assert_eq!(stream.arrive(103), Arrival::Reordered);
    assert_eq!(stream.arrive(102), Arrival::Late);

    assert_eq!(stream.losses_at_the_end(), (1, 0));
}

#[test]
fn a_number_behind_the_reorder_window_fills_a_gap_that_is_open() {
    let settings = LedgerSettings { reorder_window: 64, ..LedgerSettings::default() };
    let mut stream = Stream::with(settings, SequenceSpace::REPORT_2_0, 0);
    for number in (1..102).chain(104..167) {
        stream.arrive(number);
    }

    assert_eq!(stream.arrive(102), Arrival::Reordered);

    assert_eq!(stream.losses_at_the_end(), (1, 0));
}

#[test]
fn a_number_from_before_the_first_one_is_no_loss_taken_back() {
    let mut stream = Stream::start(100);
    stream.arrive(103);
    stream.wait(Nanos::from_millis(250));

    assert_eq!(stream.arrive(99), Arrival::Reordered);
    assert_eq!(stream.arrive(99), Arrival::Duplicate);

    assert_eq!(stream.losses_at_the_end(), (2, 0));
}

#[test]
fn a_gap_wider_than_the_window_is_lost_whole() {
    let mut stream = Stream::start(0);

    assert_eq!(stream.arrive(10_001), Arrival::Gap(10_000));
    assert_eq!(stream.arrive(10_000), Arrival::Reordered);

    assert_eq!(stream.losses_at_the_end(), (9_999, 0));
}

#[test]
fn a_step_is_forward_below_half_the_space_and_back_from_there_on() {
    // A rate of 100 a second explains steps of 800 forward, more than half of this space.
    let space = SequenceSpace::new(8);
    let mut below = Stream::with_rate(space, 100);
    let mut at = Stream::with_rate(space, 100);

    assert_eq!(below.arrive(below.next + 127), Arrival::Gap(127));
    assert_eq!(at.arrive(at.next + 128), Arrival::Late);
}

#[test]
fn a_small_number_after_long_silence_is_a_restart_without_loss() {
    let mut stream = Stream::start(50_000);
    stream.wait(Nanos(5_000_000_001));

    assert_eq!(stream.arrive_now(1023), Arrival::Reset(50_001));
    assert_eq!(stream.arrive(1024), Arrival::InOrder);

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_small_number_after_long_silence_is_a_restart_also_where_it_is_ahead() {
    let size = 1 << 22;
    let restart = |before_the_wrap: u32, silence: Nanos, number: u32| {
        let mut stream = Stream::start(size - before_the_wrap - 1);
        stream.wait(silence);
        (stream.arrive_now(number), stream.losses_at_the_end())
    };
    let long = Nanos(5_000_000_001);

    assert_eq!(restart(40_000, long, 0), (Arrival::Reset(size - 40_000), (0, 0)));
    assert_eq!(restart(40_000, long, 1_023), (Arrival::Reset(size - 40_000), (0, 0)));
    // A loss while the numbers wrap is no larger than the reorder window.
    assert_eq!(restart(4_000, long, 96), (Arrival::Gap(4_096), (4_096, 0)));
    assert_eq!(restart(4_000, long, 97), (Arrival::Reset(size - 4_000), (0, 0)));
    // Neither small nor silent: lost.
    assert_eq!(restart(40_000, long, 1_024), (Arrival::Gap(41_024), (41_024, 0)));
    assert_eq!(restart(40_000, Nanos::from_secs(5), 0), (Arrival::Gap(40_000), (40_000, 0)));
}

#[test]
fn a_loss_among_small_numbers_is_no_restart_after_long_silence() {
    let mut stream = Stream::start(99);
    stream.wait(Nanos::from_secs(6));

    assert_eq!(stream.arrive_now(1_000), Arrival::Gap(900));
}

#[test]
fn a_small_number_after_a_short_silence_is_late() {
    let mut stream = Stream::start(50_000);
    stream.wait(Nanos::from_secs(5));

    assert_eq!(stream.arrive_now(1023), Arrival::Late);
}

#[test]
fn a_number_that_is_not_small_is_late_after_long_silence() {
    let mut stream = Stream::start(50_000);
    stream.wait(Nanos::from_secs(6));

    assert_eq!(stream.arrive_now(1024), Arrival::Late);
}

#[test]
fn the_number_in_order_is_no_restart_however_small_and_late_it_is() {
    let mut stream = Stream::start(9);
    stream.wait(Nanos::from_secs(60));

    assert_eq!(stream.arrive_now(10), Arrival::InOrder);
}

#[test]
fn a_step_the_rate_explains_is_a_loss_and_one_beyond_is_a_restart() {
    // 100 a second for one second and one more, eight times over, plus the fixed step.
    let explained = 65_536 + 8 * 200;
    let mut loses = Stream::with_rate(SequenceSpace::REPORT_2_0, 100);
    let mut restarts = Stream::with_rate(SequenceSpace::REPORT_2_0, 100);
    loses.wait(Nanos::from_secs(1));
    restarts.wait(Nanos::from_secs(1));

    assert_eq!(loses.arrive_now(loses.next + explained), Arrival::Gap(explained));
    assert_eq!(restarts.arrive_now(restarts.next + explained + 1), Arrival::Reset(restarts.next));

    assert_eq!(loses.losses_at_the_end(), (u64::from(explained), 0));
    assert_eq!(restarts.losses_at_the_end(), (0, 0));
}

#[test]
fn gaps_open_at_a_restart_stay_lost() {
    let mut stream = Stream::start(50_000);
    stream.arrive(50_003);
    stream.wait(Nanos::from_secs(6));

    assert_eq!(stream.arrive_now(0), Arrival::Reset(50_004));

    assert_eq!(stream.losses_at_the_end(), (2, 0));
}

#[test]
fn an_unbroken_run_of_late_numbers_is_a_restart() {
    let mut stream = Stream::start(100_000);

    for number in 0..15 {
        assert_eq!(stream.arrive(number), Arrival::Late);
    }
    assert_eq!(stream.arrive(15), Arrival::Reset(100_001));
    assert_eq!(stream.arrive(16), Arrival::InOrder);

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_node_that_restarts_soon_after_it_began_is_told_by_a_run_of_its_numbers() {
    let mut stream = Stream::start(0);
    for number in 1..3_000 {
        stream.arrive(number);
    }
    stream.wait(Nanos::from_millis(200));

    for number in 0..15 {
        assert_eq!(stream.arrive(number), Arrival::Duplicate);
    }
    assert_eq!(stream.arrive(15), Arrival::Reset(3_000));
    for number in 16..4_000 {
        assert_eq!(stream.arrive(number), Arrival::InOrder);
    }
    // Again: the numbers before the 16th are of the previous run, so they are unknown.
    stream.wait(Nanos::from_millis(200));
    for number in 0..15 {
        assert_eq!(stream.arrive(number), Arrival::Reordered);
    }
    assert_eq!(stream.arrive(15), Arrival::Reset(4_000));

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_restart_is_told_also_where_the_first_numbers_are_unknown() {
    // The collector is younger than the node: it knows the numbers from 2,000 on.
    let mut stream = Stream::start(2_000);
    for number in 2_001..3_000 {
        assert_eq!(stream.arrive(number), Arrival::InOrder);
    }
    stream.wait(Nanos::from_secs(2));

    for number in 1..16 {
        assert_eq!(stream.arrive(number), Arrival::Reordered);
    }
    assert_eq!(stream.arrive(16), Arrival::Reset(3_000));
    for number in 17..5_000 {
        assert_eq!(stream.arrive(number), Arrival::InOrder);
    }
    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn the_first_reports_of_a_stream_in_another_order_are_no_restart() {
    let mut stream = Stream::start(40);

    for number in 0..40 {
        assert_eq!(stream.arrive(number), Arrival::Reordered);
    }
    assert_eq!(stream.arrive(41), Arrival::InOrder);
}

#[test]
fn a_restart_within_200_ms_costs_no_more_duplicates_than_one_later() {
    // 20,000 reports a second; the numbers below 1024 are 250 ms old when the node restarts.
    let mut stream = Stream::start(0);
    for number in 1..4_000 {
        stream.wait(Nanos::from_micros(50));
        stream.arrive_now(number);
        if number == 1_024 {
            stream.wait(Nanos::from_millis(150));
        }
    }

    stream.wait(Nanos::from_micros(50));
    let repeated = (0..4_000).take_while(|number| stream.arrive(*number) == Arrival::Duplicate).count();

    assert_eq!(repeated, 15);
    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_node_that_restarts_in_its_first_200_ms_is_told_when_they_are_over() {
    // Until then its numbers may be copies of the first ones.
    let mut stream = Stream::start(0);
    for number in 1..4_000 {
        stream.wait(Nanos::from_micros(10));
        stream.arrive_now(number);
    }

    let mut repeated = 0;
    for number in 0..4_000 {
        // One of a hundred is lost.
        stream.wait(Nanos::from_micros(60));
        if number % 100 == 99 {
            continue;
        }
        if stream.arrive_now(number) != Arrival::Duplicate {
            break;
        }
        repeated += 1;
    }

    // 200 ms of 60 us each.
    assert!((3_290..3_310).contains(&repeated), "{repeated}");
}

#[test]
fn steps_share_what_a_loss_explains() {
    let mut stream = Stream::with_rate(SequenceSpace::REPORT_1_0, 100);
    let mut lost = 0;
    let mut resets = 0;
    for _ in 0..1_000 {
        stream.next = stream.next.wrapping_add(50_000);
        match stream.arrive(stream.next) {
            Arrival::Gap(missing) => lost += missing,
            Arrival::Reset(_) => resets += 1,
            other => panic!("{other:?}"),
        }
    }

    assert_eq!((lost, resets), (50_000, 999));
}

#[test]
fn a_loss_of_nearly_all_reports_for_a_minute_is_exact() {
    // 10,000 a second, of which one in fifty arrives, and sometimes none for a tenth of a second.
    let mut stream = Stream::with_rate(SequenceSpace::REPORT_2_0, 10_000);
    let (mut lost, mut number) = (0, stream.next);
    for step in 1..12_000 {
        let (skipped, pause) = if step % 500 == 0 { (999, 100) } else { (49, 5) };
        stream.wait(Nanos::from_millis(pause));
        number += skipped;
        assert_eq!(stream.arrive_now(number % (1 << 22)), Arrival::Gap(skipped));
        (lost, number) = (lost + u64::from(skipped), number + 1);
    }

    assert_eq!(stream.losses_at_the_end(), (lost, 0));
}

#[test]
fn copies_that_come_soon_or_with_others_between_them_or_late_in_a_run_are_no_restart() {
    // Soon: less than the time in which a gap may still be filled.
    let mut stream = Stream::start(0);
    for number in 1..64 {
        stream.arrive(number);
    }
    stream.wait(Nanos::from_millis(100));
    for number in 0..64 {
        assert_eq!(stream.arrive(number), Arrival::Duplicate);
    }
    // With a new one between them.
    stream.wait(Nanos::from_millis(300));
    for number in 0..64 {
        assert_eq!(stream.arrive(number), Arrival::Duplicate);
        if number % 15 == 0 {
            assert_eq!(stream.arrive(64 + number / 15), Arrival::InOrder);
        }
    }
    // From a number on that is not small.
    let mut stream = Stream::start(1_024);
    for number in 1_025..2_000 {
        stream.arrive(number);
    }
    stream.wait(Nanos::from_millis(300));
    for number in 1_024..2_000 {
        assert_eq!(stream.arrive(number), Arrival::Duplicate);
    }
}

#[test]
fn a_run_of_late_numbers_with_another_between_them_is_no_restart() {
    let mut stream = Stream::start(100_000);

    for number in 0..15 {
        stream.arrive(number);
    }
    assert_eq!(stream.arrive(100_001), Arrival::InOrder);
    assert_eq!(stream.arrive(15), Arrival::Late);
}

#[test]
fn a_silence_in_which_the_space_may_wrap_makes_the_loss_unknown_even_when_the_number_fits() {
    // At 64 a second, 256 numbers last four seconds.
    let space = SequenceSpace::new(8);
    let mut stream = Stream::with_rate(space, 64);
    stream.wait(Nanos::from_secs(4));

    assert_eq!(stream.arrive_now(stream.next), Arrival::LossUnknown);

    assert_eq!(stream.losses_at_the_end(), (0, 1));
}

#[test]
fn a_shorter_silence_leaves_the_loss_known() {
    let mut stream = Stream::with_rate(SequenceSpace::new(8), 64);
    stream.wait(Nanos(3_999_999_999));

    assert_eq!(stream.arrive_now(stream.next), Arrival::InOrder);

    assert_eq!(stream.losses_at_the_end(), (0, 0));
}

#[test]
fn a_loss_of_more_than_half_the_space_is_unknown_and_not_taken_for_late() {
    // 3 seconds at 64 a second are 192 numbers, which look like 64 steps back of 256.
    let settings = LedgerSettings { reset_silence_ms: 60_000, ..LedgerSettings::default() };
    let mut stream = Stream::with(settings, SequenceSpace::new(8), 0);
    stream.run(64, 4);
    stream.wait(Nanos::from_secs(3));

    assert_eq!(stream.arrive_now(stream.next + 180), Arrival::LossUnknown);
}

#[test]
fn many_gaps_at_once_are_each_counted_once() {
    let mut stream = Stream::start(0);
    for number in (2..40_000).step_by(2) {
        assert_eq!(stream.arrive(number), Arrival::Gap(1));
    }

    assert_eq!(stream.losses_at_the_end(), (19_999, 0));
}

#[test]
fn a_clock_that_steps_back_does_no_harm() {
    let mut stream = Stream::start(0);
    stream.now = Nanos::ZERO;

    assert_eq!(stream.arrive_now(1), Arrival::InOrder);
    assert_eq!(stream.arrive_now(3), Arrival::Gap(1));
}

/// A stream of reports a microsecond apart.
struct Stream {
    sequence: Sequence,
    settings: LedgerSettings,
    now: Nanos,
    /// The number after the last one of `run`.
    next: u32,
}

impl Stream {
    fn start(first: u32) -> Stream {
        Stream::with_space(SequenceSpace::REPORT_2_0, first)
    }

    fn with_space(space: SequenceSpace, first: u32) -> Stream {
        Stream::with(LedgerSettings::default(), space, first)
    }

    fn with(settings: LedgerSettings, space: SequenceSpace, first: u32) -> Stream {
        let now = Nanos::from_secs(1_700_000_000);
        let sequence = Sequence::new(space, &settings, now, first);
        Stream { sequence, settings, now, next: first.wrapping_add(1) }
    }

    /// A stream that has sent this many reports in each of several seconds.
    fn with_rate(space: SequenceSpace, per_second: u32) -> Stream {
        let mut stream = Stream::with_space(space, 0);
        stream.run(per_second, 4);
        stream
    }

    fn run(&mut self, per_second: u32, seconds: u32) {
        for _ in 0..per_second * seconds - 1 {
            self.wait(Nanos(1_000_000_000 / u64::from(per_second)));
            assert_eq!(self.arrive_now(self.next), Arrival::InOrder);
            self.next += 1;
        }
    }

    fn arrive(&mut self, number: u32) -> Arrival {
        self.wait(Nanos::from_micros(1));
        self.arrive_now(number)
    }

    fn arrive_now(&mut self, number: u32) -> Arrival {
        self.sequence.arrive(&self.settings, self.now, number)
    }

    fn wait(&mut self, span: Nanos) {
        self.now = self.now + span;
        self.sequence.confirm(&self.settings, self.now);
    }

    /// Reports lost, and unknown losses, once every gap has been confirmed.
    fn losses_at_the_end(&mut self) -> (u64, u64) {
        self.wait(Nanos::from_secs(1));
        (self.sequence.lost(), self.sequence.lost_unknown())
    }
}
