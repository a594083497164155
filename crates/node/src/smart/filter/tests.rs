//! The filter against an unbounded model, with room for all flows, few, and none.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use inband_wire::FiveTuple;
use proptest::prelude::*;

use super::super::latency::{Latencies, Sensitivity, Step};
use super::super::observation::{Observation, Way};
use super::{Filter, Key};

const INTERVAL: u64 = 1_000;

fn key(number: u32) -> Key {
    let flow = FiveTuple {
        source: Ipv4Addr::from_bits(number).into(),
        destination: Ipv4Addr::new(10, 0, 0, 1).into(),
        protocol: 6,
        source_port: 1,
        destination_port: 80,
    };
    Key { flow, reason: None }
}

fn seen(way: u16) -> Observation<'static> {
    Observation { way: Way { egress: way, ..Way::default() }, ..Observation::default() }
}

/// A packet with this latency here and at a previous hop.
fn with_latency(hop: u32, upstream: &[u32]) -> Observation<'_> {
    Observation { latencies: Latencies { hop, one_way: 0 }, upstream, ..Observation::default() }
}

const SENSITIVITY: Sensitivity = Sensitivity { hop: Step::Difference(256), one_way: Step::Difference(256) };

impl Filter {
    fn lets(&mut self, key: Key, seen: Observation<'_>, now: u64) -> bool {
        self.passes(key, seen, now, SENSITIVITY)
    }
}

/// Stores the last report of every flow forever.
#[derive(Default)]
struct Model(HashMap<u32, (u16, u64)>);

impl Model {
    fn passes(&mut self, flow: u32, way: u16, now: u64) -> bool {
        let passes = self.0.get(&flow).is_none_or(|(last, at)| *last != way || now - at >= INTERVAL);
        if passes {
            self.0.insert(flow, (way, now));
        }
        passes
    }
}

proptest! {
    #[test]
    fn with_room_for_all_flows_it_does_what_a_perfect_memory_does(
        packets in prop::collection::vec((0..40_u32, 0..3_u16, 0..400_u64), 1..400),
    ) {
        let (mut filter, mut model, mut now) = (Filter::new(4096, INTERVAL), Model::default(), 0);
        for (flow, way, gap) in packets {
            now += gap;
            prop_assert_eq!(filter.lets(key(flow), seen(way), now), model.passes(flow, way, now));
        }
    }

    #[test]
    fn without_room_it_may_report_too_much_and_never_holds_back_what_should_go(
        keys in prop::sample::select(vec![0_u32, 1, 16]),
        packets in prop::collection::vec((0..60_u32, 0..3_u16, 0..400_u64), 1..600),
    ) {
        // The last observation reported per flow, by the filter's own reports: with less memory more are due.
        let (mut filter, mut told, mut now) = (Filter::new(keys, INTERVAL), Model::default(), 0);
        for (flow, way, gap) in packets {
            now += gap;
            let due = told.0.get(&flow).is_none_or(|(last, at)| *last != way || now - at >= INTERVAL);
            let passes = filter.lets(key(flow), seen(way), now);
            prop_assert!(passes || !due, "flow {} is held back at {}", flow, now);
            if passes {
                told.0.insert(flow, (way, now));
            }
        }
    }
}

#[test]
fn a_flow_passes_at_the_interval_and_not_one_nanosecond_before() {
    for keys in [0, 8] {
        let mut filter = Filter::new(keys, INTERVAL);
        let passed: Vec<_> =
            [0, 1, 999, 1000, 1999, 2000].map(|now| filter.lets(key(1), seen(1), now)).into();
        assert_eq!(passed, [true, false, false, true, false, true], "{keys} keys");
    }
}

#[test]
fn a_change_passes_at_once_and_so_does_the_change_back() {
    for keys in [0, 8] {
        let mut filter = Filter::new(keys, INTERVAL);
        let passed: Vec<_> = [1, 1, 2, 2, 1, 1].map(|way| filter.lets(key(1), seen(way), 5)).into();
        assert_eq!(passed, [true, false, true, false, true, false], "{keys} keys");
    }
}

