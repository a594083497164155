use inband_model::{HopColumns, HopRecord, LedgerView, Nanos};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{LOG_HEADER_BYTES, Outcome, Salt, codec, decode, encode, header};
use crate::batch::Batch;
use crate::sample::{Numbers, START, any_hop, with_evidence};

fn batch(numbers: &mut Numbers, hops: u64) -> Batch {
    let mut hop = any_hop(numbers, START);
    let mut hops: Vec<HopRecord> = Vec::from_iter((0..hops).map(|_| {
        if numbers.below(2) == 0 {
            hop = any_hop(numbers, Nanos(numbers.0));
        }
        hop
    }));
    hops.truncate(64);
    with_evidence(Batch {
        reports: hops.len() as u64,
        hops: HopColumns::from(&hops[..]),
        ledgers: vec![(START, LedgerView::default())],
        ..Batch::default()
    })
}

fn log(batches: &[Batch]) -> (Vec<u8>, Vec<usize>) {
    let salt = Salt::draw();
    let mut log = header(salt).to_vec();
    let mut ends = vec![log.len()];
    for batch in batches {
        encode(batch, salt, &mut log).unwrap();
        ends.push(log.len());
    }
    (log, ends)
}

fn read(log: &[u8]) -> (Vec<Batch>, Outcome) {
    let mut batches = Vec::new();
    let outcome = decode(log, |batch| batches.push(batch));
    (batches, outcome)
}

/// The outcome of an undamaged log.
fn whole(log: &[u8]) -> Outcome {
    Outcome { whole: log.len(), ..Outcome::default() }
}

proptest! {
    #[test]
    fn what_is_written_is_read(seed in any::<u64>(), sizes in proptest::collection::vec(0u64..20, 0..6)) {
        let mut numbers = Numbers(seed);
        let batches: Vec<_> = sizes.iter().map(|hops| batch(&mut numbers, *hops)).collect();
        let (log, _) = log(&batches);
        prop_assert_eq!(read(&log), (batches, whole(&log)));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let salt = Salt::draw();
        let mut log = header(salt).to_vec();
        let put = |frame: &mut Vec<u8>| {
            frame.extend_from_slice(&bytes);
            true
        };
        salt.put_frame(&mut log, put).unwrap();
        let (_, outcome) = read(&log);
        prop_assert!(outcome == whole(&log) || outcome.damaged == std::slice::from_ref(&(LOG_HEADER_BYTES..log.len())));
        read(&bytes);
    }
}

#[test]
fn a_log_torn_at_any_byte_keeps_the_frames_before_it() {
    let mut numbers = Numbers(1);
    let batches: Vec<_> = (1..5).map(|hops| batch(&mut numbers, hops)).collect();
    let (log, ends) = log(&batches);
    for length in 0..log.len() {
        let (found, outcome) = read(&log[..length]);
        let expected = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
        assert_eq!(found, batches[..expected], "torn at {length}");
        let whole = if length < LOG_HEADER_BYTES { 0 } else { ends[expected] };
        let expected = Outcome { whole, torn: length - whole, ..Outcome::default() };
        assert_eq!(outcome, expected, "torn at {length}");
    }
}

#[test]
fn a_wrong_bit_in_a_log_costs_its_block_alone_and_is_named() {
    let mut numbers = Numbers(2);
    let batches: Vec<_> = (1..5).map(|hops| batch(&mut numbers, hops)).collect();
    let (log, ends) = log(&batches);
    for bit in 0..log.len() * 8 {
        let at = bit / 8;
        let mut log = log.clone();
        log[at] ^= 1 << (bit % 8);
        let (found, outcome) = read(&log);
        let mut expected = batches.clone();
        let frame = ends.iter().filter(|end| **end <= at).count().checked_sub(1);
        let place = frame.map_or(0..LOG_HEADER_BYTES, |frame| ends[frame]..ends[frame + 1]);
        frame.map(|frame| expected.remove(frame));
        assert_eq!(found, expected, "bit {bit}");
        // An unreadable header at the end may be one that was being written.
        let torn = log.len() - outcome.torn..log.len();
        assert!(outcome.damaged == [place.clone()] || torn == place, "bit {bit}: {outcome:?}");
    }
}

