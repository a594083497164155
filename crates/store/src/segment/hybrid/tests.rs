use proptest::prelude::{any, prop_assert_eq, proptest};

use super::{Run, pack, put_runs, width_of};
use crate::segment::unpack::{Bytes, each_picked};

/// Reads what `put_runs` writes, slowly and bit by bit.
fn read(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
    let (mut numbers, mut at) = (Vec::new(), 0);
    while numbers.len() < count {
        let mut header = 0_usize;
        for shift in (0..).step_by(7) {
            header |= usize::from(bytes[at] & 0x7f) << shift;
            at += 1;
            if bytes[at - 1] & 0x80 == 0 {
                break;
            }
        }
        let bit = |first: usize, bit: usize| u32::from(bytes[first + bit / 8] >> (bit % 8) & 1);
        let number = |first, bits: usize| {
            (0..width as usize).fold(0, |all, place| all | bit(first, bits + place) << place)
        };
        if header & 1 == 0 {
            numbers.extend(std::iter::repeat_n(number(at, 0), header >> 1));
            at += width.div_ceil(8) as usize;
        } else {
            numbers.extend((0..header >> 1 << 3).map(|index| number(at, index * width as usize)));
            at += (header >> 1) * width as usize;
        }
    }
    assert_eq!(at, bytes.len());
    numbers.truncate(count);
    numbers
}

proptest! {
    #[test]
    fn runs_are_read_as_they_were_written(
        runs in proptest::collection::vec((any::<u32>(), 1u32..40), 0..40),
        width in 0u32..=32,
    ) {
        let mask = 1_u64.checked_shl(width).map_or(0, |end| end - 1);
        let code = |code: u32| u32::try_from(u64::from(code) & mask).unwrap();
        let runs: Vec<_> = runs.iter().map(|(word, length)| Run { code: code(*word), length: *length }).collect();
        let mut bytes = Vec::new();
        put_runs(&mut bytes, width, runs.iter().copied());
        let expected: Vec<u32> =
            runs.iter().flat_map(|run| std::iter::repeat_n(run.code, run.length as usize)).collect();
        prop_assert_eq!(read(&bytes, width, expected.len()), &expected[..]);
        // Some of the rows, as a selective question reads them.
        let rows: Vec<u32> = (0..u32::try_from(expected.len()).unwrap()).filter(|row| row % 3 == 1).collect();
        let mut found = Vec::new();
        each_picked(&mut Bytes(&bytes), width, expected.len(), &rows, |row, code| {
            found.push((row, code));
            Some(())
        })
        .unwrap();
        let at = |row: &u32| (*row as usize, expected[*row as usize]);
        prop_assert_eq!(found, rows.iter().map(at).collect::<Vec<_>>());
        let behind = [u32::try_from(expected.len()).unwrap()];
        prop_assert_eq!(each_picked(&mut Bytes(&bytes), width, expected.len(), &behind, |_, _| Some(())), None);
    }
}

#[test]
fn numbers_of_every_width_are_packed_low_bits_first() {
    for width in 1..=64 {
        let all = u64::MAX >> (64 - width);
        let numbers = [all, 0, 1, all, all - 1, 0, all];
        let mut bytes = Vec::new();
        pack(&mut bytes, width, numbers.into_iter());
        let bit = |place: u32| u64::from(bytes[place as usize / 8] >> (place % 8) & 1);
        for (index, number) in (0..).zip(numbers) {
            let read = (0..width).fold(0, |read, place| read | bit(index * width + place) << place);
            assert_eq!(read, number, "{width} bits");
        }
        assert_eq!(bytes.len(), (7 * width).div_ceil(8) as usize);
    }
}

#[test]
fn a_width_holds_its_number_and_no_larger_one() {
    assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(width_of), [0, 1, 2, 8, 9, 64]);
}
