//! Paths of which a transit hop reports the first part, and the sink the rest.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_collector::{CollectorSettings, EventSettings, PathRule};
use inband_model::{EventDetail, EventKind, Nanos, Phase};
use inband_wire::report::Draft;

use support::{Lab, MdPacket, flow, hops, sink_report};

/// 2.5 epochs and more.
const LONG: Nanos = Nanos::from_secs(3);
const SOON: Nanos = Nanos::from_micros(200);

#[test]
fn a_sinks_report_before_the_first_intermediate_one_leaves_no_half_path() {
    for counts in [Counts::Right, Counts::Constant] {
        let mut lab = Lab::with(through(11));
        let nodes = [&[1, 11, 12][..], &[13, 2]];
        pass(&mut lab, counts, &nodes, &[1, 0]);
        for _ in 0..20 {
            lab.wait(Nanos::from_millis(100));
            pass(&mut lab, counts, &nodes, &[0, 1]);
        }
        lab.wait(Nanos::from_secs(2));

        assert_eq!(lab.paths(), [vec![13, 2], vec![1, 11, 12, 13, 2]], "{counts:?}");
        assert_eq!(lab.events(EventKind::PathChange), [], "{counts:?}");
        assert!(lab.only_flow().path_is_complete());
        let violation = lab.events(EventKind::PathPolicy).pop().unwrap();
        assert_eq!(violation.phase, Phase::End, "{counts:?}");
    }
}

#[test]
fn a_path_joined_by_right_counts_is_known_with_the_first_intermediate_report() {
    let mut lab = Lab::new();
    pass(&mut lab, Counts::Right, &[&[1, 11, 12], &[13, 2]], &[1, 0]);

    assert_eq!(lab.paths(), [vec![13, 2], vec![1, 11, 12, 13, 2]]);
    assert_eq!(lab.only_flow().hop_latency, [Some(Nanos(900)); 5]);
}

