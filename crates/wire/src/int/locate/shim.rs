//! Reads shims and the extent of the INT header after them.

use core::ops::RangeInclusive;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::Deviations;
use crate::int::earlier::place::{self, Bounds};
use crate::int::location::{Encapsulation, HEADER_WORDS, HeaderType, Location, VERSION};
use crate::int::shim::{NextProtocolType, SHIM_BYTES, Shim};
use crate::int::version::Version;
use crate::layers::{Fragment, Layers};
use crate::view::{short, view};
use crate::words::Words;

/// The first byte of a shim before 2.0; in a shim of 2.x the type is in the upper four bits.
pub(super) const BEFORE_2_TYPES: RangeInclusive<u8> = 1..=3;

/// End of the L4 payload by the packet's own length fields, as an offset.
///
/// # Errors
/// A UDP length past the end of an IP packet that is not a fragment.
#[inline]
pub fn limit(bytes: &[u8], layers: &Layers) -> Result<usize, ParseError> {
    let Some(header) = layers.udp(bytes) else {
        return Ok(layers.end);
    };
    let length = usize::from(header.length.get());
    let most = layers.end - layers.l4;
    if length > most && layers.fragment == Fragment::Whole {
        let kind = ErrorKind::TooLarge { field: "Length", found: length, most };
        return Err(ParseError::new(layers.l4, Header::Udp, kind));
    }
    Ok(layers.l4 + length.min(most))
}

/// Reads the shim at byte `at`, whose INT header may reach up to byte `limit`.
// Inlined: a call costs a transit hop 30 instructions.
#[inline(always)]
pub(in crate::int) fn behind_shim(
    bytes: &[u8],
    at: usize,
    limit: usize,
    encapsulation: Encapsulation,
) -> Result<Location, ParseError> {
    let header = at + SHIM_BYTES;
    let shim: &Shim = match view(bytes, at, Header::Shim) {
        Ok(shim) if header <= limit => shim,
        _ => return Err(cut_short(bytes, at, limit)),
    };
    let fault = |kind| Err(ParseError::new(at, Header::Shim, kind));
    let Some(header_type) = HeaderType::from_code(shim.header_type()) else {
        return fault(ErrorKind::Undefined { field: "Type", found: usize::from(shim.header_type()) });
    };
    let found = usize::from(shim.length().count());
    let least = least_words(header_type);
    if shim.length() < least {
        return fault(ErrorKind::TooSmall { field: "Length", found, least: usize::from(least.count()) });
    }
    let end = header + shim.length().bytes();
    if end > limit {
        return fault(ErrorKind::TooLarge { field: "Length", found, most: (limit - header) / 4 });
    }
    Ok(Location {
        encapsulation,
        header_type,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim: at,
        header,
        end,
    })
}

/// The error for a shim at byte `at` that the bytes, or the packet that ends at `limit`, do not hold.
#[cold]
fn cut_short(bytes: &[u8], at: usize, limit: usize) -> ParseError {
    short(at, Header::Shim, SHIM_BYTES, inside(bytes, limit).len().saturating_sub(at))
}

/// Reads a shim of a version before 2.0.
///
/// # Errors
/// `no_2_1`, the error of the same bytes as a shim of 2.1, where the first byte rules out an earlier version;
/// otherwise a shim of an earlier version that is truncated or invalid.
// The result is returned as `place::behind_shim` writes it: a copy of it would wait for its parts.
#[cold]
pub(super) fn before_2(
    bytes: &[u8],
    at: usize,
    layers: &Layers,
    limit: usize,
    encapsulation: Encapsulation,
    no_2_1: ParseError,
) -> Result<Location, ParseError> {
    if bytes.get(at).is_none_or(|first| !BEFORE_2_TYPES.contains(first)) {
        return Err(no_2_1);
    }
    let bounds = Bounds { payload_end: limit, packet_end: layers.end };
    place::behind_shim(bytes, at, bounds, encapsulation)
}

/// Whether the shim at `location`, of 2.x behind TCP or UDP, is exactly as a source writes it: its reserved
/// bits are zero, and its Next Protocol Type is that of the encapsulation.
///
/// Receivers ignore reserved bits. Where other packets may have the same mark, the bits tell INT from
/// payload.
#[inline]
#[must_use]
pub fn is_shim_exact(bytes: &[u8], location: &Location) -> bool {
    let Ok(shim) = view::<Shim>(bytes, location.shim, Header::Shim) else { return false };
    let [third, _] = shim.original_udp_port().to_be_bytes();
    match location.encapsulation {
        Encapsulation::Dscp | Encapsulation::ProbeMarker => {
            shim.next_protocol_type() == NextProtocolType::Payload && shim.reserved_is_zero()
        }
        Encapsulation::UdpPort => shim.reserved_flags_are_zero(),
        Encapsulation::Udp => shim.reserved_flags_are_zero() && third == 0,
        Encapsulation::Gre | Encapsulation::VxlanGpe | Encapsulation::Geneve => true,
    }
}

/// Whether the header at `location` has the version of INT-MD or INT-MX, or is of an older version.
pub(super) fn has_version(bytes: &[u8], location: &Location) -> bool {
    if location.version.is_before_2() {
        return place::is_int(bytes, location);
    }
    bytes.get(location.header).is_some_and(|first| first >> 4 == VERSION)
}

/// The bytes of a packet that ends at `limit`; the rest is padding.
pub(super) fn inside(bytes: &[u8], limit: usize) -> &[u8] {
    bytes.get(..limit).unwrap_or(bytes)
}

/// The minimum length after a shim: MD and MX have a header of 3 words, a destination header may be empty.
pub(super) const fn least_words(header_type: HeaderType) -> Words {
    match header_type {
        HeaderType::Md | HeaderType::Mx => HEADER_WORDS,
        HeaderType::Destination => Words::new(0),
    }
}
