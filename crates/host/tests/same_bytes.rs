//! The programs in the kernel and the engine turn the same packet into the same bytes.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "support/programs.rs"]
mod programs;

use std::cell::{Cell, RefCell};

use inband_host::{HostInt, Outcome, Program, Programs};
use inband_node::config::{
    Actions, IntVersion, Layer, NodeConfig, Prefix, SinkMetadata, TcpOptionsConfig, WatchEntry,
};
use inband_node::{DeviceMetadata, Node, Passage};
use inband_testkit::packet::{Packet, packet};
use inband_testkit::path::{DomainPlan, NodePlan, Place, send};
use inband_testkit::strategies::{domain_plan, ip_packet, node_plan};
use inband_wire::error::{ErrorKind, ParseError};
use inband_wire::int::earlier::HopByHop;
use inband_wire::int::{CodePoints, HeaderType, Instructions, Md, Version};
use inband_wire::{Link, Strictness, dissect};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// The number of cases of each property; `PROPTEST_CASES` in the environment overrides it.
const CASES: u32 = 3_000;

/// The programs, before their configuration.
fn programs() -> Option<Programs> {
    programs::load(&host(NodeConfig::new(1)))
}

fn host(node: NodeConfig) -> HostInt {
    HostInt { ingress: 1, egress: 2, clock_offset: 1_700_000_000_000_000_000, ..HostInt::of(node) }
}

/// A domain that the programs can follow: of INT 2.1 or Host-INT, in the outer layer, without dialect and
/// domain-specific instructions.
fn plan(version: IntVersion) -> impl Strategy<Value = DomainPlan> {
    domain_plan().prop_map(move |DomainPlan(mut choices)| {
        match version {
            IntVersion::Host0_5 => choices[1] = choices[1] % 14 + 242,
            _ => (choices[0], choices[1]) = (choices[0] % 3, choices[1] % 200),
        }
        choices[3] &= !INNER;
        choices[6] &= !DIALECT;
        choices[7] = 0;
        let plan = DomainPlan(choices);
        assert!(
            plan.version() == version
                && plan.domain().is_none()
                && plan.layer() == Layer::Outer
                && plan.dialect().is_none()
        );
        plan
    })
}

/// The choice of a plan that puts INT into the inner layer of a tunnel.
const INNER: u8 = 0x40;
/// The choice of a plan that departs from the specification.
const DIALECT: u8 = 0xc0;

/// The kernel's outcome for a packet: the one counter that went up besides those of events.
fn outcome(programs: &Programs, before: &[u64]) -> Vec<Outcome> {
    let after = counts(programs);
    let beside = [Outcome::Event, Outcome::EventLost];
    let went_up = |(number, outcome): (usize, &Outcome)| {
        (after[number] > before[number] && !beside.contains(outcome)).then_some(*outcome)
    };
    Outcome::ALL.iter().enumerate().filter_map(went_up).collect()
}

fn counts(programs: &Programs) -> Vec<u64> {
    Outcome::ALL.iter().map(|outcome| programs.count(*outcome).unwrap()).collect()
}

/// The host's own metadata in `frame`, to give the engine the same, and the packet's number.
fn said(config: &NodeConfig, frame: &[u8]) -> (DeviceMetadata, Option<u32>) {
    let read = |code_points: CodePoints<'_>| {
        let dissection = dissect(Link::Ethernet, frame, &code_points, Strictness::Whole);
        let (_, location) = dissection.int().next()?;
        if location.version == Version::HostInt0_5 {
            let int = HopByHop::parse(frame, location).ok()?;
            return Some((int.hops().next()?.metadata().hop, int.sequence));
        }
        let hop = Md::parse(frame, location, &[]).ok()?.stack.hops().next().map(|hop| hop.metadata())?;
        Some((hop, None))
    };
    let mut encapsulation = config.encapsulation.clone();
    if config.int_version() == IntVersion::Host0_5 {
        encapsulation.tcp_options = TcpOptionsConfig::Before;
    }
    let Some((hop, number)) = encapsulation.with_code_points(&[], read) else {
        return (DeviceMetadata::default(), None);
    };
    let metadata = DeviceMetadata {
        ingress_timestamp: hop.ingress_timestamp,
        egress_timestamp: hop.egress_timestamp,
        hop_latency: hop.hop_latency,
        queue: hop.queue,
        egress_utilization: hop.egress_utilization,
        ..DeviceMetadata::default()
    };
    (metadata, number)
}

