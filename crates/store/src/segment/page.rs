//! The header of a page, in Thrift's compact protocol.

use super::hybrid::put_varint;

/// The content of a page.
#[derive(Debug, Clone, Copy)]
pub(super) enum PageKind {
    /// The distinct values of a column.
    Dictionary,
    /// Values, or codes of a dictionary.
    Data(PageEncoding),
}

/// The encoding of a data page's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageEncoding {
    /// Plain values.
    Plain,
    /// Dictionary indices.
    Dictionary,
    /// Differences.
    Delta,
    /// Split by byte.
    Split,
}

/// Appends the header of a page with `values` values, `plain` bytes before compression and `stored` bytes
/// after it.
pub(super) fn put_header(bytes: &mut Vec<u8>, kind: PageKind, values: usize, plain: usize, stored: &[u8]) {
    let numbers: &[usize] = match kind {
        PageKind::Data(encoding) => &[values, encoding.code(), RLE, RLE],
        PageKind::Dictionary => &[values, PageEncoding::Plain.code()],
    };
    let (page_type, field) = match kind {
        PageKind::Data(_) => (DATA_PAGE, DATA_PAGE_FIELD),
        PageKind::Dictionary => (DICTIONARY_PAGE, DICTIONARY_PAGE_FIELD),
    };
    put_numbers(bytes, &[page_type, plain, stored.len()]);
    put_checksum(bytes, crc32fast::hash(stored));
    bytes.push(field);
    put_numbers(bytes, numbers);
    bytes.extend_from_slice(&[END, END]);
}

/// Appends numbers as the first fields of a structure.
fn put_numbers(bytes: &mut Vec<u8>, numbers: &[usize]) {
    for number in numbers {
        bytes.push(NEXT_NUMBER);
        // Numbers are zigzag-encoded.
        put_varint(bytes, (*number as u64) << 1);
    }
}

/// Appends a checksum as the next field, a signed 32-bit number.
fn put_checksum(bytes: &mut Vec<u8>, checksum: u32) {
    let number = i64::from(checksum.cast_signed());
    bytes.push(NEXT_NUMBER);
    put_varint(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

impl PageEncoding {
    fn code(self) -> usize {
        match self {
            PageEncoding::Plain => 0,
            PageEncoding::Delta => 5,
            PageEncoding::Dictionary => 8,
            PageEncoding::Split => 9,
        }
    }
}

/// The encoding of levels.
const RLE: usize = 3;
const DATA_PAGE: usize = 0;
const DICTIONARY_PAGE: usize = 2;
/// A 32-bit field, directly after the previous one.
const NEXT_NUMBER: u8 = 0x15;
/// A structure, in the field after the fourth.
const DATA_PAGE_FIELD: u8 = 0x1c;
/// A structure, three fields after the fourth.
const DICTIONARY_PAGE_FIELD: u8 = 0x3c;
/// The end of a structure.
const END: u8 = 0;
