//! MPLS label stacks.

use zerocopy::byteorder::big_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::view;

/// A label stack entry of RFC 3032, 4 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------+-----+-+---------------+
/// |                 Label                 | TC  |S|      TTL      |
/// +---------------------------------------+-----+-+---------------+
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct LabelStackEntry(U32);

/// EtherType of MPLS.
pub const UNICAST: u16 = 0x8847;
/// EtherType of MPLS with upstream-assigned labels, formerly multicast.
pub const MULTICAST: u16 = 0x8848;

/// Maximum number of labels skipped; up to four are usual.
const MAX_LABELS: usize = 8;

impl LabelStackEntry {
    /// The label, 20 bits.
    #[must_use]
    pub const fn label(&self) -> u32 {
        self.0.get() >> 12
    }

    /// Whether this is the last entry of its stack.
    #[must_use]
    pub const fn is_bottom(&self) -> bool {
        self.0.get() & 0x100 != 0
    }
}

/// Whether an EtherType announces a label stack.
#[must_use]
pub const fn is_mpls(ethertype: u16) -> bool {
    matches!(ethertype, UNICAST | MULTICAST)
}

/// Finds the payload of the label stack at byte `at`.
///
/// # Errors
/// [`ErrorKind::Short`] when the stack is truncated, [`ErrorKind::TooMany`] past eight labels.
pub fn payload(bytes: &[u8], mut at: usize) -> Result<usize, ParseError> {
    for _ in 0..MAX_LABELS {
        let entry: &LabelStackEntry = view(bytes, at, Header::Mpls)?;
        at += size_of::<LabelStackEntry>();
        if entry.is_bottom() {
            return Ok(at);
        }
    }
    Err(ParseError::new(at, Header::Mpls, ErrorKind::TooMany { most: MAX_LABELS }))
}

#[cfg(test)]
mod tests;
