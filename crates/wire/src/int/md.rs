//! INT-MD metadata headers.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::Deviation;
use crate::int::domain::{self, Domain};
use crate::int::instruction::Instructions;
use crate::int::location::{Location, VERSION};
use crate::int::stack::MetadataStack;
use crate::view::{short, view};
use crate::words::Words;

/// The INT-MD metadata header of INT 2.x, 12 bytes; the metadata stack follows.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-+-+-+-----------------------+---------+---------------+
/// |Ver = 2|D|E|M|       Reserved        | Hop ML  |RemainingHopCnt|
/// +-------+-+-+-+-----------------------+---------+---------------+
/// |      Instruction Bitmap       |      Domain Specific ID       |
/// +-------------------------------+-------------------------------+
/// |        DS Instruction         |           DS Flags            |
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct MdHeader {
    version_flags: u8,
    reserved: u8,
    reserved_hop_ml: u8,
    remaining_hop_count: u8,
    instruction_bitmap: U16,
    domain_specific_id: U16,
    ds_instruction: U16,
    ds_flags: U16,
}

/// Length of the header, bytes.
pub const HEADER_BYTES: usize = size_of::<MdHeader>();
/// The maximum of the 5-bit Hop ML field.
pub const MAX_HOP_ML: Words = Words::new(31);

const DISCARD: u8 = 0x08;
const MAX_HOP_COUNT_EXCEEDED: u8 = 0x04;
const MTU_EXCEEDED: u8 = 0x02;

impl MdHeader {
    /// Creates the header a source writes: E and M clear, reserved bits zero.
    ///
    /// Hop ML is capped at 31 words, the maximum of its field.
    #[must_use]
    pub fn new(instructions: Instructions, hop_ml: Words, remaining_hop_count: u8) -> Self {
        // int-2.1/md-01, int-2.1/md-06, int-2.1/md-37, int-2.1/md-04: Ver is 2, reserved bits are zero, and so is E.
        Self {
            version_flags: VERSION << 4,
            reserved: 0,
            reserved_hop_ml: hop_ml.min(MAX_HOP_ML).count(),
            remaining_hop_count,
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
    #[inline]
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_flags >> 4
    }

    /// Version, flags and the first reserved bits, 16 bits.
    pub(super) const fn first_half(&self) -> u16 {
        u16::from_be_bytes([self.version_flags, self.reserved])
    }

    /// The header with those bits replaced.
    pub(super) const fn with_first_half(self, bits: u16) -> Self {
        let [version_flags, reserved] = bits.to_be_bytes();
        Self { version_flags, reserved, ..self }
    }

    /// Whether the reserved bits are zero.
    #[must_use]
    pub const fn reserved_is_zero(&self) -> bool {
        self.first_half() & 0x01ff == 0 && self.reserved_hop_ml & 0xe0 == 0
    }

    /// D: the sink discards the packet.
    #[inline]
    #[must_use]
    pub const fn discard(&self) -> bool {
        self.version_flags & DISCARD != 0
    }

    /// Sets D.
    pub const fn set_discard(&mut self) {
        self.version_flags |= DISCARD;
    }

    /// E: a node could not add metadata because no hop was left.
    #[inline]
    #[must_use]
    pub const fn max_hop_count_exceeded(&self) -> bool {
        self.version_flags & MAX_HOP_COUNT_EXCEEDED != 0
    }

    /// Sets E.
    pub const fn set_max_hop_count_exceeded(&mut self) {
        self.version_flags |= MAX_HOP_COUNT_EXCEEDED;
    }

    /// M: a node could not add metadata because of its egress MTU.
    #[inline]
    #[must_use]
    pub const fn mtu_exceeded(&self) -> bool {
        self.version_flags & MTU_EXCEEDED != 0
    }

    /// Sets M.
    pub const fn set_mtu_exceeded(&mut self) {
        self.version_flags |= MTU_EXCEEDED;
    }

    /// Length of the metadata each hop adds, 0 to 31 words.
    #[inline]
    #[must_use]
    pub const fn hop_ml(&self) -> Words {
        Words::new(self.reserved_hop_ml & 0x1f)
    }

    /// Number of further hops that may add metadata.
    #[inline]
    #[must_use]
    pub const fn remaining_hop_count(&self) -> u8 {
        self.remaining_hop_count
    }

    /// Sets the number of further hops that may add metadata.
    #[inline]
    pub const fn set_remaining_hop_count(&mut self, remaining_hop_count: u8) {
        self.remaining_hop_count = remaining_hop_count;
    }

    /// The instruction bitmap.
    #[inline]
    #[must_use]
    pub fn instructions(&self) -> Instructions {
        Instructions(self.instruction_bitmap.get())
    }

    /// Domain Specific ID; 0: the default domain.
    #[inline]
    #[must_use]
    pub fn domain_specific_id(&self) -> u16 {
        self.domain_specific_id.get()
    }

    /// DS Instruction bitmap.
    #[inline]
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

/// An INT-MD header with its metadata stack, in place.
#[derive(Clone, Copy, Debug)]
pub struct Md<'a> {
    /// The metadata header, its flags where 2.1 has them.
    pub header: MdHeader,
    /// The stack after it, as far as the bytes reach.
    pub stack: MetadataStack<'a>,
}

impl<'a> Md<'a> {
    /// Reads the header at `location` and splits the stack after it.
    ///
    /// Bytes that end inside the stack give the complete hops; the caller has already checked the length of
    /// the packet itself.
    ///
    /// # Errors
    /// A header that is truncated, a version other than 2, a Hop ML that contradicts the instruction bitmap,
    /// a stack that is not a whole number of hops.
    #[inline]
    pub fn parse(bytes: &'a [u8], location: &Location, domains: &[Domain]) -> Result<Self, ParseError> {
        let header = header(bytes, location)?;
        let stack_at = location.header + HEADER_BYTES;
        let length = (location.end - stack_at) / 4;
        let stack_words = u8::try_from(length).map_or(Words::MAX, Words::new);
        let source_only = source_only(header, stack_words, location, domains)?;
        let visible = bytes.get(stack_at..).unwrap_or_default();
        let stack =
            MetadataStack::new(visible, stack_words, source_only, header.instructions(), header.hop_ml());
        let header = if location.deviations.contains(Deviation::LowFlags) {
            header.with_raised_flags()
        } else {
            *header
        };
        Ok(Self { header, stack })
    }
}

/// Reads the header at `location`.
///
/// # Errors
/// A header that is truncated, a version other than 2, or a Hop ML that contradicts the instruction bitmap.
#[inline]
pub fn header<'a>(bytes: &'a [u8], location: &Location) -> Result<&'a MdHeader, ParseError> {
    let at = location.header;
    let header: &MdHeader = view(bytes, at, Header::IntMd)?;
    if header.version() != VERSION && !is_version_0(header.version(), location) {
        let kind = ErrorKind::Version { found: header.version(), expected: VERSION };
        return Err(ParseError::new(at, Header::IntMd, kind));
    }
    let asked = header.instructions().words();
    let has_domain_instructions = header.domain_specific_id() != 0 && header.ds_instruction() != 0;
    let consistent =
        if has_domain_instructions { header.hop_ml() >= asked } else { header.hop_ml() == asked };
    if !consistent {
        // int-2.1/md-10, int-2.1/md-12: each bit asks for 4 or 8 bytes, and Hop ML is set accordingly.
        let kind = ErrorKind::Mismatch {
            field: "Hop ML",
            found: usize::from(header.hop_ml().count()),
            expected: usize::from(asked.count()),
        };
        return Err(ParseError::new(at, Header::IntMd, kind));
    }
    if location.end < at + HEADER_BYTES {
        return Err(short(at, Header::IntMd, HEADER_BYTES, location.end.saturating_sub(at)));
    }
    Ok(header)
}