fn run(
    version: IntVersion,
    check: impl Fn(&mut Programs, &Packet, DomainPlan, NodePlan) -> Result<(), TestCaseError>,
) {
    let Some(programs) = programs() else { return };
    let programs = RefCell::new(programs);
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: inband_testkit::kept_failures!(), ..Config::default() };
    TestRunner::new(config)
        .run(&(ip_packet(1400), plan(version), node_plan()), |(packet, domain, node)| {
            check(&mut programs.borrow_mut(), &packet.untagged(), domain, node)
        })
        .unwrap();
}

/// Outcomes for which the programs pass packets that the engine may change.
const LEFT_ALONE: [Outcome; 3] = [Outcome::Fragment, Outcome::ExtensionHeader, Outcome::NotCarried];

#[test]
fn a_source_in_the_kernel_starts_int_as_the_engine_does() {
    check_source(IntVersion::V2_1);
}

#[test]
fn a_source_of_host_int_in_the_kernel_starts_it_as_the_engine_does() {
    // host-int-0.5/packet-01, host-int-0.5/packet-03, host-int-0.5/packet-08, host-int-0.5/packet-10
    check_source(IntVersion::Host0_5);
}

fn check_source(version: IntVersion) {
    let started = Cell::new(0);
    run(version, |programs, packet, domain, plan| {
        let config = domain.node(1, Place::First, &plan);
        // Known or not, depending on the packet.
        let frame = packet.build();
        let known = Some(u32::try_from(frame.len()).unwrap()).filter(|length| length % 4 != 0);
        let host = HostInt { egress_utilization: known, ..host(config.clone()) };
        programs.configure(&host).unwrap();
        programs.note_queue(known).unwrap();
        let before = counts(programs);
        let passed = programs.pass(Program::Source, &frame, 1).unwrap();
        let outcome = outcome(programs, &before);

        if LEFT_ALONE.iter().any(|left| outcome.contains(left)) {
            prop_assert!(passed.frame == frame || outcome.contains(&Outcome::Remarked));
            return Ok(());
        }
        let (metadata, number) = said(&config, &passed.frame);
        let asked = config.source.instructions.bitmap();
        if metadata.ingress_timestamp.is_some() && version == IntVersion::V2_1 {
            let expected = |is_asked: bool| known.filter(|_| is_asked);
            let occupancy = metadata.queue.map(|queue| queue.occupancy);
            prop_assert_eq!(occupancy, expected(asked.contains(Instructions::QUEUE)));
            prop_assert_eq!(
                metadata.egress_utilization,
                expected(asked.contains(Instructions::EGRESS_UTILIZATION))
            );
        }
        let passage = Passage { ingress: 1, egress: 2, metadata };
        let mut node = Node::new(&config).unwrap();
        // The kernel remembers the flow from the cases before this one.
        for _ in 1..number.unwrap_or(1) {
            send(&mut node, &frame, &passage);
        }
        let before = node.counters().get(inband_node::Outcome::Started);
        let sent = send(&mut node, &frame, &passage).expect("a source drops nothing");
        prop_assert_eq!(&passed.frame, &sent, "{:?}", outcome);
        let is_started = node.counters().get(inband_node::Outcome::Started) > before;
        prop_assert_eq!(is_started, outcome.contains(&Outcome::Started));
        started.set(started.get() + u32::from(is_started));
        Ok(())
    });
    assert!(programs().is_none() || started.get() > CASES / 10, "few packets carry INT: {}", started.get());
}

#[test]
fn a_sink_in_the_kernel_gives_back_what_entered_the_domain() {
    check_sink(IntVersion::V2_1);
}

#[test]
fn a_sink_of_host_int_in_the_kernel_gives_back_what_entered_the_domain() {
    // host-int-0.5/packet-04
    check_sink(IntVersion::Host0_5);
}

