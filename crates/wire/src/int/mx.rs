//! INT-MX headers.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::instruction::Instructions;
use crate::int::location::{Location, VERSION};
use crate::int::md::is_version_0;
use crate::view::{short, view};

/// The INT-MX header of INT 2.1, 12 bytes; source-inserted metadata may follow.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-+-----------------------------------------------------+
/// |Ver = 2|D|                      Reserved                       |
/// +-------+-+---------------------+-------------------------------+
/// |      Instruction Bitmap       |      Domain Specific ID       |
/// +-------------------------------+-------------------------------+
/// |        DS Instruction         |           DS Flags            |
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct MxHeader {
    version_flags: u8,
    reserved: [u8; 3],
    instruction_bitmap: U16,
    domain_specific_id: U16,
    ds_instruction: U16,
    ds_flags: U16,
}

/// Length of the header, bytes.
pub const HEADER_BYTES: usize = size_of::<MxHeader>();

const DISCARD: u8 = 0x08;

impl MxHeader {
    /// Creates the header a source writes, reserved bits zero.
    #[must_use]
    pub fn new(instructions: Instructions) -> Self {
        // int-2.1/mx-01, int-2.1/mx-03, int-2.1/mx-32: Ver is 2, every reserved bit is zero.
        Self {
            version_flags: VERSION << 4,
            reserved: [0; 3],
            instruction_bitmap: U16::new(instructions.0),
            domain_specific_id: U16::ZERO,
            ds_instruction: U16::ZERO,
            ds_flags: U16::ZERO,
        }
    }

    /// Sets the domain-specific fields.
    pub fn set_domain(&mut self, id: u16, instruction: u16, flags: u16) {
        self.domain_specific_id = U16::new(id);
        self.ds_instruction = U16::new(instruction);
        self.ds_flags = U16::new(flags);
    }

    /// The version field, 4 bits.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_flags >> 4
    }

    /// Whether the reserved bits are zero.
    #[must_use]
    pub const fn reserved_is_zero(&self) -> bool {
        let [first, second, third] = self.reserved;
        self.version_flags & 0x07 == 0 && first | second | third == 0
    }

    /// D: the sink discards the packet.
    #[must_use]
    pub const fn discard(&self) -> bool {
        self.version_flags & DISCARD != 0
    }

    /// Sets D.
    pub const fn set_discard(&mut self) {
        self.version_flags |= DISCARD;
    }

    /// The instruction bitmap.
    #[must_use]
    pub fn instructions(&self) -> Instructions {
        Instructions(self.instruction_bitmap.get())
    }

    /// Domain Specific ID; 0: the default domain.
    #[must_use]
    pub fn domain_specific_id(&self) -> u16 {
        self.domain_specific_id.get()
    }

    /// DS Instruction bitmap.
    #[must_use]
    pub fn ds_instruction(&self) -> u16 {
        self.ds_instruction.get()
    }

    /// DS Flags.
    #[must_use]
    pub fn ds_flags(&self) -> u16 {
        self.ds_flags.get()
    }
}

/// An INT-MX header with its source-inserted metadata, in place.
#[derive(Clone, Copy, Debug)]
pub struct Mx<'a> {
    /// The header.
    pub header: &'a MxHeader,
    /// The source-inserted metadata, as far as the bytes reach.
    pub source_inserted: &'a [u8],
}

impl<'a> Mx<'a> {
    /// Reads the header at `location` and the source-inserted metadata after it.
    ///
    /// # Errors
    /// A header that is truncated, a version other than 2, or metadata after a header that asks for none.
    #[inline]
    pub fn parse(bytes: &'a [u8], location: &Location) -> Result<Self, ParseError> {
        let at = location.header;
        let header: &MxHeader = view(bytes, at, Header::IntMx)?;
        if header.version() != VERSION && !is_version_0(header.version(), location) {
            let kind = ErrorKind::Version { found: header.version(), expected: VERSION };
            return Err(ParseError::new(at, Header::IntMx, kind));
        }
        let inserted_at = at + HEADER_BYTES;
        if location.end < inserted_at {
            return Err(short(at, Header::IntMx, HEADER_BYTES, location.end.saturating_sub(at)));
        }
        let asks_for_none = header.domain_specific_id() == 0 || header.ds_instruction() == 0;
        if asks_for_none && location.end > inserted_at {
            let found = (location.end - inserted_at) / 4;
            let kind = ErrorKind::TooLarge { field: "source-inserted metadata", found, most: 0 };
            return Err(ParseError::new(inserted_at, Header::IntMx, kind));
        }
        let end = location.end.min(bytes.len());
        Ok(Self { header, source_inserted: bytes.get(inserted_at..end).unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests;
