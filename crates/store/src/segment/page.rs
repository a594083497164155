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
}

/// Appends the header of a page of so many values, and of so many bytes before and after compression.
pub(super) fn put_header(
    bytes: &mut Vec<u8>,
    kind: PageKind,
    values: usize,
    plain: usize,
    compressed: usize,
) {
    let numbers: &[usize] = match kind {
        PageKind::Data(encoding) => &[values, encoding.code(), RLE, RLE],
        PageKind::Dictionary => &[values, PageEncoding::Plain.code()],
    };
    let (page_type, field) = match kind {
        PageKind::Data(_) => (DATA_PAGE, DATA_PAGE_FIELD),
        PageKind::Dictionary => (DICTIONARY_PAGE, DICTIONARY_PAGE_FIELD),
    };
    put_numbers(bytes, &[page_type, plain, compressed]);
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

impl PageEncoding {
    fn code(self) -> usize {
        match self {
            PageEncoding::Plain => 0,
            PageEncoding::Delta => 5,
            PageEncoding::Dictionary => 8,
        }
    }
}

/// The encoding of levels.
const RLE: usize = 3;
const DATA_PAGE: usize = 0;
const DICTIONARY_PAGE: usize = 2;
/// A field of 32 bits behind the one before.
const NEXT_NUMBER: u8 = 0x15;
/// A structure, two fields behind the third.
const DATA_PAGE_FIELD: u8 = 0x2c;
/// A structure, four fields behind the third.
const DICTIONARY_PAGE_FIELD: u8 = 0x4c;
/// The end of a structure.
const END: u8 = 0;