#[test]
fn where_stacks_were_joined_a_new_flow_whose_sink_reports_first_has_no_half_path() {
    let mut lab = Lab::with(through(11));
    for number in 1..=2 {
        let order = if number == 1 { [0, 1] } else { [1, 0] };
        pass_of(&mut lab, number, Counts::Right, &[&[1, 11, 12], &[13, 2]], &order);
    }
    let path = lab.collector.flow(&flow(2)).unwrap();
    assert_eq!(path.path.unwrap().hops().len(), 5);
    assert!(path.path_is_complete());

    // The intermediate report of the third flow is lost: whether its path is complete is unknown.
    pass_of(&mut lab, 3, Counts::Right, &[&[1, 11, 12], &[13, 2]], &[1]);
    assert!(lab.collector.flow(&flow(3)).unwrap().path.is_none());
    lab.wait(Nanos::from_millis(501));
    let path = lab.collector.flow(&flow(3)).unwrap();
    assert_eq!((path.path.unwrap().hops().len(), path.path_is_complete()), (2, false));
    assert_eq!(lab.events(EventKind::PathPolicy), []);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn a_sinks_report_that_comes_first_changes_no_path_of_a_slow_flow() {
    for (counts, pause) in [
        (Counts::Right, LONG),
        (Counts::Constant, LONG),
        (Counts::Right, Nanos::from_secs(59)),
        (Counts::Right, Nanos::from_secs(1)),
    ] {
        let mut lab = Lab::new();
        for round in 0..12 {
            let order = if round % 3 == 1 { [1, 0] } else { [0, 1] };
            pass(&mut lab, counts, &[&[1, 11, 12], &[13, 2]], &order);
            lab.wait(pause);
        }

        assert_eq!(lab.paths(), [vec![1, 11, 12], vec![1, 11, 12, 13, 2]], "{counts:?} {pause:?}");
        assert_eq!(lab.events(EventKind::PathChange), [], "{counts:?} {pause:?}");
        assert_eq!(lab.collector.overflows().paths, 2);
        lab.wait(Nanos::from_secs(130));
        assert_eq!(lab.collector.overflows().paths, 0);
    }
}

#[test]
fn a_slow_flow_changes_its_path_once_although_the_sink_reports_first() {
    for counts in [Counts::Right, Counts::Constant] {
        let mut lab = Lab::new();
        for round in 0..8 {
            let spine = if round < 4 { 11 } else { 12 };
            pass(&mut lab, counts, &[&[1, spine, 13], &[14, 2]], &[1, 0]);
            lab.wait(LONG);
        }

        let last = lab.path_observations().pop().unwrap();
        assert_eq!(support::nodes(&last), [1, 12, 13, 14, 2], "{counts:?}");
        assert_eq!(changes(&mut lab), ["1 11 13 14 2 > 1 12 13 14 2"], "{counts:?}");
    }
}

#[test]
fn a_change_behind_the_transit_hop_is_one_change() {
    let mut lab = Lab::new();
    for (round, order) in [[0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1]].iter().enumerate() {
        let spine = if round < 3 { 13 } else { 14 };
        pass(&mut lab, Counts::Right, &[&[1, 11], &[spine, 2]], order);
        lab.wait(LONG);
    }

    assert_eq!(changes(&mut lab), ["1 11 13 2 > 1 11 14 2"]);
}

#[test]
fn lost_intermediate_reports_change_no_path() {
    let mut lab = Lab::new();
    pass(&mut lab, Counts::Right, &[&[1, 11, 12], &[13, 2]], &[0, 1]);
    for _ in 0..20 {
        lab.wait(Nanos::from_secs(1));
        pass(&mut lab, Counts::Right, &[&[1, 11, 12], &[13, 2]], &[1]);
    }

    assert_eq!(lab.events(EventKind::PathChange), []);
    let view = lab.only_flow();
    assert_eq!(view.path.unwrap().hops().len(), 5);
    assert_eq!(view.path_seen_at, view.last_seen);
}

#[test]
fn a_path_that_lost_its_first_hops_is_another_path_and_no_change() {
    let mut lab = Lab::new();
    pass(&mut lab, Counts::Constant, &[&[1, 11], &[13, 2]], &[0, 1]);
    lab.outputs();
    lab.wait(LONG);
    // The count does not show that hops are missing.
    pass(&mut lab, Counts::Constant, &[&[1, 11], &[13, 2]], &[1]);
    lab.wait(Nanos::from_millis(499));
    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    lab.wait(Nanos::from_millis(2));

    assert_eq!(lab.paths(), [[13, 2]]);
    assert_eq!(lab.events(EventKind::PathChange), []);
    assert!(!lab.only_flow().path_is_complete());
    lab.wait(LONG);
    for _ in 0..2 {
        pass(&mut lab, Counts::Constant, &[&[1, 11], &[13, 2]], &[0, 1]);
    }
    assert_eq!(lab.paths(), [[1, 11, 13, 2]]);
    assert_eq!(lab.events(EventKind::PathChange), []);
    assert!(lab.only_flow().path_is_complete());
}

#[test]
fn two_transit_hops_may_remove_a_stack_each_in_any_order_of_reports() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let parts = [&[1, 11][..], &[12, 13], &[14, 2]];
    for first in orders {
        for pause in [Nanos::from_millis(300), LONG] {
            let mut lab = Lab::new();
            for order in [first].iter().chain(&orders) {
                pass(&mut lab, Counts::Right, &parts, order);
                lab.wait(pause);
            }

            let seen = lab.paths();
            assert_eq!(seen.last().unwrap(), &[1, 11, 12, 13, 14, 2], "{first:?} {pause:?} {seen:?}");
            assert!(seen.len() <= 3, "{first:?} {pause:?} {seen:?}");
            assert_eq!(lab.events(EventKind::PathChange), [], "{first:?} {pause:?} {seen:?}");
        }
    }
}

