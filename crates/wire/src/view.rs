//! Views of fixed headers, in place.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};

/// Borrows the `T` at byte `at`.
///
/// # Errors
/// [`ErrorKind::Short`] naming `header` when the bytes end before `T` does.
#[inline]
pub fn view<T>(bytes: &[u8], at: usize, header: Header) -> Result<&T, ParseError>
where
    T: FromBytes + KnownLayout + Immutable + Unaligned,
{
    let rest = bytes.get(at..).unwrap_or_default();
    match T::ref_from_prefix(rest) {
        Ok((view, _)) => Ok(view),
        Err(_) => Err(short(at, header, size_of::<T>(), rest.len())),
    }
}

/// Borrows the `T` at byte `at` for writing; `None` when the bytes end before `T` does.
#[inline]
pub fn view_mut<T>(bytes: &mut [u8], at: usize) -> Option<&mut T>
where
    T: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned,
{
    T::mut_from_prefix(bytes.get_mut(at..)?).ok().map(|(view, _)| view)
}

/// The error for a header that needs more bytes than are left.
#[cold]
pub(crate) fn short(at: usize, header: Header, needed: usize, left: usize) -> ParseError {
    ParseError::new(at, header, ErrorKind::Short { needed, left })
}

#[cfg(test)]
mod tests;
