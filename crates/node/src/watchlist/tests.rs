//! The watchlist against a linear model, for every key and for lists of every size.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;

use inband_wire::FiveTuple;
use proptest::prelude::*;

use crate::config::{Actions, PortRange, Prefix, Protocol, WatchEntry};

use super::{Sampling, Subject, Watchlist};

/// The expected actions, by comparing all entries.
fn slow_actions(entries: &[WatchEntry], subject: &Subject) -> Actions {
    let mut decides: Option<&WatchEntry> = None;
    for entry in entries.iter().filter(|entry| entry.matches(subject)) {
        if decides.is_none_or(|other| entry.priority > other.priority) {
            decides = Some(entry);
        }
    }
    decides.map_or(Actions::NONE, |entry| entry.action)
}

/// Addresses that share prefixes of many lengths.
fn address() -> impl Strategy<Value = IpAddr> {
    let v4 = (0..4_u32, 0..3_u32, prop_oneof![0..4_u32, any::<u8>().prop_map(u32::from)])
        .prop_map(|(a, b, c)| IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 | a << 22 | b << 14 | c)));
    let v6 = (0..4_u128, 0..4_u128)
        .prop_map(|(a, b)| IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96 | a << 62 | b)));
    prop_oneof![4 => v4, 1 => v6]
}

fn prefix() -> impl Strategy<Value = Prefix> {
    (address(), prop_oneof![Just(0_u8), Just(8), Just(10), Just(24), Just(31), Just(32), 0..=128_u8])
        .prop_map(|(address, length)| Prefix::new(address, length))
}

fn port() -> impl Strategy<Value = u16> {
    prop_oneof![0..6_u16, Just(80), Just(443), Just(u16::MAX), any::<u16>()]
}

fn ports() -> impl Strategy<Value = PortRange> {
    prop_oneof![
        port().prop_map(|port| PortRange(port..=port)),
        (port(), port()).prop_map(|(a, b)| PortRange(a.min(b)..=a.max(b))),
    ]
}

fn rare<T: Clone + std::fmt::Debug>(values: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.25, values)
}

fn entry() -> impl Strategy<Value = WatchEntry> {
    let addresses = (rare(prefix()), rare(prefix()), rare(prefix()));
    let ports = (rare(ports()), rare(ports()));
    let others = (rare(protocol()), rare(0..3_u8), rare(0..3_u32), rare(0..3_u16));
    let action = prop::sample::select(vec![Actions::ALL, Actions::NONE, Actions::START_INT]);
    (addresses, ports, others, action, 0..3_u32).prop_map(|(addresses, ports, others, action, priority)| {
        WatchEntry {
            source: addresses.0,
            destination: addresses.1,
            either: addresses.2,
            protocol: others.0.map(Protocol),
            source_port: ports.0,
            destination_port: ports.1,
            dscp: others.1,
            vni: others.2,
            ingress: others.3,
            action,
            sample: NonZeroU32::MIN,
            priority,
        }
    })
}

fn protocol() -> impl Strategy<Value = u8> {
    prop::sample::select(vec![6_u8, 17, 1])
}

