//! The smart filter allocates its memory once, independent of the number of flows.
#![allow(unsafe_code, reason = "an allocator that counts is unsafe by its trait")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use inband_node::config::{EncapsulationKind, Mode, ReportFilter};
use inband_node::{Frame, Node, Outcome, Passage};
use inband_wire::layers::Link;

use support::{node_config, passage, tcp_frame};

/// Counts the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of flows; ten million with `--release`, fewer in slower builds.
const FLOWS: u32 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
/// The bound in docs/reporting.md: 100 bytes for each stored flow and drop, and 6 MiB.
const MAX_BYTES: usize = (65_536 + 16_384) * 100 + (6 << 20);

#[test]
fn ten_million_flows_take_no_more_memory_than_one() {
    let mut config = node_config(9, (false, false), EncapsulationKind::Dscp, Mode::Xd);
    let open = Node::new(&config).unwrap();
    config.report.filter = ReportFilter::Smart;
    let before = IN_USE.load(Ordering::Relaxed);
    let mut node = Node::new(&config).unwrap();
    let filter = IN_USE.load(Ordering::Relaxed) - before;
    assert!(filter <= MAX_BYTES, "{filter} bytes");

    let frame = tcp_frame(b"");
    let mut buffer = vec![0xa5; 1100 + frame.len()];
    send(&mut node, &frame, &mut buffer, 0);
    let warm = IN_USE.load(Ordering::Relaxed);
    for flow in 0..FLOWS {
        send(&mut node, &frame, &mut buffer, flow);
    }
    let most = warm + (64 << 10);
    let at_the_end = IN_USE.load(Ordering::Relaxed);
    assert!(at_the_end <= most, "{warm} bytes at first, {at_the_end} at the end");
    assert_eq!(node.counters().get(Outcome::NoInt), u64::from(FLOWS) + 1);
    // Every flow was reported; only the first one arrived twice.
    assert_eq!(node.counters().get(Outcome::Reported), u64::from(FLOWS));
    assert_eq!(open.counters().packets(), 0);
}

/// Sends a packet of the flow with this number and discards its report.
fn send(node: &mut Node, frame: &[u8], buffer: &mut [u8], flow: u32) {
    let packet = &mut buffer[1100..];
    packet.copy_from_slice(frame);
    // The destination address distinguishes the flows.
    packet[30..34].copy_from_slice(&(0x0b00_0000 + flow).to_be_bytes());
    let end = buffer.len();
    let mut frame = Frame::new(buffer, 1100..end).unwrap();
    let _ = node.handle_frame(Link::Ethernet, &mut frame, &Passage { ..passage() });
    while node.poll_output().is_some() {}
}
