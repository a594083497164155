//! Geneve headers and their options.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::checksum::Sum;
use crate::error::{ErrorKind, Header, ParseError};
use crate::view::{short, view};
use crate::words::Words;

/// The Geneve base header of RFC 8926, 8 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-----------+-+-+-----------+-------------------------------+
/// |Ver|  Opt Len  |O|C|  Reserved |         Protocol Type         |
/// |                     VNI                       |   Reserved    |
/// +-----------------------------------------------+---------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct GeneveHeader {
    version_length: u8,
    flags: u8,
    /// EtherType of what follows the options.
    pub protocol: U16,
    vni: [u8; 3],
    reserved: u8,
}

/// The header of a Geneve option, 4 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct OptionHeader {
    /// Option class.
    pub class: U16,
    kind: u8,
    reserved_length: u8,
}

/// Maximum length of one option's data, 4-byte words.
pub const MAX_OPTION_WORDS: u8 = 31;
/// Maximum length of the options with their headers, bytes.
pub const MAX_OPTION_BYTES: usize = 63 * 4;
/// UDP port of Geneve.
pub const PORT: u16 = 6081;
/// Length of the base header, bytes.
pub const HEADER_BYTES: usize = size_of::<GeneveHeader>();
/// Length of an option's header, bytes.
pub const OPTION_HEADER_BYTES: usize = size_of::<OptionHeader>();

impl GeneveHeader {
    /// The version field; 0.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version_length >> 6
    }

    /// Sets the length of all options with their headers; at most [`MAX_OPTION_BYTES`], in whole words.
    pub fn set_options_length(&mut self, bytes: usize) {
        let words = u8::try_from(bytes.min(MAX_OPTION_BYTES) / 4).unwrap_or_default();
        self.version_length = (self.version_length & 0xc0) | words;
    }

    /// The header's sum, for a checksum that covers it.
    #[must_use]
    pub fn sum(&self) -> Sum {
        Sum::of(self.as_bytes())
    }

    /// Virtual network identifier, 24 bits.
    #[must_use]
    pub fn vni(&self) -> u32 {
        let [high, middle, low] = self.vni;
        u32::from_be_bytes([0, high, middle, low])
    }

    /// Length of all options with their headers, bytes: 0 to 252.
    #[must_use]
    pub const fn options_length(&self) -> usize {
        (self.version_length & 0x3f) as usize * 4
    }
}

impl OptionHeader {
    /// Creates the header of an option with `words` of data; `kind` keeps the critical bit clear.
    #[must_use]
    pub fn new(class: u16, kind: u8, words: Words) -> Self {
        Self { class: U16::new(class), kind, reserved_length: words.count().min(MAX_OPTION_WORDS) }
    }

    /// Sets the length of the option's data, 0 to 31 words.
    pub const fn set_words(&mut self, words: Words) {
        self.reserved_length = (self.reserved_length & 0xe0) | (words.count() & 0x1f);
    }

    /// Sets the option's type; the critical bit stays.
    pub const fn set_kind(&mut self, kind: u8) {
        self.kind = (self.kind & 0x80) | (kind & 0x7f);
    }

    /// The header's sum, for a checksum that covers it.
    #[must_use]
    pub fn sum(&self) -> Sum {
        Sum::of(self.as_bytes())
    }

    /// The option's type without the critical bit.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        // The high bit is Geneve's "critical" flag, not part of the INT type.
        self.kind & 0x7f
    }

    /// Length of the option's data without the option header, 4-byte words: 0 to 31.
    #[must_use]
    pub const fn words(&self) -> u8 {
        self.reserved_length & 0x1f
    }
}

/// One option of a Geneve header.
#[derive(Clone, Copy, Debug)]
pub struct GeneveOption<'a> {
    /// Offset of the option's header.
    pub at: usize,
    /// The option's header.
    pub header: &'a OptionHeader,
}

/// The options of one Geneve header, in order.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Options<'_> {
    /// The options from byte `at` on, which must be the start of an option.
    #[must_use]
    pub fn behind(mut self, at: usize) -> Self {
        self.at = self.at.max(at);
        self
    }
}

/// Reads the base header at byte `at` and returns it with its options and the offset of the payload.
///
/// # Errors
/// [`ErrorKind::Short`] when header or options are truncated; [`ErrorKind::Version`] unless the version is 0.
pub fn parse(bytes: &[u8], at: usize) -> Result<(&GeneveHeader, Options<'_>, usize), ParseError> {
    let header: &GeneveHeader = view(bytes, at, Header::Geneve)?;
    if header.version() != 0 {
        let kind = ErrorKind::Version { found: header.version(), expected: 0 };
        return Err(ParseError::new(at, Header::Geneve, kind));
    }
    let options = at + HEADER_BYTES;
    let end = options + header.options_length();
    if end > bytes.len() {
        return Err(short(at, Header::Geneve, HEADER_BYTES + header.options_length(), bytes.len() - at));
    }
    Ok((header, Options { bytes, at: options, end }, end))
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<GeneveOption<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let at = self.at;
        let header: &OptionHeader = match view(self.bytes, at, Header::GeneveOption) {
            Ok(header) => header,
            Err(error) => {
                self.at = self.end;
                return Some(Err(error));
            }
        };
        let next = at + OPTION_HEADER_BYTES + usize::from(header.words()) * 4;
        if next > self.end {
            // Erratum 1 of the examples: the base length counts the option headers, so this is a mismatch.
            let left = self.end - at;
            self.at = self.end;
            return Some(Err(short(at, Header::GeneveOption, next - at, left)));
        }
        self.at = next;
        Some(Ok(GeneveOption { at, header }))
    }
}

#[cfg(test)]
mod tests;
