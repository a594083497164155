//! A column of numbers in a payload: the minimum, then the difference of each number from it, in 0, 1, 2, 4
//! or 8 bytes each.

use super::cursor::{Cursor, put_number};

/// Appends numbers.
#[inline]
pub(super) fn put_column(bytes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u64> + Clone) {
    let bounds =
        numbers.clone().fold((u64::MAX, 0), |(least, most), number| (number.min(least), number.max(most)));
    let (least, span) = (bounds.0.min(bounds.1), bounds.1.saturating_sub(bounds.0));
    let width = match span {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    bytes.push(width);
    put_number(bytes, least);
    let numbers = numbers.map(|number| number - least);
    match width {
        0 => {}
        1 => put::<1>(bytes, numbers),
        2 => put::<2>(bytes, numbers),
        4 => put::<4>(bytes, numbers),
        _ => put::<8>(bytes, numbers),
    }
}

#[inline]
fn put<const WIDTH: usize>(bytes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u64>) {
    let start = bytes.len();
    bytes.resize(start + WIDTH * numbers.len(), 0);
    for (place, number) in bytes[start..].chunks_exact_mut(WIDTH).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes()[..WIDTH]);
    }
}

/// Reads `count` numbers; `None` if they are missing or do not fit their type.
pub(super) fn get_column<T: TryFrom<u64>>(cursor: &mut Cursor<'_>, count: usize) -> Option<Vec<T>> {
    let [width] = *cursor.bytes()?;
    let least = cursor.number()?;
    if width == 0 {
        return (0..count).map(|_| T::try_from(least).ok()).collect();
    }
    if !matches!(width, 1 | 2 | 4 | 8) {
        return None;
    }
    let bytes = cursor.take(count.checked_mul(width.into())?)?;
    let number = |place: &[u8]| {
        let more = place.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        T::try_from(least.checked_add(more)?).ok()
    };
    bytes.chunks_exact(width.into()).map(number).collect()
}
