//! The header of a page, decoded from Thrift's compact protocol.

use super::unpack::Bytes;

/// The contents of a page header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub(super) page_type: i64,
    /// Bytes of the page before and after compression.
    pub(super) plain_bytes: usize,
    pub(super) stored_bytes: usize,
    /// CRC-32 of the stored bytes.
    pub(super) checksum: Option<u32>,
    /// The number of values, and their encoding.
    pub(super) values: usize,
    pub(super) encoding: i64,
}

impl PageHeader {
    /// Reads a header; `None` if the bytes are something else.
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let mut header = Self::default();
        each_field(bytes, 0, &mut |field, bytes| {
            let Field { id, kind } = field;
            match (id, kind) {
                (1, I32) => header.page_type = bytes.zigzag()?,
                (2, I32) => header.plain_bytes = length(bytes)?,
                (3, I32) => header.stored_bytes = length(bytes)?,
                (4, I32) => header.checksum = Some(i32::try_from(bytes.zigzag()?).ok()?.cast_unsigned()),
                // The header of a data page, or of a dictionary.
                (5 | 7, STRUCT) => each_field(bytes, 1, &mut |field, bytes| {
                    match (field.id, field.kind) {
                        (1, I32) => header.values = length(bytes)?,
                        (2, I32) => header.encoding = bytes.zigzag()?,
                        (_, kind) => skip(bytes, kind, 2)?,
                    }
                    Some(())
                })?,
                (_, kind) => skip(bytes, kind, 1)?,
            }
            Some(())
        })?;
        Some(header)
    }
}

struct Field {
    id: i64,
    kind: u8,
}

/// Passes each field of a structure to `take`, which must read it.
fn each_field<'a>(
    bytes: &mut Bytes<'a>,
    depth: usize,
    take: &mut dyn FnMut(Field, &mut Bytes<'a>) -> Option<()>,
) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut id = 0;
    loop {
        let head = bytes.byte()?;
        if head == 0 {
            return Some(());
        }
        id = match head >> 4 {
            0 => bytes.zigzag()?,
            further => id + i64::from(further),
        };
        take(Field { id, kind: head & 0x0f }, bytes)?;
    }
}

fn skip(bytes: &mut Bytes<'_>, kind: u8, depth: usize) -> Option<()> {
    match kind {
        TRUE | FALSE => {}
        BYTE => drop(bytes.byte()?),
        I16..=I64 => drop(bytes.varint()?),
        DOUBLE => drop(bytes.take(8)?),
        BINARY => {
            let length = usize::try_from(bytes.varint()?).ok()?;
            bytes.take(length)?;
        }
        STRUCT => each_field(bytes, depth, &mut |field, bytes| skip(bytes, field.kind, depth + 1))?,
        // Page headers have no lists, sets or maps.
        _ => return None,
    }
    Some(())
}

fn length(bytes: &mut Bytes<'_>) -> Option<usize> {
    usize::try_from(bytes.zigzag()?).ok()
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;
/// Maximum nesting of structures.
const MAX_DEPTH: usize = 8;
