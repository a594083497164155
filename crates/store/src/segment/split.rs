//! Byte-split numbers: the lowest byte of each number, then the next byte of each, and so on.
//!
//! This is Parquet's BYTE_STREAM_SPLIT. In numbers without a pattern the high bytes are mostly equal, and
//! compression gives the others the bits that they need.

use std::ops::Range;

/// Appends numbers.
pub(super) fn put_split(bytes: &mut Vec<u8>, numbers: &[u64]) {
    bytes.reserve(numbers.len() * WIDTH);
    for place in 0..WIDTH {
        bytes.extend(numbers.iter().map(|number| number.to_le_bytes()[place]));
    }
}

/// Appends the first `wanted` of the `count` numbers in `bytes` to `numbers`. `None` if they are missing.
pub(super) fn take_split(bytes: &[u8], numbers: &mut Vec<i64>, count: usize, wanted: usize) -> Option<()> {
    if wanted == 0 {
        return Some(());
    }
    let Planes { base, differing } = Planes::of(bytes, count, wanted)?;
    let before = numbers.len();
    numbers.resize(before + wanted, base);
    // As many at once as fit the cache while they are assembled.
    for (part, numbers) in numbers[before..].chunks_mut(AT_ONCE).enumerate() {
        let start = part * AT_ONCE;
        for (shift, plane) in &differing {
            for (number, byte) in numbers.iter_mut().zip(&plane[start..]) {
                *number |= i64::from(*byte) << shift;
            }
        }
    }
    Some(())
}

/// Appends those of the `count` numbers in `bytes` that are in `rows`, in ascending order, to `numbers`.
/// `None` if they are missing.
pub(super) fn pick_split(bytes: &[u8], numbers: &mut Vec<i64>, count: usize, rows: &[u32]) -> Option<()> {
    let planes = bytes.get(..count.checked_mul(WIDTH)?)?;
    if rows.last().is_some_and(|last| *last as usize >= count) {
        return None;
    }
    numbers.extend(rows.iter().map(|row| number_at(planes, count, *row as usize)));
    Some(())
}

/// The rows of the `count` ascending numbers in `bytes` that are from `least` to `greatest`. `None` if they
/// are missing.
pub(super) fn sorted_split(bytes: &[u8], count: usize, least: i64, greatest: i64) -> Option<Range<usize>> {
    let planes = bytes.get(..count.checked_mul(WIDTH)?)?;
    let first = |is_before: &dyn Fn(i64) -> bool| {
        let (mut start, mut end) = (0, count);
        while start < end {
            let middle = start + (end - start) / 2;
            if is_before(number_at(planes, count, middle)) { start = middle + 1 } else { end = middle }
        }
        start
    };
    let start = first(&|number| number < least);
    Some(start..first(&|number| number <= greatest).max(start))
}

/// The number in a row, out of the `count` numbers in `planes`.
fn number_at(planes: &[u8], count: usize, row: usize) -> i64 {
    i64::from_le_bytes(std::array::from_fn(|place| planes[place * count + row]))
}

/// The bytes of numbers, by significance.
struct Planes<'a> {
    /// The bytes that all numbers share.
    base: i64,
    /// The other bytes: their shift in bits, and the bytes of all numbers.
    differing: Vec<(usize, &'a [u8])>,
}

impl<'a> Planes<'a> {
    /// The planes of the first `wanted` of `count` numbers.
    fn of(bytes: &'a [u8], count: usize, wanted: usize) -> Option<Self> {
        let planes = bytes.get(..count.checked_mul(WIDTH)?).filter(|_| wanted <= count)?;
        let mut all = Self { base: 0, differing: Vec::with_capacity(WIDTH) };
        for (place, plane) in planes.chunks_exact(count).enumerate() {
            let plane = &plane[..wanted];
            // Each byte equals the next one.
            match plane[1..] == plane[..wanted - 1] {
                true => all.base |= i64::from(plane[0]) << (8 * place),
                false => all.differing.push((8 * place, plane)),
            }
        }
        Some(all)
    }
}

/// Numbers that are assembled at once.
const AT_ONCE: usize = 1_024;
/// Bytes per number.
const WIDTH: usize = 8;

#[cfg(test)]
mod tests;
