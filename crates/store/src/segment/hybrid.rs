//! How do small numbers stand in a page? Runs of the same number by their length, others packed bit by bit.
//!
//! This is the RLE/bit-packing hybrid of Parquet: a run is a varint of its length times two and the number in whole
//! bytes; packed numbers are a varint of their groups of eight times two plus one, and their bits, low bits first.

/// So many times the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) code: u32,
    pub(super) length: u32,
}

/// Appends runs of numbers of at most so many bits.
pub(super) fn put_runs(bytes: &mut Vec<u8>, width: u32, runs: impl Iterator<Item = Run>) {
    // Numbers that are to be packed; never more than a page has.
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

/// How many bits the numbers up to this one take.
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

/// Appends numbers of `width` bits, low bits first, filled up to whole bytes.
#[inline]
pub(super) fn pack(bytes: &mut Vec<u8>, width: u32, numbers: impl Iterator<Item = u64>) {
    let (mut word, mut used) = (0_u64, 0);
    for number in numbers {
        word |= number << used;
        used += width;
        if used >= u64::BITS {
            bytes.extend_from_slice(&word.to_le_bytes());
            used -= u64::BITS;
            // A shift by all bits would leave them where they are.
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

/// Packed numbers come in groups of so many.
const GROUP: usize = 8;
/// A shorter run is packed with its neighbours.
const MIN_RUN: usize = 16;

#[cfg(test)]
mod tests;