#[test]
fn bytes_that_are_missing_or_too_many_cost_the_blocks_they_touch() {
    let mut numbers = Numbers(3);
    let batches: Vec<_> = (1..8).map(|hops| batch(&mut numbers, hops)).collect();
    let (log, ends) = log(&batches);
    let last = batches.len() - 1;
    for at in (ends[1]..ends[last]).step_by(7) {
        let gone = at..(at + 30).min(ends[last]);
        let short = [&log[..gone.start], &log[gone.end..]].concat();
        let long = [&log[..at], &[0xa5; 30], &log[at..]].concat();
        for damaged in [short, long] {
            let (found, outcome) = read(&damaged);
            // Bytes shifted into a gap may equal those removed, and leave a block intact.
            let is_whole = |index: &usize| {
                let block = &log[ends[*index]..ends[index + 1]];
                damaged.windows(block.len()).any(|bytes| bytes == block)
            };
            let whole: Vec<_> = (0..=last).filter(is_whole).map(|index| batches[index].clone()).collect();
            assert_eq!(found, whole, "at {at}");
            assert!(!outcome.damaged.is_empty(), "at {at}: {outcome:?}");
        }
    }
}

#[test]
fn a_block_inside_of_a_payload_is_not_taken_for_one() {
    let (salt, other) = (Salt::draw(), Salt::draw());
    let mut forged = Vec::new();
    encode(&batch(&mut Numbers(4), 3), other, &mut forged).unwrap();
    let mut log = header(salt).to_vec();
    encode(&batch(&mut Numbers(5), 3), salt, &mut log).unwrap();
    let start = log.len();
    let put = |frame: &mut Vec<u8>| {
        frame.extend_from_slice(&forged);
        true
    };
    salt.put_frame(&mut log, put).unwrap();
    log[start] ^= 1;

    let (found, outcome) = read(&log);

    assert_eq!((found.len(), outcome.torn), (1, log.len() - start));
}

#[test]
fn a_wrong_bit_in_a_log_of_an_earlier_version_costs_its_block_where_the_length_is_right() {
    let log = include_bytes!("../../testdata/version-1.log");
    let all = read(log).0;
    let mut log = log.to_vec();
    // The last byte of the first frame's payload.
    let first = 8 + 8 + u32::from_le_bytes(log[8..12].try_into().unwrap()) as usize;
    log[first - 1] ^= 1;

    let (found, outcome) = read(&log);

    assert_eq!(found, all[1..]);
    assert_eq!((outcome.damaged.as_slice(), outcome.torn), (std::slice::from_ref(&(8..first)), 0));
}

#[test]
fn a_log_of_the_first_version_is_read_as_it_was_written() {
    let mut numbers = Numbers(11);
    // That version has no evidence.
    let batch = |hops| Batch { evidence: Vec::new(), ..batch(&mut numbers, hops) };
    let batches: Vec<_> = [3, 20, 0, 7].into_iter().map(batch).collect();
    let log = include_bytes!("../../testdata/version-1.log");
    assert_eq!(read(log), (batches, whole(log)));
    let torn = &log[..log.len() - 1];
    assert_eq!(read(torn).0.len(), 3);
}

#[test]
fn an_event_of_an_unknown_kind_takes_nothing_else_of_its_batch_with_it() {
    let batch = batch(&mut Numbers(7), 3);
    let (mut payload, mut hops) = (Vec::new(), Vec::new());
    assert!(codec::encode(&batch, &mut payload));
    assert!(codec::encode(&Batch { ledgers: vec![], evidence: vec![], ..batch.clone() }, &mut hops));
    let json = String::from_utf8(payload.split_off(hops.len())).unwrap();
    let json = json.replace("\"events\":[]", "\"events\":[{\"event\":\"of-a-later-version\"}]");
    assert!(json.contains("later"), "{json}");
    let salt = Salt::draw();
    let mut log = header(salt).to_vec();
    let put = |frame: &mut Vec<u8>| {
        frame.extend_from_slice(&hops);
        frame.extend_from_slice(json.as_bytes());
        true
    };
    salt.put_frame(&mut log, put).unwrap();

    let (found, outcome) = read(&log);

    assert_eq!(found, [batch]);
    assert_eq!(outcome.damaged, std::slice::from_ref(&(LOG_HEADER_BYTES..log.len())));
    assert_eq!((outcome.whole, outcome.torn), (log.len(), 0));
}
