//! Sketches in a compact binary form, for questions that read those of many rows.
//!
//! For each row the length of its pairs; then the pairs of all rows: the difference of a bucket from the one
//! before it, and its count. All are variable-length numbers of seven bits per byte, low bits first.

use super::bucket::LAST_BUCKET;
use super::text::each_pair;

/// The sketches of some rows, by row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PackedSketches {
    /// Where the pairs of each row end.
    ends: Vec<u32>,
    pairs: Vec<u8>,
}

impl PackedSketches {
    /// The compact form of these texts; `None` if one of them is not the text of a sketch.
    pub(crate) fn pack<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Vec<u8>> {
        let (mut lengths, mut pairs) = (Vec::new(), Vec::new());
        for text in texts {
            let (start, mut before) = (pairs.len(), 0);
            each_pair(text, |bucket, count| {
                put_number(&mut pairs, u64::from(bucket.checked_sub(before)?));
                put_number(&mut pairs, count);
                before = bucket;
                Some(())
            })?;
            put_number(&mut lengths, (pairs.len() - start) as u64);
        }
        lengths.append(&mut pairs);
        Some(lengths)
    }

    /// The sketches of `rows` rows; `None` if these are not their bytes.
    pub(crate) fn read(mut bytes: &[u8], rows: usize) -> Option<Self> {
        // Each length takes at least one byte.
        let mut ends = Vec::with_capacity(rows.min(bytes.len()));
        let mut end = 0_u32;
        for _ in 0..rows {
            end = end.checked_add(u32::try_from(take_number(&mut bytes)?).ok()?)?;
            ends.push(end);
        }
        (bytes.len() == end as usize).then(|| Self { ends, pairs: bytes.to_vec() })
    }

    /// Passes each bucket of a row's sketch to `take`, with its count, up to the first invalid pair.
    pub(crate) fn each(&self, row: usize, mut take: impl FnMut(u32, u64)) {
        let start =
            row.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let pairs = self.ends.get(row).and_then(|end| self.pairs.get(start..*end as usize));
        let (mut pairs, mut bucket) = (pairs.unwrap_or_default(), 0_u64);
        while !pairs.is_empty() {
            let count = match *pairs {
                [difference @ 0..0x80, count @ 0..0x80, ref rest @ ..] => {
                    bucket += u64::from(difference);
                    pairs = rest;
                    count.into()
                }
                _ => {
                    let Some(difference) = take_number(&mut pairs) else { return };
                    let Some(count) = take_number(&mut pairs) else { return };
                    bucket = bucket.saturating_add(difference);
                    count
                }
            };
            match u32::try_from(bucket) {
                Ok(bucket) if bucket <= LAST_BUCKET => take(bucket, count),
                _ => return,
            }
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.pairs.capacity()
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.extend((number | 0x80).to_le_bytes().first());
        number >>= 7;
    }
    bytes.extend(number.to_le_bytes().first());
}

#[inline]
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