fn check_sink(version: IntVersion) {
    let stripped = Cell::new(0);
    run(version, |programs, packet, domain, plan| {
        let first = domain.node(1, Place::First, &plan);
        let mut last = domain.node(3, Place::Last, &plan);
        last.sink.own_metadata = SinkMetadata::None;
        programs.configure(&host(last.clone())).unwrap();
        let mut frame = packet.build();
        for config in [first, domain.node(2, Place::Inside, &plan)] {
            let mut node = Node::new(&config).unwrap();
            let Some(sent) = send(&mut node, &frame, &plan.passage()) else { return Ok(()) };
            frame = sent;
        }
        let before = counts(programs);
        let passed = programs.pass(Program::Sink, &frame, 1).unwrap();
        let outcome = outcome(programs, &before);

        if LEFT_ALONE.iter().any(|left| outcome.contains(left)) {
            prop_assert_eq!(passed.frame, frame);
            return Ok(());
        }
        let mut node = Node::new(&last).unwrap();
        let Some(left) = send(&mut node, &frame, &plan.passage()) else {
            // What has the mark but cannot be read: a switch drops it, a host passes it unchanged.
            let count = |outcome| node.counters().get(outcome);
            let dropped =
                [inband_node::Outcome::UnknownVersion, inband_node::Outcome::NotStripped].map(count);
            prop_assert_eq!(dropped.iter().sum::<u64>(), 1);
            prop_assert_eq!(passed.frame, frame, "{:?}", outcome);
            return Ok(());
        };
        prop_assert_eq!(passed.frame, left, "{:?}", outcome);
        stripped.set(stripped.get() + u32::from(outcome.contains(&Outcome::Stripped)));
        Ok(())
    });
    assert!(programs().is_none() || stripped.get() > CASES / 10, "few packets had INT: {}", stripped.get());
}

#[test]
fn a_sink_takes_out_what_only_looks_like_int_where_the_engine_does() {
    for version in [IntVersion::V2_1, IntVersion::Host0_5] {
        let damaged = Cell::new(0_usize);
        run(version, |programs, packet, domain, plan| {
            let mut last = domain.node(3, Place::Last, &plan);
            last.sink.own_metadata = SinkMetadata::None;
            programs.configure(&host(last.clone())).unwrap();
            let first = domain.node(1, Place::First, &plan);
            let plain = packet.build();
            let Some(mut frame) = send(&mut Node::new(&first).unwrap(), &plain, &plan.passage()) else {
                return Ok(());
            };
            // Damages each byte of shim and header in turn, provided that the first difference is in them.
            let Some(at) = plain.iter().zip(&frame).skip(40).position(|(a, b)| a != b) else { return Ok(()) };
            let at = 40 + at + damaged.get() % 12;
            damaged.set(damaged.get() + 1);
            let Some(byte) = frame.get_mut(at) else { return Ok(()) };
            *byte ^= 1 << (damaged.get() / 12 % 8);

            let before = counts(programs);
            let passed = programs.pass(Program::Sink, &frame, 1).unwrap();
            let outcome = outcome(programs, &before);
            if LEFT_ALONE.iter().any(|left| outcome.contains(left)) {
                prop_assert_eq!(passed.frame, frame);
                return Ok(());
            }
            if !has_whole_hops(&last, &frame) {
                // The engine reads only the header; what the kernel removes is not put back.
                prop_assert_eq!(passed.frame, frame, "{:?}", outcome);
                return Ok(());
            }
            let mut engine = Node::new(&last).unwrap();
            let left = send(&mut engine, &frame, &plan.passage());
            if DROPPED_BY_THE_ENGINE.iter().any(|drop| engine.counters().get(*drop) > 0) {
                prop_assert_eq!(passed.frame, frame, "{:?}", outcome);
                return Ok(());
            }
            prop_assert_eq!(outcome.contains(&Outcome::Discarded), left.is_none());
            prop_assert_eq!(passed.frame, left.unwrap_or(frame), "{:?}", outcome);
            Ok(())
        });
    }
}

/// A sink of the network drops what it cannot read. A host passes it on: the mark alone does not prove INT.
const DROPPED_BY_THE_ENGINE: [inband_node::Outcome; 2] =
    [inband_node::Outcome::UnknownVersion, inband_node::Outcome::NotStripped];

/// Whether the stack behind an MD header, if there is one, holds a whole number of hops.
fn has_whole_hops(config: &NodeConfig, frame: &[u8]) -> bool {
    let has_broken_stack = |code_points: CodePoints<'_>| {
        let dissection = dissect(Link::Ethernet, frame, &code_points, Strictness::Whole);
        let (_, location) = dissection.int().next()?;
        let is_md = location.version == Version::V2_1 && location.header_type == HeaderType::Md;
        // The format behind a header of another version is unknown.
        let is_broken = |error: ParseError| !matches!(error.kind, ErrorKind::Version { .. });
        (is_md && Md::parse(frame, location, &[]).is_err_and(is_broken)).then_some(())
    };
    config.encapsulation.with_code_points(&[], has_broken_stack).is_none()
}

