//! The checksums of a segment: of each column chunk, and of the footer that names them.
//!
//! Both are key-value pairs in the footer's metadata. `inband.checksums` has eight hexadecimal digits for
//! each column of each row group: the CRC-32 of its bytes, page headers included. `inband.footer_checksum` is
//! the CRC-32 of the footer and its length, computed with zeros in place of the checksum.

use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;

/// The pairs of a segment with these chunks; the footer's checksum is filled in by `seal`.
pub(super) fn pairs(chunks: &[u32]) -> [KeyValue; 2] {
    let digits: String = chunks.iter().map(|checksum| format!("{checksum:08x}")).collect();
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    [pair(CHUNKS_KEY, digits), pair(FOOTER_KEY, "0".repeat(DIGITS))]
}

/// Fills in the checksum of a footer, with its length and without its magic.
pub(super) fn seal(footer: &mut [u8]) -> Result<(), ParquetError> {
    let at = place(footer).ok_or_else(|| ParquetError::General("the footer has no checksum".into()))?;
    let checksum = format!("{:08x}", crc32fast::hash(footer));
    footer[at..at + DIGITS].copy_from_slice(checksum.as_bytes());
    Ok(())
}

/// Seals a modified footer.
#[cfg(test)]
pub(super) fn seal_again(footer: &mut [u8]) {
    let at = place(footer).unwrap();
    footer[at..at + DIGITS].fill(b'0');
    seal(footer).unwrap();
}

/// The state of a footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seal {
    /// Its checksum matches.
    Whole,
    /// Its checksum does not match.
    Broken,
    /// It is of an earlier version, without checksums.
    Absent,
}

/// Checks a footer with its length and without its magic.
pub(super) fn check(footer: &[u8]) -> Seal {
    let is_marked = [CHUNKS_KEY, FOOTER_KEY, CREATOR_MARK].iter().any(|mark| find(footer, mark).is_some());
    if !is_marked {
        return Seal::Absent;
    }
    let Some(at) = place(footer) else { return Seal::Broken };
    let mut zeroed = footer.to_vec();
    zeroed[at..at + DIGITS].fill(b'0');
    let expected = format!("{:08x}", crc32fast::hash(&zeroed));
    if footer[at..at + DIGITS] == *expected.as_bytes() { Seal::Whole } else { Seal::Broken }
}

/// The checksums of the chunks, as formatted by `pairs`; `None` for anything else.
pub(super) fn parse(digits: &str) -> Option<Vec<u32>> {
    let parts = digits.as_bytes().chunks(DIGITS);
    let parse = |part: &[u8]| u32::from_str_radix(str::from_utf8(part).ok()?, 16).ok();
    parts.map(parse).collect()
}

/// Position of the digits of the footer's checksum.
fn place(footer: &[u8]) -> Option<usize> {
    // After the key: the type of the next field and the length of the value, one byte each.
    let at = find(footer, FOOTER_KEY)? + FOOTER_KEY.len() + 2;
    (at + DIGITS <= footer.len()).then_some(at)
}

/// The last position of a text; statistics, which may contain arbitrary texts, come before.
fn find(footer: &[u8], text: &str) -> Option<usize> {
    footer.windows(text.len()).rposition(|window| window == text.as_bytes())
}

pub(super) const CHUNKS_KEY: &str = "inband.checksums";
const FOOTER_KEY: &str = "inband.footer_checksum";
/// Part of the name of the program that wrote the file.
pub(super) const CREATOR_MARK: &str = "(checked)";
const DIGITS: usize = 8;
