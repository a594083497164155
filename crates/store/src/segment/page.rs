//! How does a page stand in a file? A header in Thrift's compact protocol, then its bytes.

use super::hybrid::put_varint;

/// What a page holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum PageKind {
    /// The different values of a column.
    Dictionary,
    /// Values, or which of the dictionary they are.
    Data(PageEncoding),
}

/// How the values of a data page are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageEncoding {
    /// As they are.
    Plain,
    /// As places in the dictionary.
    Dictionary,
    /// As differences.
    Delta,
    /// Byte by byte.
    Split,
}

/// Appends the header of a page of `values` values, which are `plain` bytes before compression and `stored` after it.
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
        // Numbers are signed, with their sign last.
        put_varint(bytes, (*number as u64) << 1);
    }
}

/// Appends a checksum as the next field, a signed number of 32 bits.
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
/// A field of 32 bits behind the one before.
const NEXT_NUMBER: u8 = 0x15;
/// A structure, the field behind the fourth.
const DATA_PAGE_FIELD: u8 = 0x1c;
/// A structure, three fields behind the fourth.
const DICTIONARY_PAGE_FIELD: u8 = 0x3c;
/// The end of a structure.
const END: u8 = 0;
