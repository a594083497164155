//! Numbers byte by byte: first the lowest byte of each, then the next one of each.
//!
//! This is Parquet's BYTE_STREAM_SPLIT. Of numbers without a pattern the high bytes are mostly the same, and compression
//! gives each of the others the bits it needs.

/// Appends numbers.
pub(super) fn put_split(bytes: &mut Vec<u8>, numbers: &[u64]) {
    bytes.reserve(numbers.len() * WIDTH);
    for place in 0..WIDTH {
        bytes.extend(numbers.iter().map(|number| number.to_le_bytes()[place]));
    }
}

/// Appends the first `wanted` of `count` numbers that stand in `bytes` to `numbers`. `None` when they are not there.
pub(super) fn take_split(bytes: &[u8], numbers: &mut Vec<i64>, count: usize, wanted: usize) -> Option<()> {
    if wanted == 0 {
        return Some(());
    }
    let planes = bytes.get(..count.checked_mul(WIDTH)?).filter(|_| wanted <= count)?;
    let before = numbers.len();
    numbers.resize(before + wanted, 0);
    for (place, plane) in planes.chunks_exact(count).enumerate() {
        let plane = &plane[..wanted];
        let first = plane[0];
        if first == 0 && plane.iter().all(|byte| *byte == 0) {
            continue;
        }
        for (number, byte) in numbers[before..].iter_mut().zip(plane) {
            *number |= i64::from(*byte) << (8 * place);
        }
    }
    Some(())
}

/// Bytes of a number.
const WIDTH: usize = 8;

#[cfg(test)]
mod tests;
