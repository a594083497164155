//! Paths of flows whose reports overtake each other and are lost, compared with the paths that their packets
//! took.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the numbers of a generator are small"
)]

mod support;

#[path = "overtaking/fabric.rs"]
mod fabric;
#[path = "overtaking/judge.rs"]
mod judge;

use std::time::{SystemTime, UNIX_EPOCH};

use fabric::{Mode, Setup};
use judge::{Findings, judge};

const MS: u64 = 1_000_000;

/// 40 flows of a packet a second over five routers, which change their path twice.
fn setup(mode: Mode) -> Setup {
    Setup {
        seed: seed(),
        mode,
        flows: 40,
        hops: 5,
        seconds: 40,
        every: 1_000 * MS,
        delay: [0, 500 * MS],
        lost_percent: 5,
        ttl_falls: true,
        stamps: false,
        ports: true,
        settle_ms: 500,
        changes_every: 12,
    }
}

#[test]
fn paths_are_right_where_reports_overtake_each_other_on_their_way() {
    for mode in [Mode::Md, Mode::Xd, Mode::Mx] {
        assert_right(setup(mode));
    }
}

#[test]
fn paths_are_right_where_reports_overtake_each_other_before_they_are_numbered() {
    for mode in [Mode::Md, Mode::Xd] {
        assert_right(Setup { delay: [500 * MS, 0], ..setup(mode) });
    }
}

#[test]
fn paths_over_bridges_are_right_where_the_links_are_given() {
    assert_right(Setup { ttl_falls: false, ..setup(Mode::Xd) });
    assert_right(Setup { ttl_falls: false, hops: 3, stamps: true, ..setup(Mode::Mx) });
}

#[test]
fn paths_are_right_where_reports_are_two_seconds_late_and_may_be() {
    for mode in [Mode::Md, Mode::Xd] {
        assert_right(Setup { delay: [1_000 * MS, 1_000 * MS], settle_ms: 5_000, ..setup(mode) });
    }
}

#[test]
fn reports_that_are_late_and_all_arrive_are_no_loss() {
    for delay in [[500 * MS, 0], [0, 500 * MS]] {
        let findings = assert_right(Setup { delay, lost_percent: 0, every: 50 * MS, ..setup(Mode::Md) });
        assert_eq!(findings.false_losses, 0, "{findings}");
    }
}

/// Fabrics of three to six hops, flows of one to twenty packets a second, in every mode, with every kind of
/// delay.
#[test]
#[ignore = "takes minutes: cargo xtask long paths"]
fn many_paths_over_many_fabrics_are_right() {
    let mut failed = 0;
    for round in 0..number("ROUNDS", 3) {
        for mode in [Mode::Md, Mode::Xd, Mode::Mx] {
            for (delay, settle_ms) in [([500, 0], 500), ([0, 500], 500), ([250, 250], 500)]
                .into_iter()
                .chain([([2_000, 0], 5_000), ([0, 2_000], 5_000)])
            {
                for (ttl_falls, ports, stamps) in
                    [(true, true, false), (false, true, false), (true, false, false), (true, true, true)]
                {
                    let setup = Setup {
                        seed: seed().wrapping_add(round),
                        flows: 200,
                        hops: [5, 3, 4, 6][usize::try_from(round % 4).unwrap_or(0)],
                        every: [1_000, 500, 200, 50][usize::try_from(round % 4).unwrap_or(0)] * MS,
                        delay: delay.map(|ms| ms * MS),
                        settle_ms,
                        ttl_falls,
                        ports,
                        stamps,
                        changes_every: 15,
                        seconds: 60,
                        ..setup(mode)
                    };
                    let findings = judge(&setup);
                    let is_right = findings.is_right();
                    failed += usize::from(!is_right);
                    println!("{}{setup:?}\n  {findings}", if is_right { "" } else { "WRONG: " });
                }
            }
        }
    }
    assert_eq!(failed, 0);
}

fn assert_right(setup: Setup) -> Findings {
    let findings = judge(&setup);
    assert!(findings.is_right_but_for_chance(&setup), "{findings}\n{setup:?}; SEED={} again", setup.seed);
    findings
}

/// A separate seed for each run; SEED in the environment repeats one.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    number("SEED", now.as_secs())
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