#[test]
fn a_clock_that_is_set_back_holds_nothing_back_for_long() {
    for keys in [0, 8] {
        let mut filter = Filter::new(keys, INTERVAL);
        assert!(filter.lets(key(1), seen(1), 1_000_000));
        assert!(filter.lets(key(1), seen(1), 500), "by more than an interval");
        assert!(!filter.lets(key(1), seen(1), 100), "by less than one: it starts again");
        assert!(!filter.lets(key(1), seen(1), 1099));
        assert!(filter.lets(key(1), seen(1), 1100));
    }
}

#[test]
fn reasons_of_one_flow_are_told_apart() {
    let mut filter = Filter::new(8, INTERVAL);
    let with = |reason| Key { reason, ..key(1) };
    for reason in [None, Some(0), Some(71)] {
        assert!(filter.lets(with(reason), seen(0), 0));
        assert!(!filter.lets(with(reason), seen(0), 1));
    }
}

#[test]
fn the_memory_of_flows_that_are_gone_is_used_again() {
    let mut filter = Filter::new(64, INTERVAL);
    for round in 0..100 {
        let now = u64::from(round) * INTERVAL;
        for flow in 0..32 {
            assert!(filter.lets(key(round * 32 + flow), seen(0), now));
        }
        let again = (0..32).filter(|flow| filter.lets(key(round * 32 + flow), seen(0), now + 1)).count();
        assert_eq!(again, 0, "round {round}");
    }
}

#[test]
fn two_hashes_hold_back_most_of_a_hundred_times_more_flows_than_the_table_holds() {
    let mut filter = Filter::new(128, INTERVAL);
    let flows = 12_800;
    let first = (0..flows).filter(|flow| filter.lets(key(*flow), seen(0), 0)).count();
    let second = (0..flows).filter(|flow| filter.lets(key(*flow), seen(0), 1)).count();
    assert_eq!(first, 12_800, "every flow is reported");
    assert!(second < 12_800 / 10, "{second} needless reports");
}

#[test]
fn latency_is_compared_with_the_packet_before_whether_or_not_that_was_reported() {
    for keys in [0, 8] {
        let mut filter = Filter::new(keys, INTERVAL);
        let passed: Vec<_> = [1000, 1256, 1512, 1769, 1769, 1000]
            .map(|latency| filter.lets(key(1), with_latency(latency, &[]), 5))
            .into();
        assert_eq!(passed, [true, false, false, true, false, true], "{keys} keys");
        let passed: Vec<_> = [[50, 60], [50, 316], [50, 60], [50, 317], [307, 317], [307, 317]]
            .map(|upstream| filter.lets(key(2), with_latency(7, &upstream), 5))
            .into();
        assert_eq!(passed, [true, false, false, true, true, false], "{keys} keys, upstream");
    }
}

#[test]
fn a_packet_that_is_remembered_begins_the_interval_and_is_the_packet_before() {
    for keys in [0, 8] {
        let mut filter = Filter::new(keys, INTERVAL);
        assert!(filter.lets(key(1), with_latency(1000, &[7]), 0));
        filter.remember(key(1), with_latency(9000, &[9]), 500);
        assert!(!filter.lets(key(1), with_latency(9000, &[9]), 1000), "{keys} keys");
        assert!(!filter.lets(key(1), with_latency(9000, &[9]), 1499), "{keys} keys");
        assert!(filter.lets(key(1), with_latency(9000, &[9]), 1500), "{keys} keys");
        filter.remember(key(1), with_latency(1000, &[7]), 1600);
        assert!(filter.lets(key(1), with_latency(9000, &[9]), 1600), "{keys} keys");
        filter.remember(key(2), with_latency(1000, &[7]), 1600);
        assert!(
            !filter.lets(key(2), with_latency(1000, &[7]), 1600),
            "{keys} keys, first seen by a queue report"
        );
    }
}
