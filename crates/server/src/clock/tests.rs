use std::time::Instant;

use inband_model::Nanos;

use super::{Clock, ClockStep, MAX_STEPS, Reading, TOLERANCE};

const HOUR: i64 = 3_600_000_000_000;

#[test]
fn a_time_of_day_that_nobody_sets_makes_no_step() {
    let clock = Clock::start();
    let mut last = Nanos::ZERO;
    for _ in 0..10_000 {
        let now = clock.now();
        assert!(now >= last);
        last = now;
    }

    assert_eq!((clock.steps(), clock.take_steps(&mut 0)), (0, Vec::new()));
}

#[test]
fn an_hour_forward_and_back_are_two_steps_and_the_clock_runs_on() {
    let clock = clock();
    clock.follow(|| reading(1_000, 0));
    clock.follow(|| reading(2_000, HOUR));
    clock.follow(|| reading(3_000, HOUR));
    clock.follow(|| reading(4_000, -5));

    let steps = [
        ClockStep { at: at(2_000), ahead_ns: HOUR, by_ns: HOUR },
        ClockStep { at: at(4_000), ahead_ns: -5, by_ns: -5 - HOUR },
    ];
    assert_eq!((clock.steps(), clock.take_steps(&mut 0)), (2, steps.to_vec()));
    assert_eq!((clock.take_steps(&mut 1), clock.take_steps(&mut 2)), (vec![steps[1]], Vec::new()));
}

#[test]
fn a_thread_that_waits_between_two_readings_sees_no_step() {
    let reading =
        Reading { after: Nanos(1_000), before: Nanos(900_000_000), time_of_day: Nanos(450_000_000) };
    assert_eq!(reading.difference_from(0), 0);

    let last = Reading { time_of_day: Nanos(reading.before.0 + TOLERANCE.0), ..reading };
    assert_eq!(last.difference_from(0), 0);
    let set = Reading { time_of_day: Nanos(last.time_of_day.0 + 1), ..reading };
    assert_eq!(set.difference_from(0), i64::try_from(TOLERANCE.0).unwrap() + 1);
}

#[test]
fn small_steps_add_up_and_are_followed_then() {
    let clock = clock();
    for millionth in 1..=30 {
        clock.follow(|| reading(10_000_000 + millionth, 100_000 * i64::try_from(millionth).unwrap()));
    }

    assert_eq!(clock.steps(), 2);
    let ahead = clock.take_steps(&mut 1)[0].ahead_ns;
    assert!((2_000_000..=3_000_000).contains(&ahead), "{ahead}");
}

#[test]
fn a_clock_that_is_set_all_the_time_takes_no_more_memory() {
    let clock = clock();
    for second in 1..=1_000 {
        clock.follow(|| reading(second, HOUR * i64::try_from(second).unwrap()));
    }

    assert_eq!((clock.steps(), clock.take_steps(&mut 0).len()), (1_000, MAX_STEPS));
    assert_eq!(clock.take_steps(&mut 999)[0].ahead_ns, 1_000 * HOUR);
}

fn clock() -> Clock {
    Clock::at(Instant::now(), Nanos(1_000))
}

fn at(nanos: u64) -> Nanos {
    Nanos(nanos + 10 * u64::try_from(HOUR).unwrap())
}

/// A reading without delay, with the system time `ahead`.
fn reading(at: u64, ahead: i64) -> Reading {
    let at = self::at(at);
    Reading { after: at, before: at, time_of_day: Nanos(at.0.saturating_add_signed(ahead)) }
}
