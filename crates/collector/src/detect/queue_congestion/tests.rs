//! The state of congested queues stays small, whatever happens in a queue.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use inband_model::{Hop, Nanos, NodeId, Origin, ReportReference, Units};
use inband_wire::int::HopMetadata;

use super::{CongestionSettings, State};
use crate::book::Book;
use crate::detect::congestion::CongestionChange;
use crate::detect::detector::{Common, Detector};
use crate::ledger::Arrival;
use crate::network::Network;
use crate::outbox::Outbox;
use crate::paths::PathSettings;
use crate::ports::{PortSettings, Sample};
use crate::report::{HopReading, Reading, StackState};
use crate::share::Share;
use crate::sighting::Sighting;

#[test]
fn episodes_in_quick_succession_set_one_deadline() {
    let mut network = Network::new(PathSettings::default(), PortSettings::default());
    let mut state = State::new(&CongestionSettings::default(), &common());
    let mut outbox = Outbox::new(10_000, Book::new(100, 100, &[]));

    for step in 0..1_000 {
        report(&mut network, &mut state, &mut outbox, step, if step % 2 == 0 { 200_000 } else { 0 });
    }

    assert_eq!(state.calm.len(), 1);
    state.handle_timeout(Nanos::from_secs(1), &network, &mut outbox);
    assert_eq!(state.calm.len(), 1);
    state.handle_timeout(Nanos::from_secs(3), &network, &mut outbox);
    assert_eq!(state.next_timeout(), None);
}

#[test]
fn the_steps_of_an_episode_begin_with_its_first_packet_and_end_when_it_is_over() {
    let mut network = Network::new(PathSettings::default(), PortSettings::default());
    let mut state = State::new(&CongestionSettings::default(), &common());
    let mut outbox = Outbox::new(100, Book::new(100, 100, &[]));

    for (step, latency) in (0..).zip([200_000, 70_000, 0, 0]) {
        report(&mut network, &mut state, &mut outbox, step, latency);
    }

    let steps: Vec<_> =
        std::iter::from_fn(|| state.poll_congestion(&mut outbox)).map(|step| step.change).collect();
    let [CongestionChange::Departed(first), CongestionChange::Departed(second), CongestionChange::Over] =
        steps[..]
    else {
        panic!("{steps:?}");
    };
    assert_eq!([first.is_first, second.is_first], [true, false]);
    assert_eq!([first.is_congested, second.is_congested], [true, false]);
}

/// Passes the detector a report of a packet with this hop latency.
fn report(network: &mut Network, state: &mut State, outbox: &mut Outbox, now: u64, latency: u64) {
    let (now, reading) = (Nanos(now), reading(latency));
    let report = ReportReference { node_id: NodeId(5), received_at: now, ..ReportReference::default() };
    let port = network.ports.open(now, NodeId(5), Some(2)).unwrap();
    let telemetry = Reading {
        flow: None,
        origin: Origin::XdReport,
        stack: StackState::Whole,
        remaining_at_start: None,
        ttl: None,
        identity: None,
        packet_bytes: 0,
        dropped: false,
        congested_queue: false,
        tracked_flow: false,
        drop: None,
        missing: None,
        number: None,
    };
    let sighting = Sighting {
        now,
        report,
        from: SESSION,
        session: SESSION,
        arrival: Arrival::InOrder,
        reading: &telemetry,
        hops: &[reading],
        share: Share::WHOLE,
    };
    let mut sample = Sample::new(&sighting, port, &reading);
    sample.queue = network.ports.record(&sample);
    state.handle_hop(&sample, &network.ports, outbox);
}

fn common() -> Common {
    Common { settle: Nanos::ZERO, share: Share::WHOLE, synchronous_clocks: true, units: Units::default() }
}

fn reading(latency: u64) -> HopReading {
    HopReading {
        hop: Hop { node_id: NodeId(5), ingress_interface: Some(1), egress_interface: Some(2) },
        latency: Some(Nanos(latency)),
        has_wide_clock: true,
        metadata: HopMetadata::default(),
    }
}

const SESSION: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 32_766));
