//! GRE headers.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::{short, view};

/// The fixed part of the GRE header of RFC 2784 and 2890, 4 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+---------------+-----+---------------------------------+
/// |C|R|K|S|   Reserved    | Ver |         Protocol Type           |
/// |      Checksum (optional)      |       Reserved (optional)     |
/// |                         Key (optional)                        |
/// |                   Sequence Number (optional)                  |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct GreHeader {
    flags_version: U16,
    /// EtherType of what follows.
    pub protocol: U16,
}

/// IP protocol number of GRE.
pub const PROTOCOL: u8 = 47;

impl GreHeader {
    /// Creates a header of version 0 without optional fields.
    #[must_use]
    pub fn new(protocol: u16) -> Self {
        Self { flags_version: U16::ZERO, protocol: U16::new(protocol) }
    }

    /// Whether the checksum field is present.
    #[must_use]
    pub fn has_checksum(&self) -> bool {
        self.flags_version.get() & 0x8000 != 0
    }

    /// The version field; 0.
    #[must_use]
    pub fn version(&self) -> u8 {
        (self.flags_version.get() & 0x0007) as u8
    }

    /// Length of the header with its optional fields, bytes: 4 to 16.
    #[must_use]
    pub fn header_length(&self) -> usize {
        let optional = (self.flags_version.get() & 0xb000).count_ones() as usize;
        size_of::<Self>() + optional * 4
    }
}

/// Reads the GRE header at byte `at` and returns it with the offset of its payload.
///
/// # Errors
/// [`ErrorKind::Short`] when it is truncated; [`ErrorKind::Version`] for a version other than 0;
/// [`ErrorKind::Undefined`] for source routes, which RFC 2784 withdrew.
pub fn payload(bytes: &[u8], at: usize) -> Result<(&GreHeader, usize), ParseError> {
    let header: &GreHeader = view(bytes, at, Header::Gre)?;
    let fault = |kind| ParseError::new(at, Header::Gre, kind);
    if header.version() != 0 {
        return Err(fault(ErrorKind::Version { found: header.version(), expected: 0 }));
    }
    if header.flags_version.get() & 0x4000 != 0 {
        return Err(fault(ErrorKind::Undefined { field: "routing flag", found: 1 }));
    }
    let end = at + header.header_length();
    if end > bytes.len() {
        return Err(short(at, Header::Gre, header.header_length(), bytes.len() - at));
    }
    Ok((header, end))
}

#[cfg(test)]
mod tests;
