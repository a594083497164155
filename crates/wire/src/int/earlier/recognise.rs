//! The version of a metadata header before 2.0.
//!
//! After TCP and UDP the version field decides: 1 is 1.0, 0 is 0.5; 2016 does not exist there.
//!
//! In VXLAN-GPE and Geneve the version field of 0.5 and 2016 is 0, and Rep of 2016 is where 1.0 has its
//! version. So a header is taken as the first of these that matches:
//!
//! 1. 1.0, where the version field is 1 and Hop ML and the stack agree with the instruction bitmap.
//! 2. 2016, where Instruction Count and the stack agree with the bitmap, the reserved bits that are C and E of
//!    0.5 are zero, the bottom-of-stack bit is set in the last word of the stack and in no other, and no value
//!    exceeds what 2016 allows for its instruction: ports above 16 bits and queues above 24 bits are two fields
//!    or a timestamp of 0.5.
//! 3. 0.5, where the version field is 0.
//!
//! A stack of 0.5 is mistaken for one of 2016 only where the first bits of its words happen to match, which
//! takes a single hop that ends in a timestamp or in a large id. An empty stack is ambiguous and read as
//! 2016. Readers that know their domain's version set [`Location::version`](crate::int::Location) themselves.

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::domain::set_bits;
use crate::int::earlier::header_0_5::HeaderV0_5;
use crate::int::earlier::header_1_0::{self, HeaderV1_0};
use crate::int::earlier::header_2016::HeaderV2016;
use crate::int::earlier::layout::Layout;
use crate::int::earlier::metadata::{BOTTOM_OF_STACK, not_available};
use crate::int::version::Version;
use crate::view::view;

/// Length of the metadata header of every version before 2.0, bytes.
pub const HEADER_BYTES: usize = size_of::<HeaderV1_0>();

/// Returns the version of the header at byte `at` after TCP or UDP.
///
/// # Errors
/// A header that is truncated, or a version that no header before 2.0 has.
pub fn behind_l4(bytes: &[u8], at: usize) -> Result<Version, ParseError> {
    let header: &HeaderV1_0 = view(bytes, at, Header::IntMetadata)?;
    match header.version() {
        header_1_0::VERSION => Ok(Version::V1_0),
        0 => Ok(Version::V0_5),
        found => Err(other_version(at, found)),
    }
}

/// Returns the version of the header at byte `at` in VXLAN-GPE or Geneve, whose stack ends at byte `end`.
///
/// # Errors
/// A header that is truncated, or a version that no header before 2.0 has.
pub fn in_tunnel(bytes: &[u8], at: usize, end: usize) -> Result<Version, ParseError> {
    let header: &HeaderV1_0 = view(bytes, at, Header::IntMetadata)?;
    let stack_length = end.saturating_sub(at + HEADER_BYTES);
    let visible = bytes.get(at + HEADER_BYTES..end.min(bytes.len())).unwrap_or_default();
    if is_1_0(header, stack_length) {
        return Ok(Version::V1_0);
    }
    if is_2016(view(bytes, at, Header::IntMetadata)?, visible, stack_length) {
        return Ok(Version::V2016);
    }
    match header.version() {
        header_1_0::VERSION => Ok(Version::V1_0),
        0 => Ok(Version::V0_5),
        found => Err(other_version(at, found)),
    }
}

/// Whether the header in a Geneve option, which has no shim, can be one of a version before 2.0.
pub fn is_before_2(bytes: &[u8], at: usize, end: usize) -> bool {
    let stack_length = end.saturating_sub(at + HEADER_BYTES);
    match in_tunnel(bytes, at, end) {
        Ok(Version::V1_0) => {
            view(bytes, at, Header::IntMetadata).is_ok_and(|header| is_1_0(header, stack_length))
        }
        Ok(Version::V0_5) => {
            view(bytes, at, Header::IntMetadata).is_ok_and(|header| is_0_5(header, stack_length))
        }
        Ok(Version::V2016) => true,
        Ok(Version::HostInt0_5 | Version::V2_1) | Err(_) => false,
    }
}

fn other_version(at: usize, found: u8) -> ParseError {
    ParseError::new(at, Header::IntMetadata, ErrorKind::Version { found, expected: header_1_0::VERSION })
}

fn is_1_0(header: &HeaderV1_0, stack_length: usize) -> bool {
    let hop = header.hop_ml().bytes();
    header.version() == header_1_0::VERSION
        && hop > 0
        && header.hop_ml() == Layout::V1_0.hop_words(header.instruction_bitmap())
        && stack_length.is_multiple_of(hop)
}

fn is_0_5(header: &HeaderV0_5, stack_length: usize) -> bool {
    let count = header.instruction_count();
    count > 0
        && u32::from(count) == header.instruction_bitmap().count_ones()
        && stack_length == usize::from(count) * 4 * usize::from(header.total_hop_count())
}

fn is_2016(header: &HeaderV2016, stack: &[u8], stack_length: usize) -> bool {
    let bitmap = header.instruction_bitmap();
    let count = header.instruction_count();
    header.version() == 0
        && header.reserved_flags_are_zero()
        && count > 0
        && u32::from(count) == bitmap.count_ones()
        && stack_length == usize::from(count) * 4 * usize::from(header.total_hop_count())
        && header.total_hop_count() <= header.max_hop_count()
        && has_bottom_of_stack(stack, stack_length)
        && values_are_of_2016(bitmap, stack)
}

/// Whether the bottom-of-stack bit is set in the last word, and in no other visible word.
fn has_bottom_of_stack(stack: &[u8], stack_length: usize) -> bool {
    let words = stack.as_chunks::<4>().0;
    let last = stack_length / 4;
    (1..).zip(words).all(|(number, [first, ..])| (first & BOTTOM_OF_STACK != 0) == (number == last))
}

/// Whether no value exceeds what 2016 allows in its place.
fn values_are_of_2016(bitmap: u16, stack: &[u8]) -> bool {
    let none = not_available(Layout::V2016);
    let most = |bit| match bit {
        1 | 5 => 0xffff,
        3 => 0x00ff_ffff,
        _ => none,
    };
    let fits = |(bit, word): (usize, &[u8; 4])| {
        let value = u32::from_be_bytes(*word) & none;
        value == none || value <= most(bit)
    };
    let hop_bytes = Layout::V2016.hop_words(bitmap).bytes().max(1);
    stack.chunks(hop_bytes).all(|hop| set_bits(bitmap).zip(hop.as_chunks::<4>().0).all(fits))
}

#[cfg(test)]
mod tests;
