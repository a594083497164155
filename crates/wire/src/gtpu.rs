//! GTP-U headers and the user packet they carry.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::{short, view};

/// The mandatory part of the GTP-U header of 3GPP TS 29.281, 8 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-----+-+-+-+-+-+---------------+-------------------------------+
/// |Ver=1|P|R|E|S|N| Message Type  |            Length             |
/// |                  Tunnel Endpoint Identifier                   |
/// |  Sequence Number (if E, S, N) |  N-PDU Number | Next Ext Type |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct GtpuHeader {
    flags: u8,
    /// Message type; [`G_PDU`] carries a packet.
    pub message_type: u8,
    /// Bytes after the mandatory part.
    pub length: U16,
    /// Tunnel Endpoint Identifier.
    pub teid: U32,
}

/// UDP port of GTP-U.
pub const PORT: u16 = 2152;
/// Message type of a user packet.
pub const G_PDU: u8 = 255;
/// Length of the mandatory part, bytes.
pub const HEADER_BYTES: usize = size_of::<GtpuHeader>();

/// Sequence number, N-PDU number and the type of the first extension, bytes.
const OPTIONAL_BYTES: usize = 4;
/// Maximum number of extension headers skipped; one is usual.
const MAX_EXTENSIONS: usize = 8;

impl GtpuHeader {
    /// The version field; 1.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.flags >> 5
    }

    /// Whether this is GTP, as opposed to GTP' for charging.
    #[must_use]
    pub const fn is_gtp(&self) -> bool {
        self.flags & 0x10 != 0
    }

    /// Whether the optional part is present: any of E, S and PN is set.
    #[must_use]
    pub const fn has_optional(&self) -> bool {
        self.flags & 0x07 != 0
    }

    /// Whether extension headers follow the optional part.
    #[must_use]
    pub const fn has_extensions(&self) -> bool {
        self.flags & 0x04 != 0
    }
}

/// Reads the GTP-U header at byte `at` and returns it with the offset of the user packet, `None` for
/// messages without one.
///
/// # Errors
/// [`ErrorKind::Short`] when a header is truncated; [`ErrorKind::Version`] for a version other than 1;
/// [`ErrorKind::Undefined`] for GTP'; [`ErrorKind::TooSmall`] for an extension of zero length;
/// [`ErrorKind::TooMany`] past eight extensions.
pub fn payload(bytes: &[u8], at: usize) -> Result<(&GtpuHeader, Option<usize>), ParseError> {
    let header: &GtpuHeader = view(bytes, at, Header::Gtpu)?;
    let fault = |kind| ParseError::new(at, Header::Gtpu, kind);
    if header.version() != 1 {
        return Err(fault(ErrorKind::Version { found: header.version(), expected: 1 }));
    }
    if !header.is_gtp() {
        return Err(fault(ErrorKind::Undefined { field: "protocol type", found: 0 }));
    }
    if header.message_type != G_PDU {
        return Ok((header, None));
    }
    let optional = at + HEADER_BYTES;
    if !header.has_optional() {
        return Ok((header, Some(optional)));
    }
    let end = optional + OPTIONAL_BYTES;
    let Some(next_type) = bytes.get(end - 1) else {
        return Err(short(at, Header::Gtpu, HEADER_BYTES + OPTIONAL_BYTES, bytes.len() - at));
    };
    let end = if header.has_extensions() { behind_extensions(bytes, end, *next_type)? } else { end };
    Ok((header, Some(end)))
}

/// Skips extension headers from byte `at` on: length in words, contents, type of the next one.
fn behind_extensions(bytes: &[u8], mut at: usize, mut next_type: u8) -> Result<usize, ParseError> {
    for _ in 0..MAX_EXTENSIONS {
        if next_type == 0 {
            return Ok(at);
        }
        let Some(words) = bytes.get(at) else {
            return Err(short(at, Header::GtpuExtension, 4, 0));
        };
        let length = usize::from(*words) * 4;
        if length == 0 {
            let kind = ErrorKind::TooSmall { field: "length", found: 0, least: 1 };
            return Err(ParseError::new(at, Header::GtpuExtension, kind));
        }
        let Some(next) = bytes.get(at + length - 1) else {
            return Err(short(at, Header::GtpuExtension, length, bytes.len() - at));
        };
        next_type = *next;
        at += length;
    }
    let kind = ErrorKind::TooMany { most: MAX_EXTENSIONS };
    if next_type == 0 { Ok(at) } else { Err(ParseError::new(at, Header::GtpuExtension, kind)) }
}

#[cfg(test)]
mod tests;
