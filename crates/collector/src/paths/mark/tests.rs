//! Reports of one flow and their order.

use inband_model::{Hop, Nanos, NodeId, ReportReference};

use super::{Mark, Order};
use crate::ledger::Arrival;
use crate::report::HopReading;

const MS: u64 = 1_000_000;
const SETTLE: Nanos = Nanos::from_millis(500);

#[test]
fn numbers_tell_what_was_sent_before_where_the_stream_was_reordered() {
    let (first, second) = (numbered(7, 0), numbered(8, 10));
    let after_wrap = numbered(1, 10);

    assert_eq!(second.order(&first, Arrival::Reordered, SETTLE), Order::Older);
    assert_eq!(after_wrap.order(&numbered(0x3f_fffe, 20), Arrival::Late, SETTLE), Order::Older);
    assert_eq!(first.order(&second, Arrival::Reordered, SETTLE), Order::Unknown);
}

#[test]
fn a_number_is_compared_only_where_others_of_its_stream_have_overtaken_it() {
    // The node has restarted in between.
    assert_eq!(numbered(5_000, 0).order(&numbered(3, 10), Arrival::InOrder, SETTLE), Order::Unknown);
    let elsewhere = Mark { session: 9, ..numbered(3, 10) };
    assert_eq!(numbered(5_000, 0).order(&elsewhere, Arrival::Reordered, SETTLE), Order::Unknown);
}

#[test]
fn timestamps_tell_whatever_the_numbers_say() {
    // 400 ms late: its packet was 300 ms earlier, and it arrives 100 ms later.
    let (known, late) = (stamped(1_000, 0), stamped(700, 100));

    assert_eq!(known.order(&late, Arrival::InOrder, SETTLE), Order::Older);
    assert_eq!(known.order(&stamped(1_001, 1), Arrival::Reordered, SETTLE), Order::Newer);
}

#[test]
fn what_is_later_than_it_may_be_is_told_from_what_is_late() {
    let known = stamped(1_000, 0);

    assert_eq!(known.order(&stamped(600, 100), Arrival::InOrder, SETTLE), Order::Older);
    assert_eq!(known.order(&stamped(599, 100), Arrival::InOrder, SETTLE), Order::TooLate);
    // Set forward, or with another unit.
    assert_eq!(known.order(&stamped(9_000, 100), Arrival::InOrder, SETTLE), Order::Unknown);
}

#[test]
fn narrow_timestamps_go_round() {
    let narrow = |at: u64, arrived| mark(1, (at * MS) & u64::from(u32::MAX), false, arrived);
    // 4294 ms is just before the wrap.
    assert_eq!(narrow(4_294, 0).order(&narrow(4_300, 6), Arrival::InOrder, SETTLE), Order::Newer);
    assert_eq!(narrow(4_300, 6).order(&narrow(4_294, 7), Arrival::InOrder, SETTLE), Order::Older);
    let long = Nanos::from_secs(5);
    assert_eq!(narrow(4_300, 6).order(&narrow(4_294, 7), Arrival::InOrder, long), Order::Unknown);
}

fn numbered(sequence: u32, arrived_ms: u64) -> Mark {
    let received_at = Nanos::from_secs(9) + Nanos::from_millis(arrived_ms);
    Mark::new(ReportReference { node_id: NodeId(2), hw_id: 0, sequence, received_at }, 1, &[])
}

fn stamped(at_ms: u64, arrived_ms: u64) -> Mark {
    mark(1, at_ms * MS, true, arrived_ms)
}

fn mark(node_id: u32, time: u64, is_wide: bool, arrived_ms: u64) -> Mark {
    let hop = Hop { node_id: NodeId(node_id), ingress_interface: None, egress_interface: None };
    let mut reading = HopReading { hop, has_wide_clock: is_wide, ..HopReading::EMPTY };
    reading.metadata.ingress_timestamp = Some(time);
    let known = numbered(1, arrived_ms);
    Mark::new(known.report, 1, &[reading])
}
