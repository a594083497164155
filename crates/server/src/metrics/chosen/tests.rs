use std::time::Duration;

use super::{Activity, MAX_NODES, SILENCE, Series};

#[test]
fn new_nodes_with_smaller_ids_do_not_take_the_series_of_others() {
    let mut series = Series::new(MAX_NODES);
    let old = 10_000..11_000_u32;
    for round in 1..5 {
        series.look(at(15 * round), old.clone().map(|node| (node, reports(round * 100))));
    }
    // 500 new nodes report as often as those before.
    for round in 5..100 {
        let new = (0..500).map(|node| (node, reports((round - 4) * 100)));
        series.look(at(15 * round), new.chain(old.clone().map(|node| (node, reports(round * 100)))));
        assert!(old.clone().all(|node| series.has(&node)), "{round}");
    }
    assert_eq!(series.left_out(), 500);
}

#[test]
fn nodes_that_report_once_take_no_series_and_a_busy_one_does_in_time() {
    let mut series = Series::new(10);
    let count = |round: u64| (0..10_u64).map(move |node| (node, reports(round * (node + 1) * 15)));
    series.look(at(15), count(1));
    for round in 2..200 {
        // A thousand ids a second, each reported once, and one node that reports ten times as often as the
        // least active.
        let flood = (0..1_000).map(|number| (1_000_000 + round * 1_000 + number, reports(1)));
        let busy = std::iter::once((77, reports((round - 1) * 150)));
        series.look(at(15 * round), count(round).chain(flood).chain(busy));
        assert!((1..10).all(|node| series.has(&node)), "{round}");
        assert_eq!(series.has(&77), !series.has(&0), "{round}");
    }
    assert!(series.has(&77));
}

#[test]
fn a_series_stays_through_silence_of_less_than_ten_minutes() {
    let mut series = Series::new(1);
    series.look(at(0), [(1, reports(1_000_000))]);
    let silent = SILENCE.as_secs();
    series.look(at(silent - 1), [(1, reports(1_000_000)), (2, reports(1))]);
    assert!(series.has(&1) && !series.has(&2));
    series.look(at(silent), [(1, reports(1_000_000)), (2, reports(2))]);
    assert!(series.has(&2) && !series.has(&1));
}

#[test]
fn one_that_is_forgotten_frees_its_place() {
    let mut series = Series::new(1);
    series.look(at(0), [(1, reports(5)), (2, reports(4))]);
    assert_eq!((series.has(&1), series.left_out()), (true, 1));
    series.look(at(15), [(2, reports(5))]);
    assert_eq!((series.has(&2), series.left_out()), (true, 0));
}

#[test]
fn two_queues_that_are_deep_in_turn_do_not_end_each_others_series() {
    let mut series = Series::new(1);
    let depth = |depth: u32, at: u64| Activity { mark: at, level: f64::from(depth), by_growth: false };
    series.look(at(0), [(1, depth(10, 1)), (2, depth(5, 1))]);
    for round in 1..100 {
        let (one, two) = if round % 2 == 0 { (100, 0) } else { (0, 120) };
        series.look(at(15 * round), [(1, depth(one, round)), (2, depth(two, round))]);
        assert!(series.has(&1), "{round}");
    }
}

fn reports(count: u64) -> Activity {
    Activity { mark: count, level: 0.0, by_growth: true }
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
