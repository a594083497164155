//! Delta encoding of ascending numbers: differences, packed into as few bits as 32 of them need.
//!
//! This is Parquet's DELTA_BINARY_PACKED: a header, then blocks of the minimum difference, a width for each
//! part of the block, and the parts.

use super::hybrid::{pack, put_varint, width_of};

/// Appends numbers, which are encoded as signed.
pub(super) fn put_deltas(bytes: &mut Vec<u8>, numbers: &[u64]) {
    put_varint(bytes, BLOCK as u64);
    put_varint(bytes, (BLOCK / PART) as u64);
    put_varint(bytes, numbers.len() as u64);
    let Some((first, rest)) = numbers.split_first() else { return put_varint(bytes, 0) };
    put_varint(bytes, zigzag(*first));
    let mut before = *first;
    let mut differences = [0; BLOCK];
    for block in rest.chunks(BLOCK) {
        let differences = &mut differences[..block.len()];
        for (difference, number) in differences.iter_mut().zip(block) {
            *difference = number.wrapping_sub(before);
            before = *number;
        }
        put_block(bytes, differences);
    }
}

fn put_block(bytes: &mut Vec<u8>, differences: &mut [u64]) {
    let least = differences.iter().map(|difference| difference.cast_signed()).min().unwrap_or(0);
    put_varint(bytes, zigzag(least.cast_unsigned()));
    let widths = bytes.len();
    bytes.resize(widths + BLOCK / PART, 0);
    for (index, part) in differences.chunks_mut(PART).enumerate() {
        let mut all = 0;
        for difference in part.iter_mut() {
            *difference = difference.wrapping_sub(least.cast_unsigned());
            all |= *difference;
        }
        let width = width_of(all);
        bytes[widths + index] = width.to_le_bytes()[0];
        if width > 0 {
            let padding = std::iter::repeat_n(0, PART - part.len());
            pack(bytes, width, part.iter().copied().chain(padding));
        }
    }
}

fn zigzag(number: u64) -> u64 {
    (number << 1) ^ (number >> 63).wrapping_neg()
}

/// Differences per block; Parquet requires a multiple of 128.
const BLOCK: usize = 128;
/// Differences that share a width; Parquet requires a multiple of 32.
const PART: usize = 32;