/// Whether the version field is the 0 that some implementations write.
#[cold]
pub(super) const fn is_version_0(version: u8, location: &Location) -> bool {
    version == 0 && location.deviations.contains(Deviation::Version0)
}

/// Length of the source-only metadata at the bottom of a stack of `stack` words.
#[inline]
fn source_only(
    header: &MdHeader,
    stack: Words,
    location: &Location,
    domains: &[Domain],
) -> Result<Words, ParseError> {
    // int-2.1/md-41: the stack is a multiple of Hop ML plus the source-only metadata, if the source added any.
    let hop_ml = header.hop_ml();
    let whole_hops = |words: Words| match hop_ml.count() {
        0 => words.count() == 0,
        hop_ml => words.count().is_multiple_of(hop_ml),
    };
    let has_domain_instructions = header.domain_specific_id() != 0 && header.ds_instruction() != 0;
    if has_domain_instructions {
        match domain::find(domains, header.domain_specific_id()) {
            Some(domain) => {
                let words = domain.source_only_words(header.ds_instruction()).unwrap_or(Words::MAX);
                if stack.checked_sub(words).is_some_and(whole_hops) {
                    return Ok(words);
                }
            }
            // An unknown domain: an incomplete hop can only be the source's metadata.
            None => {
                let rest = stack.count().checked_rem(hop_ml.count()).unwrap_or(stack.count());
                return Ok(Words::new(rest));
            }
        }
    }
    if whole_hops(stack) {
        return Ok(Words::default());
    }
    let kind = ErrorKind::PartialHop { stack, hop_ml };
    Err(ParseError::new(location.header + HEADER_BYTES, Header::MetadataStack, kind))
}

#[cfg(test)]
mod tests;
