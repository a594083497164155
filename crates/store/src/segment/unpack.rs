//! Decoding of bit-packed numbers, runs and differences.

/// Bytes of a page that are read from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// A length in 4 bytes, little endian.
    pub(super) fn length(&mut self) -> Option<usize> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    }

    /// A variable-length number of seven bits per byte, low bits first.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A zigzag-encoded signed number.
    pub(super) fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some(((number >> 1) ^ (number & 1).wrapping_neg()).cast_signed())
    }
}

/// Passes `count` numbers of `width` bits each to `take`, singly or as runs. `None` if they are missing.
#[inline]
pub(super) fn each_run(
    bytes: &mut Bytes<'_>,
    width: u32,
    count: usize,
    mut take: impl FnMut(u32, usize) -> Option<()>,
) -> Option<()> {
    if width > u32::BITS {
        return None;
    }
    let mut left = count;
    while left > 0 {
        let head = bytes.varint()?;
        let length = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let word = bytes.take(width.div_ceil(8) as usize)?;
            let code = word.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte));
            let length = length.min(left);
            if length == 0 {
                return None;
            }
            take(code, length)?;
            left -= length;
        } else {
            let packed = bytes.take(length.checked_mul(width as usize)?)?;
            let there = length.checked_mul(8)?.min(left);
            if there == 0 {
                return None;
            }
            unpack(packed, width, there, |code| take(u32::try_from(code).ok()?, 1))?;
            left -= there;
        }
    }
    Some(())
}

/// Like `each_run`, but passes only the numbers in these rows, in ascending order. `None` if they are
/// missing.
pub(super) fn each_picked(
    bytes: &mut Bytes<'_>,
    width: u32,
    count: usize,
    rows: &[u32],
    mut take: impl FnMut(usize, u32) -> Option<()>,
) -> Option<()> {
    if width > u32::BITS {
        return None;
    }
    let mut rows = rows.iter().map(|row| *row as usize).peekable();
    let mut at = 0_usize;
    while rows.peek().is_some() {
        let head = bytes.varint()?;
        let length = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let word = bytes.take(width.div_ceil(8) as usize)?;
            let code = word.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte));
            let end = at.checked_add(length).filter(|end| *end > at)?.min(count);
            while let Some(row) = rows.next_if(|row| *row < end) {
                take(row, code)?;
            }
            at = end;
        } else {
            let packed = bytes.take(length.checked_mul(width as usize)?)?;
            let end = at.checked_add(length.checked_mul(8)?).filter(|end| *end > at)?.min(count);
            while let Some(row) = rows.next_if(|row| *row < end) {
                take(row, u32::try_from(number_at(packed, width, row - at)?).ok()?)?;
            }
            at = end;
        }
        if at >= count && rows.peek().is_some() {
            return None;
        }
    }
    Some(())
}

/// Passes `count` numbers of `width` bits each, low bits first, to `take`.
#[inline]
pub(super) fn unpack(
    packed: &[u8],
    width: u32,
    count: usize,
    mut take: impl FnMut(u64) -> Option<()>,
) -> Option<()> {
    if count.checked_mul(width as usize)? > packed.len().checked_mul(8)? {
        return None;
    }
    match width {
        8 => packed[..count].iter().try_for_each(|byte| take(u64::from(*byte))),
        16 => {
            let (numbers, _) = packed.as_chunks();
            numbers[..count].iter().try_for_each(|bytes| take(u64::from(u16::from_le_bytes(*bytes))))
        }
        _ => (0..count).try_for_each(|index| take(number_at(packed, width, index)?)),
    }
}

/// One of the numbers of `width` bits each, low bits first; bits after the end are 0.
#[inline]
fn number_at(packed: &[u8], width: u32, index: usize) -> Option<u64> {
    let mask = if width >= u64::BITS { u64::MAX } else { (1 << width) - 1 };
    let bit = index * width as usize;
    let (at, shift) = (bit / 8, u32::try_from(bit % 8).ok()?);
    let word = |at: usize| match packed.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            packed.get(at..).unwrap_or(&[]).iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    };
    let mut number = word(at) >> shift;
    if shift + width > u64::BITS {
        number |= word(at + 8) << (u64::BITS - shift);
    }
    Some(number & mask)
}

/// Appends the first `wanted` of at most `most` delta-encoded numbers to `numbers`.
pub(super) fn take_deltas(
    bytes: &mut Bytes<'_>,
    numbers: &mut Vec<i64>,
    most: usize,
    wanted: usize,
) -> Option<()> {
    let block = usize::try_from(bytes.varint()?).ok()?;
    let parts = usize::try_from(bytes.varint()?).ok()?;
    let count = usize::try_from(bytes.varint()?).ok()?;
    let mut last = bytes.zigzag()?;
    if parts == 0
        || parts > MAX_PARTS
        || block == 0
        || block > MAX_BLOCK
        || block % parts != 0
        || count > most
    {
        return None;
    }
    let part = block / parts;
    let count = count.min(wanted);
    if count == 0 {
        return Some(());
    }
    numbers.push(last);
    let mut left = count - 1;
    while left > 0 {
        let least = bytes.zigzag()?;
        let widths = bytes.take(parts)?;
        for width in widths {
            if left == 0 {
                break;
            }
            let width = u32::from(*width);
            if width > u64::BITS {
                return None;
            }
            let packed = bytes.take((part * width as usize).div_ceil(8))?;
            let there = part.min(left);
            unpack(packed, width, there, |difference| {
                last = last.wrapping_add(least).wrapping_add(difference.cast_signed());
                numbers.push(last);
                Some(())
            })?;
            left -= there;
        }
    }
    Some(())
}

/// Maximum parts per block.
const MAX_PARTS: usize = 64;
/// Maximum differences per block.
const MAX_BLOCK: usize = 1 << 16;
