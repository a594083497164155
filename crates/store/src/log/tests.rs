use inband_model::{HopColumns, HopRecord, LedgerView, Nanos};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{MAGIC, decode, encode};
use crate::batch::Batch;
use crate::sample::{Numbers, START, any_hop};

fn batch(numbers: &mut Numbers, hops: u64) -> Batch {
    let mut hop = any_hop(numbers, START);
    let mut hops: Vec<HopRecord> = Vec::from_iter((0..hops).map(|_| {
        if numbers.below(2) == 0 {
            hop = any_hop(numbers, Nanos(numbers.0));
        }
        hop
    }));
    hops.truncate(64);
    Batch {
        reports: hops.len() as u64,
        hops: HopColumns::from(&hops[..]),
        ledgers: vec![(START, LedgerView::default())],
        ..Batch::default()
    }
}

fn log(batches: &[Batch]) -> (Vec<u8>, Vec<usize>) {
    let mut log = MAGIC.to_vec();
    let mut ends = vec![log.len()];
    for batch in batches {
        encode(batch, &mut log).unwrap();
        ends.push(log.len());
    }
    (log, ends)
}

fn read(log: &[u8]) -> (Vec<Batch>, usize) {
    let mut batches = Vec::new();
    let whole = decode(log, |batch| batches.push(batch));
    (batches, whole)
}

proptest! {
    #[test]
    fn what_is_written_is_read(seed in any::<u64>(), sizes in proptest::collection::vec(0u64..20, 0..6)) {
        let mut numbers = Numbers(seed);
        let batches: Vec<_> = sizes.iter().map(|hops| batch(&mut numbers, *hops)).collect();
        let (log, _) = log(&batches);
        prop_assert_eq!(read(&log), (batches, log.len()));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut log = MAGIC.to_vec();
        let put = |frame: &mut Vec<u8>| {
            frame.extend_from_slice(&bytes);
            true
        };
        crate::frame::put_frame(&mut log, put).unwrap();
        let (_, whole) = read(&log);
        prop_assert!(whole == MAGIC.len() || whole == log.len());
    }
}

#[test]
fn a_log_torn_at_any_byte_keeps_the_frames_before_it() {
    let mut numbers = Numbers(1);
    let batches: Vec<_> = (1..5).map(|hops| batch(&mut numbers, hops)).collect();
    let (log, ends) = log(&batches);
    for length in 0..log.len() {
        let (found, whole) = read(&log[..length]);
        let expected = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
        assert_eq!(found, batches[..expected], "torn at {length}");
        assert_eq!(whole, if length < MAGIC.len() { 0 } else { ends[expected] }, "torn at {length}");
    }
}

#[test]
fn a_wrong_bit_anywhere_ends_the_log_before_its_frame() {
    let mut numbers = Numbers(2);
    let batches: Vec<_> = (1..4).map(|hops| batch(&mut numbers, hops)).collect();
    let (log, ends) = log(&batches);
    for at in MAGIC.len()..log.len() {
        let mut log = log.clone();
        log[at] ^= 1 << (at % 8);
        let (found, whole) = read(&log);
        let frame = ends.iter().filter(|end| **end <= at).count() - 1;
        assert_eq!((found.as_slice(), whole), (&batches[..frame], ends[frame]), "bit of byte {at}");
    }
}

#[test]
fn a_log_of_the_first_version_is_read_as_it_was_written() {
    let mut numbers = Numbers(11);
    let batches: Vec<_> = [3, 20, 0, 7].into_iter().map(|hops| batch(&mut numbers, hops)).collect();
    let log = include_bytes!("../../testdata/version-1.log");
    assert_eq!(read(log), (batches, log.len()));
    let torn = &log[..log.len() - 1];
    assert_eq!(read(torn).0.len(), 3);
}
