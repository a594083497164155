//! Reports on known flows and paths allocate no memory.
#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use inband_collector::{Collector, CollectorSettings, Output};
use inband_model::Nanos;
use inband_wire::report::GroupHeader;
use zerocopy::IntoBytes;

use support::{MdPacket, datagram, flow, hop, hops, mx_packet, node_report, sender, session, sink_report};

/// The system allocator, counting the requests of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed unchanged to the system allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn stacks_on_known_paths_allocate_nothing() {
    let packets: Vec<Vec<u8>> = (0..50)
        .map(|number| MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 11, 21, 2])) }.bytes())
        .collect();
    let datagrams: Vec<Vec<u8>> =
        packets.iter().map(|packet| datagram(2, 0, &[&sink_report(packet)])).collect();

    assert_eq!(allocations_of_a_second_run(&datagrams, |step| step), 0);
}

#[test]
fn postcards_of_known_nodes_allocate_nothing() {
    let packets: Vec<Vec<u8>> = (0..50).map(|number| mx_packet(&flow(number), 64)).collect();
    let datagrams: Vec<Vec<u8>> =
        packets.iter().map(|packet| datagram(2, 0, &[&node_report(packet, hop(2, 900, 3))])).collect();

    assert_eq!(allocations_of_a_second_run(&datagrams, |step| step), 0);
}

#[test]
fn reordering_and_small_losses_allocate_for_the_event_once_a_second_and_for_nothing_else() {
    let packet = MdPacket::new(&hops(&[1, 11, 21, 2])).bytes();
    let datagrams = vec![datagram(2, 0, &[&sink_report(&packet)]); 50];

    // Neighbours are swapped, and every fiftieth number is never used.
    let allocations = allocations_of_a_second_run(&datagrams, |step| (step ^ 1) + step / 50 * 2);

    // The run takes two seconds. A continuing loss allocates its key and its evidence.
    assert!(allocations <= 2 * 4, "{allocations}");
}

#[test]
fn malformed_datagrams_allocate_nothing() {
    let datagrams = vec![vec![0x20, 0, 0, 0, 0, 0, 0, 2, 0xff]; 50];

    assert_eq!(allocations_of_a_second_run(&datagrams, |step| step), 0);
}

/// Sends the datagrams around several times, then counts the allocations of another round.
fn allocations_of_a_second_run(datagrams: &[Vec<u8>], sequence: impl Fn(u32) -> u32) -> u64 {
    let mut datagrams = datagrams.to_vec();
    let mut collector = Collector::new(CollectorSettings::default());
    let mut step = 0;
    let mut events = 0;
    let mut run = |rounds: u32| {
        for _ in 0..rounds {
            for datagram in &mut datagrams {
                step += 1;
                let now = Nanos::from_secs(1_700_000_000) + Nanos::from_millis(u64::from(step));
                datagram[..8].copy_from_slice(GroupHeader::new(0, sequence(step), 2).as_bytes());
                collector.handle_datagram(now, sender(), session(), datagram);
                collector.handle_timeout(now);
                while let Some(output) = collector.poll_output() {
                    events += u64::from(matches!(output, Output::Event(_)));
                }
            }
        }
        (ALLOCATIONS.get(), events)
    };

    // Ten seconds: by then the loss has begun, and has its maximum number of cited reports.
    let (before, begun) = run(200);
    let (after, events) = run(40);

    assert!(before > 0, "the first run fills the tables");
    assert!(events - begun <= 1, "{events} events: the run is not as steady as it should be");
    after - before
}
