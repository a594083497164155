//! Tests that the spool keeps its messages, in order and within its bound, whatever happens to its files.

use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{Recovered, Spool};
use crate::sample::Folder;

#[test]
fn what_was_put_in_comes_out_in_order_also_after_a_restart() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let id = {
        let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();
        assert_eq!(recovered, Recovered::default());
        put(&mut spool, 0..100);
        assert_eq!(numbers(&mut spool, 7), (0..7).collect::<Vec<_>>());
        assert_eq!(spool.deliver(4), 5);
        assert_eq!(numbers(&mut spool, 3), [5, 6, 7]);
        assert_eq!(numbers(&mut spool, 3), [5, 6, 7], "what is not delivered comes again");
        spool.id()
    };
    let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();
    assert_eq!((recovered, spool.id()), (Recovered { messages: 95, ..Recovered::default() }, id));
    put(&mut spool, 100..110);
    assert_eq!(all(&mut spool), (5..110).collect::<Vec<_>>());
    assert_eq!((spool.waiting(), numbers(&mut spool, 9)), (0, vec![]));
}

#[test]
fn numbers_go_on_when_everything_was_delivered() {
    let folder = Folder::new();
    let path = folder.path("spool");
    for round in 0..4 {
        let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
        put(&mut spool, round * 10..round * 10 + 10);
        assert_eq!(spool.read(1).unwrap()[0].number, u64::from(round) * 10);
        assert_eq!(all(&mut spool).len(), 10);
    }
    let left = files(&path);
    assert!(left.len() <= 1, "{left:?}");
}

#[test]
fn the_oldest_are_dropped_and_counted_where_there_is_no_room() {
    let folder = Folder::new();
    let bound = 40_000;
    let (mut spool, _) = Spool::open(&folder.path("spool"), bound).unwrap();
    let mut dropped = 0;
    for number in 0..10_000 {
        dropped += spool.append(&[payload(number)]).dropped;
        assert!(spool.bytes() <= bound, "{}", spool.bytes());
    }
    assert_eq!(spool.waiting() + dropped, 10_000);
    let left = all(&mut spool);
    assert_eq!(left, (u32::try_from(dropped).unwrap()..10_000).collect::<Vec<_>>());
    assert!(left.len() > 500);
}

#[test]
fn many_at_once_have_no_more_room_than_one_after_the_other() {
    let folder = Folder::new();
    let (mut spool, _) = Spool::open(&folder.path("spool"), 40_000).unwrap();
    let dropped = put(&mut spool, 0..5_000);
    assert!(spool.bytes() <= 40_000, "{}", spool.bytes());
    assert_eq!(dropped + spool.waiting(), 5_000);
    assert_eq!(all(&mut spool), (u32::try_from(dropped).unwrap()..5_000).collect::<Vec<_>>());
}

#[test]
fn what_was_dropped_while_it_was_on_its_way_is_not_counted_as_delivered() {
    let folder = Folder::new();
    let (mut spool, _) = Spool::open(&folder.path("spool"), 40_000).unwrap();
    put(&mut spool, 0..10);
    let on_its_way = spool.read(10).unwrap();
    let dropped: u64 = (10..5_000).map(|number| spool.append(&[payload(number)]).dropped).sum();
    assert!(dropped >= 10);
    assert_eq!(spool.deliver(on_its_way[9].number), 0);
}

#[test]
fn messages_on_their_way_stay_and_others_make_room() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let (mut spool, _) = Spool::open(&path, 40_000).unwrap();
    put(&mut spool, 0..500);
    let on_their_way = spool.read(10).unwrap();
    spool.hold(true);

    let dropped: u64 = (500..5_000).map(|number| spool.append(&[payload(number)]).dropped).sum();

    assert!(dropped > 0 && spool.bytes() <= 40_000);
    assert_eq!(spool.waiting() + dropped, 5_000);
    assert_eq!(spool.deliver(on_their_way[9].number), 10, "none of them was dropped");
    spool.hold(false);
    // The rest is in order, with a gap after the held file.
    drop(spool);
    let (mut spool, Recovered { messages, .. }) = Spool::open(&path, 40_000).unwrap();
    assert_eq!(messages, 5_000 - dropped - 10);
    let left = all(&mut spool);
    assert_eq!(left.len() as u64, messages);
    assert!(left.is_sorted() && left[0] == 10 && left.last() == Some(&4_999));
}

