//! The text of a sketch: `bucket:count` pairs.

use super::bucket::LAST_BUCKET;

/// Passes each bucket of a sketch's text to `take`, with its count, up to the first invalid pair.
pub(crate) fn parse_pairs(text: &str, mut take: impl FnMut(u32, u64)) {
    let mut bytes = text.as_bytes();
    while !bytes.is_empty() {
        if let Some((bucket, count, rest)) = usual_pair(bytes) {
            take(bucket, count);
            bytes = rest;
            continue;
        }
        let Some(bucket) = take_number(&mut bytes, b':') else { return };
        let Some(count) = take_number(&mut bytes, b' ') else { return };
        match u32::try_from(bucket) {
            Ok(bucket) if bucket <= LAST_BUCKET => take(bucket, count),
            _ => return,
        }
    }
}

/// A bucket of three digits, a count of one or two, and the bytes after the following blank: nearly every
/// pair of a sketch. `None` for any other pair, and at the end of the text.
#[inline]
fn usual_pair(bytes: &[u8]) -> Option<(u32, u64, &[u8])> {
    let [a, b, c, b':', d, e, end, ..] = *bytes else { return None };
    let digit = |byte: u8| u32::from(byte.wrapping_sub(b'0'));
    let (a, b, c, d) = (digit(a), digit(b), digit(c), digit(d));
    if a.max(b).max(c).max(d) > 9 {
        return None;
    }
    let bucket = (a * 10 + b) * 10 + c;
    if e == b' ' {
        return Some((bucket, d.into(), bytes.get(6..)?));
    }
    let last = digit(e);
    (last <= 9 && end == b' ').then(|| (bucket, u64::from(d * 10 + last), bytes.get(7..).unwrap_or_default()))
}

/// Takes a number and the character after it, or the end of the text; `None` for anything else.
#[inline]
fn take_number(bytes: &mut &[u8], end: u8) -> Option<u64> {
    let (mut number, mut length) = (0_u64, 0);
    for byte in *bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        length += 1;
    }
    if length > SAFE_DIGITS {
        number = str::from_utf8(bytes.get(..length)?).ok()?.parse().ok()?;
    }
    let is_ended = match bytes.get(length) {
        Some(byte) => *byte == end,
        None => end == b' ',
    };
    let rest = bytes.get(length + 1..).unwrap_or_default();
    *bytes = rest;
    (is_ended && length > 0).then_some(number)
}

/// Passes each bucket of a sketch's text to `take`, with its count, until it returns `None`. `None` then, and
/// for a text that is not that of a sketch.
pub(super) fn each_pair(text: &str, mut take: impl FnMut(u32, u64) -> Option<()>) -> Option<()> {
    text.split_ascii_whitespace().try_for_each(|pair| {
        let (bucket, count) = pair_of(pair)?;
        take(bucket, count)
    })
}

/// The bucket and the count of a pair; `None` for anything else.
pub(super) fn pair_of(pair: &str) -> Option<(u32, u64)> {
    let (bucket, count) = pair.split_once(':')?;
    let (bucket, count) = (bucket.parse().ok()?, count.parse().ok()?);
    (bucket <= LAST_BUCKET).then_some((bucket, count))
}

/// Adds the text of a number.
pub(super) fn push_number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

const _: () = assert!(LAST_BUCKET > 999, "three digits are a bucket");
/// Numbers with this many digits fit 64 bits.
const SAFE_DIGITS: usize = 19;
