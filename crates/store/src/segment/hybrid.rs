//! Hybrid encoding of small numbers: runs of equal numbers, and bit-packed ones.
//!
//! This is Parquet's RLE/bit-packing hybrid: a run is a varint of twice its length, then the number in whole
//! bytes; packed numbers are a varint of twice the number of their groups of eight plus one, then their bits,
//! low bits first.

/// A repeated number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) code: u32,
    pub(super) length: u32,
}

/// Appends runs of numbers of at most `width` bits.
pub(super) fn put_runs(bytes: &mut Vec<u8>, width: u32, runs: impl Iterator<Item = Run>) {
    // Numbers to be packed; bounded by the size of a page.
    let mut pending = Vec::new();
    for Run { code, length } in runs {
        let missing = pending.len().next_multiple_of(GROUP) - pending.len();
        let filling = (length as usize).min(missing);
        let rest = length as usize - filling;
        if rest < MIN_RUN {
            pending.extend(std::iter::repeat_n(code, length as usize));
            continue;
        }
        pending.extend(std::iter::repeat_n(code, filling));
        put_packed(bytes, width, &mut pending);
        put_varint(bytes, (rest as u64) << 1);
        bytes.extend_from_slice(&code.to_le_bytes()[..width.div_ceil(8) as usize]);
    }
    put_packed(bytes, width, &mut pending);
}

/// The number of bits of numbers up to this one.
pub(super) fn width_of(greatest: u64) -> u32 {
    u64::BITS - greatest.leading_zeros()
}

pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Appends numbers of `width` bits, low bits first, padded to whole bytes.
#[inline]
pub(super) fn pack(bytes: &mut Vec<u8>, width: u32, numbers: impl Iterator<Item = u64>) {
    let (mut word, mut used) = (0_u64, 0);
    for number in numbers {
        word |= number << used;
        used += width;
        if used >= u64::BITS {
            bytes.extend_from_slice(&word.to_le_bytes());
            used -= u64::BITS;
            // A shift by the full width would leave the number unchanged.
            word = number.checked_shr(width - used).unwrap_or(0);
        }
    }
    bytes.extend_from_slice(&word.to_le_bytes()[..used.div_ceil(8) as usize]);
}

fn put_packed(bytes: &mut Vec<u8>, width: u32, pending: &mut Vec<u32>) {
    if pending.is_empty() {
        return;
    }
    pending.resize(pending.len().next_multiple_of(GROUP), 0);
    put_varint(bytes, (pending.len() / GROUP) as u64 * 2 + 1);
    if width > 0 {
        pack(bytes, width, pending.iter().map(|code| u64::from(*code)));
    }
    pending.clear();
}

/// Packed numbers per group.
const GROUP: usize = 8;
/// Shorter runs are packed with their neighbors.
const MIN_RUN: usize = 16;

#[cfg(test)]
mod tests;