#[test]
fn where_only_messages_on_their_way_could_make_room_new_ones_are_refused() {
    let folder = Folder::new();
    // Room for one file.
    let (mut spool, _) = Spool::open(&folder.path("spool"), 4_000).unwrap();
    put(&mut spool, 0..90);
    let on_their_way = spool.read(90).unwrap();
    spool.hold(true);

    let appended = spool.append(&(90..115).map(payload).collect::<Vec<_>>());

    assert_eq!((appended.dropped, appended.refused, appended.error.is_none()), (0, 25, true));
    assert_eq!(spool.deliver(on_their_way[89].number), 90);
    spool.hold(false);
    assert_eq!(put(&mut spool, 90..95), 0);
    assert_eq!(all(&mut spool), (90..95).collect::<Vec<_>>());
}

#[test]
fn bytes_that_wait_are_those_of_messages_that_are_not_delivered() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let frame = 8 + payload(0).len() as u64;
    let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
    assert_eq!(spool.waiting_bytes(), 0);
    put(&mut spool, 0..100);
    assert_eq!(spool.waiting_bytes(), 100 * frame);
    spool.read(10).unwrap();
    spool.deliver(3);
    assert_eq!(spool.waiting_bytes(), 96 * frame);
    drop(spool);
    let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
    assert_eq!(spool.waiting_bytes(), 96 * frame);
    all(&mut spool);
    assert_eq!((spool.waiting_bytes(), spool.waiting()), (0, 0));
}

#[test]
fn a_large_file_goes_when_everything_in_it_is_delivered() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let (mut spool, _) = Spool::open(&path, 1_000_000_000).unwrap();
    put(&mut spool, 0..40_000);
    assert!(spool.bytes() > 1 << 20);
    all(&mut spool);
    assert_eq!((spool.bytes(), files(&path).len()), (0, 0));
    put(&mut spool, 40_000..40_010);
    assert_eq!(all(&mut spool), (40_000..40_010).collect::<Vec<_>>());
}

#[test]
fn a_file_torn_at_any_byte_keeps_the_messages_before_it() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
    put(&mut spool, 0..3);
    drop(spool);
    let file = files(&path).remove(0);
    let whole = fs::read(&file).unwrap();
    let ends: Vec<_> = (0..=3).map(|number| 8 + number * (8 + payload(0).len())).collect();
    assert_eq!(ends[3], whole.len());
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();
        let kept = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
        let torn = length - if length < 8 { 0 } else { ends[kept] };
        let lost = u64::from(torn > 0 && length > 8);
        let expected =
            Recovered { messages: kept as u64, torn_bytes: torn as u64, lost, ..Recovered::default() };
        assert_eq!(recovered, expected, "torn at {length}");
        let read: Vec<_> = spool.read(9).unwrap().into_iter().map(|entry| entry.payload).collect();
        assert_eq!(read, (0..kept).map(|number| payload(number.try_into().unwrap())).collect::<Vec<_>>());
    }
}

#[test]
fn a_wrong_bit_costs_its_message_alone() {
    let folder = Folder::new();
    let path = folder.path("spool");
    for round in 0..2 {
        put(&mut Spool::open(&path, BOUND).unwrap().0, round * 5..round * 5 + 5);
    }
    let file = files(&path).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let at = 8 + 3 * (8 + payload(0).len()) + 10;
    bytes[at] ^= 4;
    fs::write(&file, bytes).unwrap();

    let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();
    assert_eq!((recovered.messages, recovered.lost, recovered.torn_bytes), (9, 1, 40));
    // Each under its own number.
    let read = spool.read(3).unwrap();
    spool.deliver(read[2].number);
    assert_eq!(spool.read(1).unwrap()[0].number, 4);
    assert_eq!(all(&mut spool), [4, 5, 6, 7, 8, 9]);
}

