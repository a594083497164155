//! Memory stays within its bound, whatever senders forge.
#![allow(unsafe_code, reason = "measuring memory takes an allocator")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use inband_collector::{
    BalanceSettings, Collector, CollectorSettings, DropSettings, EventSettings, PathSettings, PortSettings,
};
use inband_model::Nanos;
use inband_wire::report::{Draft, Drop, GroupHeader};
use zerocopy::IntoBytes;

use support::{
    MdPacket, datagram, flow, hop, hop_via, hops, node_report, plain_packet, sender, session, sink_report,
};

/// The system allocator, counting the bytes held by each thread.
struct Measuring;

thread_local! {
    static HELD_BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed unchanged to the system allocator, which keeps the contract.
unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD_BYTES.set(HELD_BYTES.get().wrapping_add(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.set(HELD_BYTES.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD_BYTES.set(HELD_BYTES.get().wrapping_add(size).wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Measuring = Measuring;

#[test]
fn spoofed_node_ids_do_not_add_to_memory_once_the_tables_are_full() {
    assert_bounded(small_tables(), 40_000, 8 << 20, spoofed_node);
}

#[test]
fn flows_do_not_add_to_memory_once_the_tables_are_full() {
    assert_bounded(small_tables(), 40_000, 8 << 20, new_flow);
    assert_bounded(small_tables(), 40_000, 8 << 20, new_flow_of_one_node);
}

#[test]
fn paths_and_drops_that_are_all_different_do_not_either() {
    assert_bounded(small_tables(), 40_000, 8 << 20, new_path);
    assert_bounded(small_tables(), 40_000, 8 << 20, new_drop);
    assert_bounded(small_tables(), 40_000, 8 << 20, new_choice);
}

#[test]
fn interfaces_that_have_been_silent_make_room_for_others() {
    let mut collector = Collector::new(small_tables());
    let start = Nanos::from_secs(1_700_000_000);
    let mut send = |at: Nanos, numbers: std::ops::Range<u32>| {
        for number in numbers {
            collector.handle_datagram(at, sender(), session(), &spoofed_node(number));
        }
        collector.handle_timeout(at);
        while collector.poll_output().is_some() {}
        let ports: Vec<_> = collector.ports().collect();
        let nodes: Vec<u32> = ports.iter().map(|port| port.node_id.0).collect();
        (nodes, collector.queues().count(), collector.overflows().unfollowed_ports)
    };

    let (nodes, queues, _) = send(start, 1..301);
    assert_eq!((nodes.len(), queues), (200, 200));
    // One of them speaks again; the others are silent for five minutes.
    send(start + Nanos::from_secs(200), 7..8);
    let later = start + Nanos::from_secs(301);
    send(later, 301..302);
    let (nodes, queues, _) = send(later + Nanos::from_secs(11), 302..352);
    assert!(nodes.contains(&7) && (302..352).all(|node| nodes.contains(&node)), "{nodes:?}");
    assert!((8..301).all(|node| !nodes.contains(&node)), "{nodes:?}");
    assert_eq!(queues, 51, "{nodes:?}");
}

#[test]
#[ignore = "takes a minute or two; run it with --release"]
fn ten_million_of_each_stay_within_the_default_bounds() {
    for report in [spoofed_node, new_flow, new_flow_of_one_node, new_path, new_drop] {
        assert_bounded(CollectorSettings::default(), 5_000_000, 700 << 20, report);
    }
}

/// Sends `count` reports twice: memory stays below the bound, and the second half adds next to nothing.
fn assert_bounded(settings: CollectorSettings, count: u32, bound_bytes: usize, report: fn(u32) -> Vec<u8>) {
    let before = HELD_BYTES.get();
    let held = || HELD_BYTES.get().wrapping_sub(before);
    let mut collector = Collector::new(settings);
    let mut send = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let now = Nanos::from_secs(1_700_000_000) + Nanos::from_micros(u64::from(number));
            collector.handle_datagram(now, sender(), session(), &report(number));
            if number % 64 == 0 {
                collector.handle_timeout(now);
            }
            while collector.poll_output().is_some() {}
        }
    };

    send(0..count);
    let half = held();
    send(count..2 * count);
    let whole = held();

    println!("{} KiB after {count}, {} KiB after twice as many", half >> 10, whole >> 10);
    assert!(whole <= bound_bytes, "{whole} bytes are held");
    // A hash table may double once more, depending on its hashes.
    assert!(whole <= half + half / 3, "{half} bytes grew to {whole}");
    assert_eq!(collector.ledger().accepted, u64::from(count) * 2);
}

fn small_tables() -> CollectorSettings {
    let mut settings = CollectorSettings {
        paths: PathSettings {
            max_flows: 1_000,
            max_paths: 1_000,
            max_links: 1_000,
            ..PathSettings::default()
        },
        ports: PortSettings { max_ports: 200, max_queues: 400 },
        events: EventSettings {
            max_active: 200,
            max_past: 200,
            drop: DropSettings { max_groups: 200, ..DropSettings::default() },
            ecmp_imbalance: BalanceSettings { max_choices: 200, ..BalanceSettings::default() },
            ..EventSettings::default()
        },
        ..CollectorSettings::default()
    };
    settings.ledger.max_streams = 500;
    settings
}

fn spoofed_node(number: u32) -> Vec<u8> {
    let packet = plain_packet(&flow(1), 64);
    datagram(number, number, &[&node_report(&packet, hop(number, 900_000, 3))])
}

fn new_flow(number: u32) -> Vec<u8> {
    let packet = MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 11, 2])) }.bytes();
    numbered(&sink_report(&packet), number)
}

fn new_flow_of_one_node(number: u32) -> Vec<u8> {
    let packet = plain_packet(&flow(number), 64);
    numbered(&node_report(&packet, hop(2, 900, 3)), number)
}

/// A path of nodes not seen before.
fn new_path(number: u32) -> Vec<u8> {
    let nodes = [number * 3, number * 3 + 1, number * 3 + 2];
    let packet = MdPacket { flow: flow(number % 5_000), ..MdPacket::new(&hops(&nodes)) }.bytes();
    numbered(&sink_report(&packet), number)
}

/// Another interface towards one of many nodes.
fn new_choice(number: u32) -> Vec<u8> {
    let [egress, ..] = number.to_le_bytes();
    let way = [hop_via(1, 1, egress.into(), 900, 0), hop(number >> 8, 900, 0), hop(number >> 4, 900, 0)];
    let packet = MdPacket { flow: flow(number % 500), ..MdPacket::new(&way) }.bytes();
    numbered(&sink_report(&packet), number)
}

/// A drop for any reason and queue, at one of many nodes.
fn new_drop(number: u32) -> Vec<u8> {
    let [reason, queue_id, ..] = number.to_le_bytes();
    let packet = plain_packet(&flow(number), 64);
    let draft = Draft {
        dropped: true,
        instructions: inband_wire::int::Instructions(0xfc01),
        drop: Some(Drop { queue_id, reason }),
        ..node_report(&packet, hop(number >> 6, 900, 3))
    };
    numbered(&draft, number)
}

fn numbered(report: &Draft<'_>, number: u32) -> Vec<u8> {
    let mut bytes = datagram(2, 0, &[report]);
    bytes[..8].copy_from_slice(GroupHeader::new(0, number, 2).as_bytes());
    bytes
}