#[test]
fn host_int_is_found_in_front_of_options_that_look_like_a_header_of_another_version() {
    let Some(mut programs) = programs() else { return };
    let plan = NodePlan([19, 0, 0, 0]);
    let domain = DomainPlan([98, 254, 33, 16, 18, 16, 45, 0]);
    let mut last = domain.node(3, Place::Last, &plan);
    last.sink.own_metadata = SinkMetadata::None;
    programs.configure(&host(last.clone())).unwrap();
    // Where the domain places INT, behind all options, are a shim of INT-MD and a header of version 4.
    let options = [
        0x64, 0xeb, 0xc5, 0xb1, 0x1d, 0xa5, 0xa4, 0xe6, 0x45, 0x4a, 0x94, 0x2c, 0x0c, 0x6b, 0x32, 0x73, 0x41,
        0xd1, 0x8b, 0x71, 0x4d, 0x14, 0x79, 0x16, 0xbb, 0x03, 0x4d, 0x23, 0xb4, 0xa2, 0x70, 0xf4, 0xc4, 0xc2,
        0x64, 0x72, 0xf1, 0xd4, 0x00, 0x00,
    ];
    let plain = packet().ipv4().tcp(58_552, 4_790).options(&options).payload(&[0xff; 1_400]).build();
    leaves_as_it_was(&mut programs, &domain.node(1, Place::First, &plan), &last, &plan, &plain);
}

#[test]
fn host_int_before_tcp_options_is_no_shim_behind_them_whatever_the_node_id() {
    // host-int-0.5/packet-03, host-int-0.5/packet-12
    let Some(mut programs) = programs() else { return };
    let plan = NodePlan([19, 0, 0, 0]);
    let domain = DomainPlan([98, 254, 33, 16, 18, 16, 45, 0]);
    let mut last = domain.node(3, Place::Last, &plan);
    last.sink.own_metadata = SinkMetadata::None;
    // A domain of 2.1, whose INT follows the options, removes Host-INT as well.
    last.node.int_version = Some(IntVersion::V2_1);
    programs.configure(&host(last.clone())).unwrap();
    let timestamp = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let plain = packet().ipv4().tcp(40_000, 22).options(&timestamp).payload(&[0x20; 100]).build();
    for id in [2, 0x2000_0005, 0x2c00_0001, 0x1003_0000, 0x3003_0000, 0x0100_0801, 0x0200_0801] {
        let mut first = domain.node(1, Place::First, &plan);
        first.node.id = id;
        leaves_as_it_was(&mut programs, &first, &last, &plan, &plain);
    }
}

/// Sends a packet through a source, and through the sinks of the kernel and of the engine.
fn leaves_as_it_was(
    programs: &mut Programs,
    first: &NodeConfig,
    last: &NodeConfig,
    plan: &NodePlan,
    plain: &[u8],
) {
    let id = first.node.id;
    let frame = send(&mut Node::new(first).unwrap(), plain, &plan.passage()).unwrap();
    assert_ne!(frame, plain, "{id:#010x}: INT has started");
    let passed = programs.pass(Program::Sink, &frame, 1).unwrap();
    let left = send(&mut Node::new(last).unwrap(), &frame, &plan.passage());
    assert_eq!(passed.frame, left.unwrap(), "{id:#010x}");
    assert_eq!(passed.frame, plain, "{id:#010x}");
}

#[test]
fn a_packet_that_is_not_watched_enters_the_domain_as_the_engine_lets_it() {
    for version in [IntVersion::V2_1, IntVersion::Host0_5] {
        run(version, |programs, packet, domain, plan| {
            let nobody: Prefix = "198.51.100.0/24".parse().unwrap();
            let mut config = domain.node(1, Place::First, &plan);
            config.watchlist = vec![WatchEntry { either: Some(nobody), ..WatchEntry::default() }];
            programs.configure(&host(config.clone())).unwrap();
            let frame = packet.build();
            let passed = programs.pass(Program::Steer, &frame, 1).unwrap();

            let sent = send(&mut Node::new(&config).unwrap(), &frame, &plan.passage()).unwrap();
            prop_assert_eq!(passed.frame, sent);
            Ok(())
        });
    }
}

