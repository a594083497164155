//! The frequency of events of a flow.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "support/programs.rs"]
mod programs;

use std::time::{Duration, Instant};

use inband_host::{HostInt, Outcome, Program, Programs};
use inband_node::config::{EncapsulationConfig, EncapsulationKind, IntVersion, NodeConfig};
use inband_testkit::hex::hex;

/// Minimum time in which packets come without a pause.
const TIME: Duration = Duration::from_millis(100);
/// The maximum distance of the kernel's ticks.
const TICK: Duration = Duration::from_millis(10);

#[test]
fn every_packet_is_told_of_without_an_interval() {
    let Some(mut programs) = programs::load(&host(0)) else { return };

    let (packets, _) = send(&mut programs, Duration::ZERO);

    assert_eq!(programs.count(Outcome::Event).unwrap(), packets);
}

#[test]
fn a_flow_is_told_of_once_an_interval() {
    // Intervals shorter than a tick, and longer ones.
    for interval_us in [1_000, 9_999, 10_000, 25_000] {
        let Some(mut programs) = programs::load(&host(interval_us)) else { return };
        let interval = Duration::from_micros(interval_us.into());

        let (packets, lasted) = send(&mut programs, TIME);

        let events = programs.count(Outcome::Event).unwrap();
        let most = lasted.as_nanos() / interval.as_nanos() + 1;
        assert!(u128::from(events) <= most, "{interval:?}: {events} in {lasted:?}");
        assert!(events >= 2, "{interval:?}: {events} of {packets} packets in {lasted:?}");
    }
}

#[test]
fn the_end_of_a_long_interval_is_found_within_a_tick() {
    let Some(mut programs) = programs::load(&host(20_000)) else { return };

    send(&mut programs, Duration::ZERO);
    std::thread::sleep(Duration::from_millis(20) + TICK);
    send(&mut programs, Duration::ZERO);

    assert_eq!(programs.count(Outcome::Event).unwrap(), 2);
}

/// Passes a packet with INT to the sink for this time, at least once; returns the number of packets, and the
/// time taken.
fn send(programs: &mut Programs, time: Duration) -> (u64, Duration) {
    let frame = hex(include_str!("../../../testdata/captured/host-int-1.0.0-dscp-tcp.hex"));
    let before = programs.count(Outcome::Stripped).unwrap();
    let since = Instant::now();
    loop {
        programs.pass(Program::Sink, &frame, 1).unwrap();
        if since.elapsed() >= time {
            return (programs.count(Outcome::Stripped).unwrap() - before, since.elapsed());
        }
    }
}

/// A sink in a domain of Host-INT, with an interval.
fn host(interval_us: u32) -> HostInt {
    let mut node = NodeConfig::new(12);
    node.node.int_version = Some(IntVersion::Host0_5);
    node.encapsulation = EncapsulationConfig {
        kind: Some(EncapsulationKind::Dscp),
        dscp: Some(1),
        dscp_mask: Some(1),
        ..EncapsulationConfig::default()
    };
    HostInt { interval_us, ..HostInt::of(node) }
}