#[test]
fn messages_behind_a_gap_of_unknown_length_have_numbers_of_their_own() {
    let folder = Folder::new();
    let path = folder.path("spool");
    put(&mut Spool::open(&path, BOUND).unwrap().0, 0..8);
    let file = files(&path).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    // A hole in the second message and most of the third.
    bytes[8 + 45..8 + 115].fill(0);
    fs::write(&file, bytes).unwrap();

    let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();

    assert_eq!((recovered.messages, recovered.lost), (6, 1));
    assert_eq!(numbers(&mut spool, 9), [0]);
    assert_eq!(spool.deliver(0), 1);
    assert_eq!(spool.read(1).unwrap()[0].number, 1 << 32);
    assert_eq!(all(&mut spool), [3, 4, 5, 6, 7]);
}

#[test]
fn a_file_of_another_version_is_set_aside_as_it_is() {
    let folder = Folder::new();
    let path = folder.path("spool");
    put(&mut Spool::open(&path, BOUND).unwrap().0, 0..5);
    let file = files(&path).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    bytes[6] = b'2';
    fs::write(&file, &bytes).unwrap();

    let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();

    assert_eq!((recovered.messages, recovered.unknown), (0, 1));
    assert_eq!(fs::read(file.with_extension("unknown")).unwrap(), bytes);
    put(&mut spool, 5..6);
    assert_eq!(spool.read(1).unwrap()[0].number, 1 << 32);
}

#[test]
fn after_a_restart_of_the_machine_no_number_is_given_twice() {
    let folder = Folder::new();
    let path = folder.path("spool");
    put(&mut Spool::open(&path, BOUND).unwrap().0, 0..5);
    // The machine failed before the last messages were on disk.
    fs::write(path.join(super::boot::NAME), "another start").unwrap();
    // Two starts of the collector, of which the first puts nothing in.
    drop(Spool::open(&path, BOUND).unwrap());
    let (mut spool, recovered) = Spool::open(&path, BOUND).unwrap();
    assert_eq!(recovered.messages, 5);
    put(&mut spool, 5..7);

    let mut found = Vec::new();
    while let Some(entry) = spool.read(1).unwrap().pop() {
        found.push(entry.number);
        spool.deliver(entry.number);
    }

    assert_eq!(found, [0, 1, 2, 3, 4, 1 << 32, (1 << 32) + 1]);
}

#[test]
fn a_position_that_is_spoilt_delivers_everything_again_under_another_id() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
    put(&mut spool, 0..5);
    spool.deliver(2);
    let id = spool.id();
    drop(spool);
    for spoilt in [&b""[..], b"INBPOS1\n", &[0xa5; 28], &[0xa5; 1_000]] {
        fs::write(path.join("POSITION"), spoilt).unwrap();
        let (spool, recovered) = Spool::open(&path, BOUND).unwrap();
        assert_eq!(recovered.messages, 5);
        assert_ne!(spool.id(), id);
    }
}

#[test]
fn a_file_that_changed_under_it_is_left_out_and_counted() {
    let folder = Folder::new();
    let path = folder.path("spool");
    put(&mut Spool::open(&path, BOUND).unwrap().0, 0..5);
    let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
    put(&mut spool, 5..7);
    fs::OpenOptions::new().write(true).open(&files(&path)[0]).unwrap().write_all(&[0xa5; 40]).unwrap();

    assert!(spool.read(9).is_err());
    assert_eq!(spool.skip(), 5);
    assert_eq!(all(&mut spool), [5, 6]);
}

