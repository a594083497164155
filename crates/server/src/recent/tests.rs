use inband_model::{Nanos, NodeId, ReportReference};
use inband_testkit::{inner_only, report_group};

use super::{BLOCK_BYTES, Recent};
use crate::receive::Batch;

#[test]
fn the_newest_are_kept_in_bounded_memory() {
    let mut recent = Recent::new(4 * BLOCK_BYTES);
    for number in 0..20_000 {
        recent.keep(Nanos(number), batch(number, 500));
        assert!(recent.bytes() <= 4 * BLOCK_BYTES);
    }
    let times: Vec<u64> = times(&recent);
    assert_eq!(times, Vec::from_iter(20_000 - times.len() as u64..20_000), "no hole, the oldest are gone");
    // The content fills the bound up to one block, and each batch costs little more than its bytes.
    assert!(recent.bytes() > 3 * BLOCK_BYTES && times.len() > 3_000, "{} {}", recent.bytes(), times.len());
    let is_there = |number: u64| recent.find(&reference(number)).is_some();
    assert!(is_there(19_999) && is_there(20_000 - times.len() as u64) && !is_there(0));
}

#[test]
fn a_report_is_found_by_its_number_and_time() {
    let mut recent = Recent::new(1 << 20);
    let mut both = Batch::new(Nanos(5), address());
    both.push(address(), b"no report");
    both.push(address(), &report(1, 10));
    both.push(address(), &report(2, 10));
    recent.keep(Nanos(5), both);
    recent.keep(Nanos(6), batch(1, 10));

    let (found, name) = recent.find(&ReportReference { sequence: 2, ..reference(5) }).unwrap();
    assert_eq!((found.bytes, found.time, name.sequence), (&report(2, 10)[..], Nanos(5), 2));
    let other = |wrong| recent.find(&wrong).is_none();
    assert!(other(ReportReference { sequence: 2, ..reference(6) }), "another time");
    assert!(other(ReportReference { sequence: 3, ..reference(5) }), "another number");
    assert!(other(ReportReference { sequence: 1, node_id: NodeId(8), ..reference(5) }), "another node");
}

#[test]
fn one_who_reads_keeps_what_he_reads_and_holds_nothing_up() {
    let mut recent = Recent::new(BLOCK_BYTES);
    recent.keep(Nanos(0), batch(0, 100));
    let read = recent.blocks();
    for number in 1..10_000 {
        recent.keep(Nanos(number), batch(number, 500));
    }
    assert!(recent.bytes() <= BLOCK_BYTES, "what is read counts no more");
    assert_eq!(
        read.iter().flat_map(|block| block.datagrams()).count(),
        1,
        "nothing is added to what is read"
    );
    assert_eq!(times(&recent).last(), Some(&9_999));
}

#[test]
fn questions_make_no_number_of_blocks() {
    let mut recent = Recent::new(BLOCK_BYTES);
    for number in 0..500 {
        let reading = recent.blocks();
        recent.keep(Nanos(2 * number), batch(2 * number, 10));
        drop(reading);
        recent.keep(Nanos(2 * number + 1), batch(2 * number + 1, 10));
    }
    assert_eq!(times(&recent), Vec::from_iter(0..1_000));
    assert!(recent.blocks.len() < 10, "{}", recent.blocks.len());
}

#[test]
fn without_room_nothing_is_kept() {
    let mut recent = Recent::new(0);
    recent.keep(Nanos(1), batch(1, 10));
    assert_eq!((recent.bytes(), recent.blocks().len()), (0, 0));
}

fn times(recent: &Recent) -> Vec<u64> {
    recent
        .blocks()
        .iter()
        .flat_map(|block| block.datagrams().map(|one| one.time.0).collect::<Vec<_>>())
        .collect()
}

fn batch(number: u64, length: usize) -> Batch {
    let mut batch = Batch::new(Nanos(number), address());
    batch.push(address(), &report(number, length));
    batch
}

fn report(number: u64, length: usize) -> Vec<u8> {
    let inner = vec![0; length / 4 * 4];
    let individual = inner_only().flags(0x20).inner(0, &inner);
    report_group(7).sequence(u32::try_from(number).unwrap()).with(individual).build()
}

fn reference(number: u64) -> ReportReference {
    let sequence = u32::try_from(number).unwrap();
    ReportReference { node_id: NodeId(7), hw_id: 0, sequence, received_at: Nanos(number) }
}

fn address() -> std::net::SocketAddr {
    ([127, 0, 0, 1], 1).into()
}