fn subject() -> impl Strategy<Value = Subject> {
    let flow = (address(), address(), protocol(), port(), port());
    (flow, 0..3_u8, prop::option::of(0..3_u32), 0..3_u16).prop_map(|(flow, dscp, vni, ingress)| {
        let (source, destination, protocol, source_port, destination_port) = flow;
        let flow = FiveTuple { source, destination, protocol, source_port, destination_port };
        Subject { flow, dscp, vni, ingress }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_meets_the_entry_that_comparing_all_of_them_finds(
        entries in prop::collection::vec(entry(), 0..200),
        subjects in prop::collection::vec(subject(), 40),
    ) {
        let watchlist = Watchlist::new(&entries);
        for subject in &subjects {
            prop_assert_eq!(watchlist.actions(subject), slow_actions(&entries, subject), "{:?}", subject);
        }
    }
}

fn flow(source: [u8; 4], destination: [u8; 4], ports: (u16, u16)) -> Subject {
    let flow = FiveTuple {
        source: source.into(),
        destination: destination.into(),
        protocol: 17,
        source_port: ports.0,
        destination_port: ports.1,
    };
    Subject { flow, ..Subject::default() }
}

#[test]
fn fifty_thousand_entries_give_each_packet_its_own() {
    let entries: Vec<_> = (0..50_000_u32)
        .map(|number| WatchEntry {
            either: Some(Prefix::new(Ipv4Addr::from_bits(0x0a00_0000 + number * 4).into(), 30)),
            action: if number % 2 == 0 { Actions::ALL } else { Actions::REPORT_DROPS },
            ..WatchEntry::default()
        })
        .collect();
    let watchlist = Watchlist::new(&entries);

    for (number, entry) in (0..).zip(&entries).step_by(97) {
        let [_, b, c, d] = (number * 4 + 3_u32).to_be_bytes();
        let subject = flow([192, 0, 2, 1], [10, b, c, d], (1, 2));
        assert_eq!(watchlist.actions(&subject), entry.action, "entry {number}");
    }
    assert_eq!(watchlist.actions(&flow([192, 0, 2, 1], [11, 0, 0, 1], (1, 2))), Actions::NONE);
}

#[test]
fn thousands_of_entries_that_differ_in_ports_only_are_told_apart() {
    let range = |first: u32, length: u32| {
        let first = u16::try_from(first).unwrap();
        Some(PortRange(first..=first + u16::try_from(length).unwrap()))
    };
    let entries: Vec<_> = (0..3_000_u32)
        .map(|number| WatchEntry {
            source_port: range(number * 7, number % 50),
            destination_port: range(60_000 - number * 11, number % 30),
            priority: number % 5,
            action: if number % 3 == 0 { Actions::START_INT } else { Actions::ALL },
            ..WatchEntry::default()
        })
        .collect();
    let watchlist = Watchlist::new(&entries);

    for number in 0..3_000 {
        let ports = u16::try_from(number * 7).unwrap();
        let subject = flow([1, 1, 1, 1], [2, 2, 2, 2], (ports, u16::try_from(60_000 - number * 11).unwrap()));
        assert_eq!(watchlist.actions(&subject), slow_actions(&entries, &subject), "entry {number}");
    }
}

#[test]
fn one_in_n_packets_is_selected_and_drops_always() {
    let sample = NonZeroU32::new(3).unwrap();
    let watchlist = Watchlist::new(&[WatchEntry { sample, ..WatchEntry::default() }]);
    let mut sampling = Sampling::new(&watchlist);
    let subject = flow([1, 1, 1, 1], [2, 2, 2, 2], (1, 2));

    let selected: Vec<_> = (0..7).map(|_| watchlist.select(&subject, &mut sampling).unwrap()).collect();

    let (all, drops) = (Actions::ALL, Actions::REPORT_DROPS);
    assert_eq!(selected, [all, drops, drops, all, drops, drops, all]);
}

#[test]
fn either_and_source_must_both_match() {
    let prefix = |text: &str| Some(text.parse::<Prefix>().unwrap());
    let entry =
        WatchEntry { source: prefix("10.0.0.0/8"), either: prefix("10.1.0.0/16"), ..WatchEntry::default() };
    let watchlist = Watchlist::new(&[entry]);
    let watched = |source, destination| watchlist.actions(&flow(source, destination, (1, 2))) == Actions::ALL;

    assert!(watched([10, 1, 0, 1], [192, 0, 2, 1]));
    assert!(watched([10, 2, 0, 1], [10, 1, 0, 1]));
    assert!(!watched([10, 2, 0, 1], [192, 0, 2, 1]));
    assert!(!watched([192, 0, 2, 1], [10, 1, 0, 1]));
}