#[test]
fn messages_before_one_that_cannot_be_read_are_read() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let (mut spool, _) = Spool::open(&path, BOUND).unwrap();
    put(&mut spool, 0..5);
    let file = fs::OpenOptions::new().write(true).open(&files(&path)[0]).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[0x5a; 4], 8 + 3 * 40 + 10).unwrap();

    assert_eq!(numbers(&mut spool, 9), [0, 1, 2]);
    spool.deliver(2);
    assert!(spool.read(9).is_err());
    assert_eq!(spool.skip(), 2);
}

#[test]
fn two_do_not_share_a_spool() {
    let folder = Folder::new();
    let first = Spool::open(&folder.path("spool"), BOUND).unwrap();
    assert!(Spool::open(&folder.path("spool"), BOUND).is_err());
    drop(first);
    assert!(Spool::open(&folder.path("spool"), BOUND).is_ok());
}

proptest! {
    /// Compares with a queue in memory: puts, reads, deliveries and restarts in any order.
    #[test]
    fn it_does_what_a_queue_does(steps in proptest::collection::vec((any::<u8>(), 0u32..200), 1..60)) {
        let folder = Folder::new();
        let path = folder.path("spool");
        let mut spool = Spool::open(&path, BOUND).unwrap().0;
        let mut model: VecDeque<(u64, u32)> = VecDeque::new();
        let mut next = 0;
        for (what, amount) in steps {
            match what % 4 {
                0 | 1 => {
                    prop_assert!(put(&mut spool, next..next + amount) == 0);
                    model.extend((next..next + amount).map(|number| (number.into(), number)));
                    next += amount;
                }
                2 => {
                    let most = usize::try_from(amount).unwrap();
                    let read = spool.read(most).unwrap();
                    prop_assert!(read.len() == model.len().min(most) || read.len() < most);
                    prop_assert!(read.is_empty() == (model.is_empty() || most == 0));
                    for (entry, (number, put)) in read.iter().zip(&model) {
                        prop_assert_eq!((entry.number, &entry.payload), (*number, &payload(*put)));
                    }
                    let Some(entry) = read.get(read.len() / 2) else { continue };
                    let delivered = model.iter().filter(|(number, _)| *number <= entry.number).count();
                    prop_assert_eq!(spool.deliver(entry.number), delivered as u64);
                    model.drain(..delivered);
                }
                _ => {
                    drop(spool);
                    let (again, recovered) = Spool::open(&path, BOUND).unwrap();
                    spool = again;
                    let messages = model.len() as u64;
                    prop_assert_eq!(recovered, Recovered { messages, ..Recovered::default() });
                }
            }
            prop_assert_eq!(spool.waiting(), model.len() as u64);
        }
    }
}

/// Appends messages with these numbers; returns how many were dropped for them.
fn put(spool: &mut Spool, numbers: std::ops::Range<u32>) -> u64 {
    let payloads: Vec<_> = numbers.map(payload).collect();
    let appended = spool.append(&payloads);
    assert!(appended.error.is_none(), "{:?}", appended.error);
    appended.dropped
}

fn numbers(spool: &mut Spool, most: usize) -> Vec<u32> {
    let number = |payload: Vec<u8>| u32::from_le_bytes(*payload.first_chunk().unwrap());
    spool.read(most).unwrap().into_iter().map(|entry| number(entry.payload)).collect()
}

/// Reads and delivers everything that is pending.
fn all(spool: &mut Spool) -> Vec<u32> {
    let mut found = Vec::new();
    while let Some(last) = spool.read(64).unwrap().last() {
        found.extend(numbers(spool, 64));
        spool.deliver(last.number);
    }
    found
}

fn payload(number: u32) -> Vec<u8> {
    [&number.to_le_bytes()[..], &[0xa5; 28]].concat()
}

fn files(path: &Path) -> Vec<PathBuf> {
    super::segment::files(path).unwrap().into_iter().map(|(_, path)| path).collect()
}

const BOUND: u64 = 10_000_000;