#[test]
fn a_packet_with_a_tag_passes_every_program_as_it_is_and_is_counted() {
    let Some(mut programs) = programs() else { return };
    let config = DomainPlan([2, 0, 0, 0, 0, 0, 0, 0]).node(1, Place::First, &NodePlan([0; 4]));
    programs.configure(&host(config)).unwrap();
    for frame in [packet().vlan(5).ipv4(), packet().vlan(5).vlan(6).ipv6()] {
        let frame = frame.udp(1, 2).payload(b"payload").build();
        for program in Program::ALL {
            let before = counts(&programs);
            assert_eq!(programs.pass(program, &frame, 1).unwrap().frame, frame, "{program:?}");
            assert_eq!(outcome(&programs, &before), [Outcome::VlanTag], "{program:?}");
        }
    }
}

#[test]
fn the_packets_of_each_flow_are_numbered_from_1() {
    // host-int-0.5/packet-06
    let Some(mut programs) = programs() else { return };
    let config = DomainPlan([0, 242, 0, 0, 0, 0, 0, 0]).node(1, Place::First, &NodePlan([0; 4]));
    programs.configure(&host(config.clone())).unwrap();
    let flow = |port| packet().ipv4().udp(port, 2).payload(b"payload").build();
    let mut number = |frame: &[u8]| {
        let passed = programs.pass(Program::Source, frame, 1).unwrap();
        said(&config, &passed.frame).1.unwrap()
    };
    let numbers: Vec<_> = [1, 1, 2, 1, 2].map(|port| number(&flow(port))).into();
    assert_eq!(numbers, [1, 2, 1, 3, 2]);
}

#[test]
fn the_watchlist_means_the_same_in_the_kernel() {
    let Some(mut programs) = programs() else { return };
    let mut config = DomainPlan([2, 0, 0x90, 0, 0, 0, 0, 0]).node(1, Place::First, &NodePlan([0; 4]));
    let prefix = |text: &str| Some(text.parse::<Prefix>().unwrap());
    config.watchlist = vec![
        WatchEntry {
            source: prefix("10.0.0.0/8"),
            destination: prefix("10.1.0.0/16"),
            ..WatchEntry::default()
        },
        WatchEntry {
            either: prefix("192.0.2.0/24"),
            protocol: Some("udp".parse().unwrap()),
            ..WatchEntry::default()
        },
        WatchEntry { destination_port: Some("443".parse().unwrap()), ..WatchEntry::default() },
        WatchEntry {
            destination: prefix("10.1.7.0/24"),
            action: Actions::REPORT_DROPS,
            priority: 1,
            ..WatchEntry::default()
        },
    ];
    programs.configure(&host(config.clone())).unwrap();
    let v4 = |source: [u8; 4], destination: [u8; 4]| packet().ipv4().addresses(&source, &destination);
    let packets = [
        (v4([10, 9, 9, 9], [10, 1, 2, 3]).tcp(1, 2), true),
        (v4([10, 9, 9, 9], [10, 1, 7, 3]).tcp(1, 443), false),
        (v4([10, 9, 9, 9], [10, 2, 2, 3]).tcp(1, 2), false),
        (v4([11, 9, 9, 9], [10, 1, 2, 3]).tcp(1, 2), false),
        (v4([192, 0, 2, 1], [8, 8, 8, 8]).udp(1, 2), true),
        (v4([8, 8, 8, 8], [192, 0, 2, 255]).udp(1, 2), true),
        (v4([192, 0, 2, 1], [8, 8, 8, 8]).tcp(1, 2), false),
        (v4([8, 8, 8, 8], [9, 9, 9, 9]).tcp(1, 443), true),
        (v4([8, 8, 8, 8], [9, 9, 9, 9]).tcp(443, 442), false),
        (packet().ipv6().udp(1, 443), true),
        (packet().ipv6().udp(1, 444), false),
    ];
    for (packet, is_watched) in packets {
        let frame = packet.clone().payload(b"payload").build();
        let mut node = Node::new(&config).unwrap();
        let sent = send(&mut node, &frame, &NodePlan([0; 4]).passage()).unwrap();
        let passed = programs.pass(Program::Source, &frame, 1).unwrap();
        assert_eq!(sent != frame, is_watched, "the engine: {packet:?}");
        assert_eq!(passed.frame != frame, is_watched, "the kernel: {packet:?}");
    }
}