#[test]
fn one_of_two_parts_that_is_lost_changes_no_path() {
    let parts = [&[1, 11][..], &[12, 13], &[14, 2]];
    let mut lab = Lab::new();
    pass(&mut lab, Counts::Right, &parts, &[0, 1, 2]);
    lab.outputs();
    for lost in 0..2 {
        for _ in 0..6 {
            lab.wait(Nanos::from_secs(1));
            pass(&mut lab, Counts::Right, &parts, &[1 - lost, 2]);
        }
    }

    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn another_transit_hop_that_removes_the_stack_changes_no_path() {
    let mut lab = Lab::new();
    for round in 0..12 {
        let parts = match round / 2 % 3 {
            0 => vec![&[1, 11, 12][..], &[13, 2]],
            1 => vec![&[1][..], &[11, 12, 13, 2]],
            _ => vec![&[1, 11, 12, 13, 2][..]],
        };
        let order = if parts.len() == 1 { vec![0] } else { vec![1, 0] };
        pass(&mut lab, Counts::Right, &parts, &order);
        lab.wait(Nanos::from_millis(300));
    }

    assert_eq!(lab.paths(), [vec![13, 2], vec![1, 11, 12, 13, 2]]);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn packets_whose_stack_stays_whole_change_a_joined_path_at_once() {
    let mut lab = Lab::new();
    pass(&mut lab, Counts::Right, &[&[1, 11, 12], &[13, 2]], &[0, 1]);
    lab.outputs();
    lab.wait(LONG);
    pass(&mut lab, Counts::Right, &[&[1, 14, 2]], &[0]);

    assert_eq!(lab.paths(), [[1, 14, 2]]);
    assert_eq!(lab.events(EventKind::PathChange).len(), 1);
}

#[test]
fn reports_that_all_have_one_time_are_joined_in_any_order() {
    let mut lab = Lab::new();
    let now = lab.now;
    for order in [[1, 0], [0, 1], [1, 0]] {
        lab.now = now;
        pass(&mut lab, Counts::Right, &[&[1, 11], &[12, 2]], &order);
    }

    assert_eq!(lab.only_flow().path.unwrap().hops().len(), 4);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn reports_that_are_late_or_lost_at_random_change_no_path() {
    // Interval of packets, share of lost intermediate reports and delay of both reports, in ms and percent.
    for (interval, lost, delay) in [(400, 0, 100), (400, 30, 100), (1_000, 30, 100), (1_074, 10, 300)] {
        for seed in 1..=20_u64 {
            let mut lab = Lab::new();
            let mut state = seed;
            let mut random = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let mut reports = Vec::new();
            for number in 0..200 {
                for place in 0..2 {
                    let at = number * interval + random(delay);
                    if place == 1 || random(100) >= lost {
                        reports.push((at, place));
                    }
                }
            }
            reports.sort_unstable();
            let start = lab.now;
            for (at, place) in reports {
                let span = (start + Nanos::from_millis(at)).since(lab.now);
                lab.wait(span);
                pass(&mut lab, Counts::Right, &[&[1, 11, 12], &[13, 2]], &[place]);
            }

            let paths = lab.paths();
            assert_eq!(paths.last().unwrap(), &[1, 11, 12, 13, 2], "{interval} {lost} {delay}");
            assert!(paths.len() <= 2, "{interval} {lost} {delay}: {paths:?}");
            assert_eq!(changes(&mut lab), Vec::<String>::new());
        }
    }
}

/// Whether the Remaining Hop Count falls along the path, as it must, or stays the same.
#[derive(Debug, Clone, Copy)]
enum Counts {
    Right,
    Constant,
}

/// A packet that passes these parts of a path; all but the last are removed by the last node of each. The
/// reports arrive in this order.
fn pass(lab: &mut Lab, counts: Counts, parts: &[&[u32]], order: &[usize]) {
    pass_of(lab, 1, counts, parts, order);
}

fn pass_of(lab: &mut Lab, number: u32, counts: Counts, parts: &[&[u32]], order: &[usize]) {
    let mut remaining_hop_count = 10;
    let mut stacks = Vec::new();
    for part in parts {
        if let Counts::Right = counts {
            remaining_hop_count -= u8::try_from(part.len()).unwrap();
        }
        let packet = MdPacket { flow: flow(number), remaining_hop_count, ..MdPacket::new(&hops(part)) };
        stacks.push((*part.last().unwrap(), packet.bytes()));
    }
    for place in order {
        let (node_id, stack) = &stacks[*place];
        let intermediate = *place + 1 < parts.len();
        lab.report(*node_id, &Draft { intermediate, ..sink_report(stack) });
        lab.wait(SOON);
    }
}

/// The changes of path that began, by nodes.
fn changes(lab: &mut Lab) -> Vec<String> {
    let nodes = |path: &inband_model::Path| {
        path.nodes().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let events = lab.events(EventKind::PathChange);
    let begun = events.iter().filter(|event| event.phase != Phase::End);
    begun
        .map(|event| match &event.detail {
            EventDetail::PathChange(change) => format!("{} > {}", nodes(&change.old), nodes(&change.new)),
            other => panic!("not a change of path: {other:?}"),
        })
        .collect()
}

/// Settings with a rule that every path passes a node.
fn through(node_id: u32) -> CollectorSettings {
    let rule = PathRule { name: "through".to_owned(), require_nodes: vec![node_id], ..PathRule::default() };
    let events = EventSettings { path_policy: vec![rule], ..EventSettings::default() };
    CollectorSettings { events, ..CollectorSettings::default() }
}
