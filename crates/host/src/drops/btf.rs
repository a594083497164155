//! Names and numbers of the kernel's enumerations.
//!
//! The kernel describes its types in BTF: a header, a section of consecutive types, each with its kind, and a
//! section of their names.

/// Why BTF cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BtfError {
    /// It does not start like BTF of this machine's byte order.
    #[error("not BTF of this machine's byte order")]
    NotBtf,
    /// It ends too early.
    #[error("BTF at byte {at}: {wanted} bytes needed, {left} left")]
    Cut {
        /// Offset of the truncated item.
        at: usize,
        /// Bytes the item needs.
        wanted: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A type of unknown length.
    #[error("BTF at byte {at}: unknown kind {kind}")]
    UnknownKind {
        /// Offset of the type.
        at: usize,
        /// Its kind.
        kind: u32,
    },
    /// The enumeration is not in it.
    #[error("the kernel has no `enum {0}`")]
    NoEnum(&'static str),
}

/// The two sections.
struct Sections<'a> {
    bytes: &'a [u8],
    types: (usize, usize),
    strings: (usize, usize),
}

/// The name and number of each enumerator of `enum name` in the kernel with this BTF, in their order.
///
/// # Errors
/// Bytes that are not BTF, or that do not contain the enumeration.
pub fn enumerators(bytes: &[u8], name: &'static str) -> Result<Vec<(String, u32)>, BtfError> {
    let sections = Sections::read(bytes)?;
    let (mut at, end) = sections.types;
    while at < end {
        let info = word(bytes, at + 4)?;
        let (kind, count) = (info >> 24 & 0x1f, info & 0xffff);
        let length = trailer_bytes(kind, count).ok_or(BtfError::UnknownKind { at, kind })?;
        if kind == ENUM && sections.string(word(bytes, at)?)? == name.as_bytes() {
            return (0..count as usize)
                .map(|index| at + TYPE_BYTES + index * 8)
                .map(|at| Ok((sections.text(word(bytes, at)?)?, word(bytes, at + 4)?)))
                .collect();
        }
        at += TYPE_BYTES + length;
    }
    Err(BtfError::NoEnum(name))
}

/// A structure: its size in bytes, and the name and offset of each member, in their order.
#[cfg(test)]
type Structure = (u32, Vec<(String, u32)>);

/// The structure with this name; `None`: not found.
#[cfg(test)]
pub(crate) fn structure(bytes: &[u8], name: &str) -> Result<Option<Structure>, BtfError> {
    let sections = Sections::read(bytes)?;
    let (mut at, end) = sections.types;
    while at < end {
        let info = word(bytes, at + 4)?;
        let (kind, count) = (info >> 24 & 0x1f, info & 0xffff);
        let length = trailer_bytes(kind, count).ok_or(BtfError::UnknownKind { at, kind })?;
        if kind == STRUCTURE && sections.string(word(bytes, at)?)? == name.as_bytes() {
            let members = (0..count as usize)
                .map(|index| at + TYPE_BYTES + index * 12)
                .map(|at| Ok((sections.text(word(bytes, at)?)?, word(bytes, at + 8)? / 8)))
                .collect::<Result<_, BtfError>>()?;
            return Ok(Some((word(bytes, at + 8)?, members)));
        }
        at += TYPE_BYTES + length;
    }
    Ok(None)
}

impl<'a> Sections<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, BtfError> {
        if slice(bytes, 0, 2)? != MAGIC.to_ne_bytes() {
            return Err(BtfError::NotBtf);
        }
        let header = size(bytes, 4)?;
        let section = |offset_at: usize| {
            let (from, length) =
                (header.saturating_add(size(bytes, offset_at)?), size(bytes, offset_at + 4)?);
            slice(bytes, from, length).map(|_| (from, from + length))
        };
        Ok(Self { bytes, types: section(8)?, strings: section(16)? })
    }

    /// The name at this offset of the strings, without the trailing zero.
    fn string(&self, offset: u32) -> Result<&'a [u8], BtfError> {
        let (from, end) = self.strings;
        let at = from.saturating_add(offset as usize);
        let rest = slice(self.bytes, at, end.saturating_sub(at))?;
        let length = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        slice(rest, 0, length)
    }

    fn text(&self, offset: u32) -> Result<String, BtfError> {
        self.string(offset).map(|name| String::from_utf8_lossy(name).into_owned())
    }
}

/// The bytes behind the first three words of a type; `None`: unknown kind.
fn trailer_bytes(kind: u32, count: u32) -> Option<usize> {
    let count = count as usize;
    match kind {
        // Integer, variable, declaration tag.
        1 | 14 | 17 => Some(4),
        // Array.
        3 => Some(12),
        // Structure, union, data section, 64-bit enumeration.
        4 | 5 | 15 | 19 => Some(count * 12),
        // Enumeration, function prototype.
        ENUM | 13 => Some(count * 8),
        // Pointer, forward, typedef, volatile, const, restrict, function, float, type tag.
        2 | 7..=12 | 16 | 18 => Some(0),
        _ => None,
    }
}

fn size(bytes: &[u8], at: usize) -> Result<usize, BtfError> {
    word(bytes, at).map(|word| word as usize)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, BtfError> {
    let mut word = [0; 4];
    word.copy_from_slice(slice(bytes, at, 4)?);
    Ok(u32::from_ne_bytes(word))
}

fn slice(bytes: &[u8], at: usize, wanted: usize) -> Result<&[u8], BtfError> {
    let left = bytes.len().saturating_sub(at);
    let end = at.saturating_add(wanted);
    bytes.get(at..end).ok_or(BtfError::Cut { at, wanted, left })
}

const MAGIC: u16 = 0xeb9f;
#[cfg(test)]
const STRUCTURE: u32 = 4;
const ENUM: u32 = 6;
/// Name, information, and size or type.
const TYPE_BYTES: usize = 12;

#[cfg(test)]
mod tests;
